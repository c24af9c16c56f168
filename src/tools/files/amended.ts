import type { ToolOutcome } from '#domain/ports.ts';
import type { Amendment } from '#domain/tool.ts';
import { decode, encode } from '#lib/decode.ts';
import { sha256 } from '#lib/hash.ts';
import { lineDiff } from '#lib/line-diff.ts';
import { count } from '#lib/text.ts';
import type { RunContext } from '../define.ts';
import { linesOf } from '../lines.ts';
import { done, failed } from '../result.ts';
import { changeCard } from './change.ts';
import { touchesOf, touchOf, sawAll } from './known.ts';
import { type OpenFile, readRegular, UnreadableError } from './open.ts';
import { shownPath } from './target.ts';
import { writeRegular, WriteError } from './write.ts';

const MOST_PATCH = 8000;

/**
 * Writes what the user made of a proposed file, in place of what the call says, and tells the model how the two differ. A file
 * that somebody has changed since it was shown to the user is left alone.
 */
export async function writeAmended(title: string, { proposed, text }: Amendment, context: RunContext): Promise<ToolOutcome> {
  const { path: real } = proposed;
  const shown = shownPath(real, context.cwd(context.session));
  if (context.judged?.includes(real) === false) return failed(title, `${shown} is not the file that the call was allowed for. Nothing was done.`);
  try {
    const before = await current(real);
    const decoded = before === undefined ? undefined : decode(before.bytes);
    const { encoding, bom } = decoded?.kind === 'text' ? decoded : { encoding: 'utf-8' as const, bom: false };
    const bytes = encode(text, encoding, bom);
    if (bytes === undefined) return failed(title, `The user changed the text of ${shown}, and it holds characters that ${encoding} cannot hold. Nothing was written.`);
    // Some editors write the file themselves.
    const there = before !== undefined && Buffer.compare(before.bytes, bytes) === 0;
    if (!there && (before === undefined ? undefined : sha256(before.bytes)) !== proposed.hash) {
      return failed(title, `${shown} was changed on disk while the user was looking at this change. Nothing was written; Read it again.`);
    }
    const knewAll = proposed.hash === undefined || sawAll(touchesOf(context.session.log, real), proposed.hash);
    if (before !== undefined && !there) context.blobs.put(before.bytes);
    if (!there) await writeRegular({ real, bytes, before, signal: context.signal, ...(context.drafts !== undefined && { drafts: context.drafts }) });
    const { words, whole } = difference(proposed.after, text);
    const card = changeCard(title, there || decoded === undefined ? undefined : decoded.kind === 'text' ? decoded.text : '', text);
    return done(`The user changed this change before they agreed to it. ${shown} was written as they want it. ${words}`, { ...card, detail: [card.detail, 'changed by you'].filter((part) => part !== undefined).join(', ') }, {
      files: [touchOf(real, bytes, knewAll && whole ? 'write' : 'heard', context.blobs)],
    });
  } catch (error) {
    if (error instanceof WriteError || error instanceof UnreadableError) return failed(title, `${shown} ${error.message}.`);
    throw error;
  }
}

async function current(real: string): Promise<OpenFile | undefined> {
  try {
    return await readRegular(real);
  } catch (error) {
    if (error instanceof UnreadableError && error.why === 'missing') return undefined;
    throw error;
  }
}

/** How what was written differs from what was proposed. `whole`: all of it is said. */
function difference(proposed: string, written: string): { readonly words: string; readonly whole: boolean } {
  const diff = lineDiff(withLineFeeds(proposed), withLineFeeds(written));
  if (diff === undefined || diff.patch.length > MOST_PATCH) return { words: `It has ${count(linesOf(written).length, 'line')} now and differs much from what you proposed; Read it before you rely on it.`, whole: false };
  return { words: `How it differs from what you proposed:\n${diff.patch}`, whole: true };
}

function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
