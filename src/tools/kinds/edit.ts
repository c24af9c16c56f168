import * as z from 'zod';
import type { ToolOutcome } from '#domain/ports.ts';
import type { FileTouch } from '#domain/tool.ts';
import { decode } from '#lib/decode.ts';
import { sha256 } from '#lib/hash.ts';
import { lineDiff } from '#lib/line-diff.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { defineTool, type RunContext } from '../define.ts';
import { changedLines, editBytes, type EditedFile, linesChanged } from '../edit-file.ts';
import { flag, someText } from '../fields.ts';
import { changeCard } from '../files/change.ts';
import { sawAll, touchesOf, touchOf } from '../files/known.ts';
import { type OpenFile, readRegular, UnreadableError } from '../files/open.ts';
import { lookUpTarget, shownPath, whatIsNear } from '../files/target.ts';
import { writeRegular, WriteError } from '../files/write.ts';
import { linesOf, numbered } from '../lines.ts';
import { done, failed } from '../result.ts';
import description from './edit.md';

const input = z.strictObject({
  file_path: someText.describe('Path of the file'),
  old_string: someText.describe('Text to replace (to make a new file, use Write)'),
  new_string: z.string().describe('Text that takes its place, written as it is'),
  replace_all: flag.optional().describe('Every exact place, not just one'),
});

type Input = z.infer<typeof input>;

interface Target {
  readonly real: string;
  readonly title: string;
  /** The path as the model can use it again. */
  readonly shown: string;
  readonly file: OpenFile;
  readonly touches: readonly FileTouch[];
}

export const edit = defineTool({
  id: 'Edit',
  description,
  effect: 'writes',
  input,
  title: ({ file_path: path }) => `Edit ${oneLine(path)}`,
  async preview(asked, context) {
    const lookup = await lookUpTarget(asked.file_path, context);
    const title = `Edit ${lookup.label}`;
    if (lookup.denied) return { title, body: [] };
    const result = editBytes((await readRegular(lookup.real)).bytes, editOf(asked), 'all');
    return result.ok ? changeCard(title, result.before, result.edited.text) : { title, detail: result.message.split('\n', 1)[0] ?? '', tone: 'bad', body: [] };
  },
  async propose(asked, context) {
    const { real, denied } = await lookUpTarget(asked.file_path, context);
    if (denied || asked.old_string === asked.new_string) return undefined;
    const { bytes } = await readRegular(real);
    const hash = sha256(bytes);
    const result = editBytes(bytes, editOf(asked), touchesOf(context.session.log, real).some((touch) => touch.hash === hash) ? 'all' : 'oneExact');
    return result.ok ? { path: real, hash, after: result.edited.text } : undefined;
  },
  async *run(asked, context) {
    const lookup = await lookUpTarget(asked.file_path, context);
    const title = `Edit ${lookup.label}`;
    const shown = shownPath(lookup.real, context.cwd(context.session));
    const touches = touchesOf(context.session.log, lookup.real);
    if (lookup.denied) return failed(title, `A rule of the user's settings denies reading ${shown}.`);
    if (asked.old_string === asked.new_string) return failed(title, 'old_string and new_string are the same: there is nothing to change.');
    try {
      const file = await readRegular(lookup.real);
      return await change(asked, { real: lookup.real, title, shown, file, touches }, context);
    } catch (error) {
      if (error instanceof UnreadableError && error.why === 'missing') {
        return failed(title, touches.length > 0 ? `${shown} was deleted since you last saw it.` : `${shown} does not exist.${await whatIsNear(asked.file_path, lookup, context)}`);
      }
      if (error instanceof WriteError || error instanceof UnreadableError) return failed(title, `${shown} ${error.message}.`);
      throw error;
    }
  },
});

function editOf(asked: Input): { readonly old: string; readonly new: string; readonly all: boolean } {
  return { old: asked.old_string, new: asked.new_string, all: asked.replace_all === true };
}

async function change(asked: Input, target: Target, context: RunContext): Promise<ToolOutcome> {
  const { file, touches, real, title } = target;
  const current = touches.some(({ hash }) => hash === sha256(file.bytes));
  const result = editBytes(file.bytes, editOf(asked), current ? 'all' : 'oneExact');
  if (!result.ok) return refuse(result, target, current, context);
  context.blobs.put(file.bytes);
  await writeRegular({ real, bytes: result.bytes, before: file, signal: context.signal, ...(context.drafts !== undefined && { drafts: context.drafts }) });
  const others = current || touches.length === 0 ? undefined : otherChanges(target, context);
  const whole = sawAll(touches, sha256(file.bytes)) || others?.whole === true;
  return done(report(target, result, others?.said), changeCard(title, result.before, result.edited.text), { files: [touchOf(real, result.bytes, whole ? 'write' : 'heard', context.blobs)] });
}

/** A file that is not as the model last saw it is shown to it as it is now, and counts as seen: the next try can fit. */
function refuse(result: Extract<EditedFile, { ok: false }>, target: Target, current: boolean, context: RunContext): ToolOutcome {
  const { shown, title, touches, file, real } = target;
  if (result.error === 'binary' || result.error === 'not_decodable') return failed(title, `${shown} ${result.message}`);
  if (result.error === 'cannot_encode' || current) return failed(title, `${shown}: ${result.message}`);
  if (touches.length === 0) return failed(title, `You have not read ${shown}: Read it first. (Unread, it can only be edited where old_string fits exactly once, without replace_all.) ${result.message}`.trim());
  const lines = linesOf(textOf(file));
  const part = lines.slice(0, MOST_FRESH_LINES).map((line) => line.slice(0, 500));
  const whole = part.length === lines.length && lines.every((line) => line.length <= 500);
  const rest = whole ? '' : `\n[shown ${part.length} of ${count(lines.length, 'line')}; read on with Read]`;
  return failed(title, `${shown} has changed since you last saw it, and the edit does not fit it any more. ${result.message}\nThe file as it is now:\n${numbered(part, 1)}${rest}`,
    { files: [touchOf(real, file.bytes, whole ? 'read' : 'partial', context.blobs)] });
}

const MOST_FRESH_LINES = 300;

function report(target: Target, { edited }: Extract<EditedFile, { ok: true }>, others: string | undefined): string {
  const lines = linesChanged(edited.text, edited.changes);
  const where = lines.length > 20 ? `${lines.slice(0, 20).join(', ')}, …` : lines.join(', ');
  return [
    `Edited ${target.shown}: ${count(lines.length, 'place')} replaced, at line ${where}.`,
    ...(edited.how === 'lookAlikes' ? ['It fitted only with quotes, dashes and blanks taken alike; the file\'s own were kept where you changed nothing.'] : []),
    ...(edited.twins.length > 0 ? [`Nearly the same text stands at line ${edited.twins.slice(0, 5).join(', ')} and was left as it is.`] : []),
    ...(others === undefined ? [] : [others]),
    changedLines(edited.text, edited.changes),
  ].join('\n');
}

const MOST_PATCH = 4000;

/** What else is different from what the model last saw: no notice will tell it again. `whole`: with it the model knows every byte. */
function otherChanges({ touches, file }: Target, { blobs }: RunContext): { readonly said: string; readonly whole: boolean } {
  const last = touches.at(-1);
  const old = last?.kept === true ? blobs.get(last.hash) : undefined;
  const before = old === undefined ? undefined : decode(old);
  const diff = before?.kind === 'text' ? lineDiff(before.text, textOf(file)) : undefined;
  const said = 'The file has other changes since you last saw it';
  if (diff === undefined || diff.patch.length > MOST_PATCH) return { said: `${said}; Read it before you rely on the rest.`, whole: false };
  return { said: `${said}:\n${diff.patch}`, whole: last !== undefined && sawAll(touches, last.hash) };
}

function textOf({ bytes }: OpenFile): string {
  const decoded = decode(bytes);
  return decoded.kind === 'text' ? decoded.text : '';
}
