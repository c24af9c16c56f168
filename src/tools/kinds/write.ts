import * as z from 'zod';
import type { PathLookup } from '#domain/documents.ts';
import { decode, encode, type Decoded } from '#lib/decode.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { type CallContext, defineTool } from '../define.ts';
import { someText } from '../fields.ts';
import { changeCard } from '../files/change.ts';
import { sawAll, touchesOf, touchOf } from '../files/known.ts';
import { restoreWhereKnown } from '../files/marks.ts';
import { type OpenFile, readRegular, UnreadableError } from '../files/open.ts';
import { lookUpTarget, shownPath } from '../files/target.ts';
import { writeRegular, WriteError } from '../files/write.ts';
import { lineEndOf, linesOf } from '../lines.ts';
import { done, failed } from '../result.ts';
import description from './write.md';

const input = z.strictObject({
  file_path: someText.describe('Path of the file'),
  content: z.string().describe('All that the file is to hold'),
});

export const write = defineTool({
  id: 'Write',
  description,
  effect: 'writes',
  input,
  title: ({ file_path: path }) => `Write ${oneLine(path)}`,
  async preview({ file_path: path, content }, context) {
    const lookup = await lookUpTarget(path, context);
    const now = lookup.denied || lookup.kind === 'missing' ? undefined : decode((await readRegular(lookup.real)).bytes);
    return changeCard(`Write ${lookup.label}`, now === undefined ? undefined : now.kind === 'text' ? now.text : '', content);
  },
  async propose({ file_path: path, content }, context) {
    const lookup = await lookUpTarget(path, context);
    const before = await current(lookup);
    const text = restoreWhereKnown(content, () => knownTexts(lookup.real, before, context));
    const bytes = encodedLike(text, before === undefined ? undefined : decode(before.bytes));
    const same = before !== undefined && typeof bytes !== 'string' && Buffer.compare(before.bytes, bytes) === 0;
    if (typeof bytes === 'string' || same || (before !== undefined && mayNotReplace(lookup.real, before, context) !== undefined)) return undefined;
    const after = decode(bytes);
    return after.kind === 'text' ? { path: lookup.real, hash: before === undefined ? undefined : sha256(before.bytes), after: after.text } : undefined;
  },
  async *run({ file_path: path, content }, context) {
    const lookup = await lookUpTarget(path, context);
    const title = `Write ${lookup.label}`;
    const shown = shownPath(lookup.real, context.cwd(context.session));
    try {
      const before = await current(lookup);
      const text = restoreWhereKnown(content, () => knownTexts(lookup.real, before, context));
      const decoded = before === undefined ? undefined : decode(before.bytes);
      const bytes = encodedLike(text, decoded);
      if (typeof bytes === 'string') return failed(title, `${shown} ${bytes}`);
      const same = before !== undefined && Buffer.compare(before.bytes, bytes) === 0;
      const objection = before === undefined || same ? undefined : mayNotReplace(lookup.real, before, context);
      if (objection !== undefined) return failed(title, `${shown} ${objection}`);
      if (before !== undefined) context.blobs.put(before.bytes);
      if (!same) await writeRegular({ real: lookup.real, bytes, before, signal: context.signal, ...(context.drafts !== undefined && { drafts: context.drafts }) });
      const size = `${count(linesOf(text).length, 'line')}, ${count(bytes.length, 'byte')}`;
      const said = before === undefined ? `Created ${shown} (${size}).` : same ? `${shown} held exactly this already (${size}).` : `Wrote ${shown} (${size}).`;
      const card = changeCard(title, decoded === undefined ? undefined : decoded.kind === 'text' ? decoded.text : '', text);
      return done(said, card, { files: [touchOf(lookup.real, bytes, 'write', context.blobs)] });
    } catch (error) {
      if (error instanceof WriteError || error instanceof UnreadableError) return failed(title, `${shown} ${error.message}.`);
      throw error;
    }
  },
});

/** The file as it is; undefined when there is none. */
async function current(lookup: PathLookup): Promise<OpenFile | undefined> {
  if (lookup.denied) throw new UnreadableError('denied', 'is covered by a rule of the user\'s settings that denies reading it');
  try {
    return await readRegular(lookup.real);
  } catch (error) {
    if (error instanceof UnreadableError && error.why === 'missing') return undefined;
    throw error;
  }
}

function mayNotReplace(real: string, { bytes }: OpenFile, { session }: CallContext): string | undefined {
  const touches = touchesOf(session.log, real);
  if (bytes.length === 0 || sawAll(touches, sha256(bytes))) return undefined;
  if (touches.length === 0) return 'exists and you have not read it. Read it first, or change a part of it with Edit.';
  return touches.some(({ hash }) => hash === sha256(bytes)) ? 'was only read in part. Read all of it first, or change a part of it with Edit.' : 'has changed since you last saw it. Read it again before you replace it.';
}

/** The bytes of the new text, in the manner of the old ones; or why that cannot be. */
function encodedLike(text: string, old: Decoded | undefined): Uint8Array | string {
  const { encoding, bom, guessed } = old?.kind === 'text' ? old : { encoding: 'utf-8' as const, bom: false, guessed: false };
  const lineEnd = old?.kind === 'text' && !text.includes('\r') ? lineEndOf(old.text) ?? '\n' : '\n';
  const body = (bom ? text.replace(/^\ufeff/, '') : text).replaceAll('\n', lineEnd);
  if (guessed && encoding === 'windows-1252' && /[^\0-\x7f]/.test(body)) return 'is in an encoding that is not known (neither UTF-8 nor UTF-16): characters beyond ASCII cannot be written to it. Convert it first (iconv).';
  return encode(body, encoding, bom) ?? `is encoded as ${encoding}, which cannot hold all characters of the new text (half a character?). Nothing was written.`;
}

/** What the model may have copied from: the file itself and the texts it was given of others. */
function knownTexts(real: string, before: OpenFile | undefined, { session, blobs }: CallContext): string[] {
  const seen = session.log.flatMap((entry) => (entry.type === 'toolResult' ? entry.result.files : entry.type === 'reminder' ? entry.files : undefined) ?? []);
  const hashes = new Set(seen.filter(({ kept, path }) => kept && path !== real).map(({ hash }) => hash));
  const others = [...hashes].flatMap((hash) => blobs.get(hash) ?? []);
  return [...(before === undefined ? [] : [before.bytes]), ...others].flatMap((bytes) => {
    const decoded = decode(bytes);
    return decoded.kind === 'text' ? [decoded.text] : [];
  });
}
