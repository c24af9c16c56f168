import * as z from 'zod';
import type { ToolOutcome } from '#domain/ports.ts';
import { decode, encode, type DecodedText } from '#lib/decode.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { defineTool, type RunContext } from '../define.ts';
import { someText, wholeNumber } from '../fields.ts';
import { changeCard } from '../files/change.ts';
import { sawAll, touchesOf, touchOf } from '../files/known.ts';
import { restoreWhereKnown } from '../files/marks.ts';
import { type OpenFile, readRegular, UnreadableError } from '../files/open.ts';
import { lookUpTarget, shownPath } from '../files/target.ts';
import { writeRegular, WriteError } from '../files/write.ts';
import { linesOf } from '../lines.ts';
import { editNotebook, type NotebookChange, type NotebookEdited, sourcesIn } from '../notebook.ts';
import { done, failed } from '../result.ts';
import description from './notebook-edit.md';

const input = z.strictObject({
  notebook_path: someText.describe('Path of the notebook'),
  cell_id: z.string().optional().describe('Id of the cell, as Read shows it'),
  cell_number: wholeNumber(0, 1e6).optional().describe('Its number from 1, where it has no id'),
  new_source: z.string().optional().describe('Text of the cell, not for delete'),
  cell_type: z.enum(['code', 'markdown']).optional().describe('For insert (default: code), or to change it'),
  edit_mode: z.enum(['replace', 'insert', 'delete']).optional().describe('Default: replace'),
});

type Input = z.infer<typeof input>;

export const notebookEdit = defineTool({
  id: 'NotebookEdit',
  description,
  effect: 'writes',
  deferred: 'Replaces, inserts or deletes cells of a Jupyter notebook',
  input,
  title: ({ notebook_path: path }) => `NotebookEdit ${oneLine(path)}`,
  async preview(asked, context) {
    const lookup = await lookUpTarget(asked.notebook_path, context);
    const title = `NotebookEdit ${lookup.label}`;
    if (lookup.denied) return { title, body: [] };
    const decoded = decode((await readRegular(lookup.real)).bytes);
    const edited = decoded.kind === 'text' ? edit(asked, decoded) : undefined;
    if (edited === undefined || !edited.ok) return { title, detail: edited?.message ?? 'is binary', tone: 'bad', body: [] };
    return cardOf(title, edited);
  },
  async propose(asked, context) {
    const { real, denied } = await lookUpTarget(asked.notebook_path, context);
    if (denied) return undefined;
    const { bytes } = await readRegular(real);
    const hash = sha256(bytes);
    const decoded = decode(bytes);
    if (decoded.kind === 'binary' || decoded.guessed || !touchesOf(context.session.log, real).some((touch) => touch.hash === hash)) return undefined;
    const edited = edit(asked, decoded);
    return edited.ok ? { path: real, hash, after: edited.text } : undefined;
  },
  async *run(asked, context) {
    const lookup = await lookUpTarget(asked.notebook_path, context);
    const title = `NotebookEdit ${lookup.label}`;
    const shown = shownPath(lookup.real, context.cwd(context.session));
    if (lookup.denied) return failed(title, `A rule of the user's settings denies reading ${shown}.`);
    try {
      return await change(asked, { real: lookup.real, title, shown, file: await readRegular(lookup.real) }, context);
    } catch (error) {
      if (error instanceof WriteError || error instanceof UnreadableError) return failed(title, `${shown} ${error.message}.`);
      throw error;
    }
  },
});

interface Target {
  readonly real: string;
  readonly title: string;
  readonly shown: string;
  readonly file: OpenFile;
}

async function change(asked: Input, { real, title, shown, file }: Target, context: RunContext): Promise<ToolOutcome> {
  const touches = touchesOf(context.session.log, real);
  const hash = sha256(file.bytes);
  if (touches.length === 0) return failed(title, `You have not read ${shown}: Read it first.`);
  if (!touches.some((touch) => touch.hash === hash)) return failed(title, `${shown} has changed since you last saw it. Read it again, then edit it.`);
  const decoded = decode(file.bytes);
  if (decoded.kind === 'binary' || decoded.guessed) return failed(title, `${shown} is no text in an encoding that is known; it was left as it is.`);
  const edited = edit(asked, decoded);
  if (!edited.ok) return failed(title, `${shown}: ${edited.message}`);
  const bytes = encode(edited.text, decoded.encoding, decoded.bom);
  if (bytes === undefined) return failed(title, `${shown} is encoded as ${decoded.encoding}, which cannot hold all characters of the new text. Nothing was written.`);
  context.blobs.put(file.bytes);
  await writeRegular({ real, bytes, before: file, signal: context.signal, ...(context.drafts !== undefined && { drafts: context.drafts }) });
  return done(report(shown, edited), cardOf(title, edited), { files: [touchOf(real, bytes, sawAll(touches, hash) ? 'write' : 'heard', context.blobs)] });
}

function edit(asked: Input, { text }: DecodedText): NotebookEdited {
  const mode = asked.edit_mode ?? 'replace';
  if (mode !== 'delete' && asked.new_source === undefined) return { ok: false, message: `To ${mode} a cell, new_source must say what it holds.` };
  const wanted: NotebookChange = {
    mode, id: asked.cell_id === '' ? undefined : asked.cell_id, number: asked.cell_number, kind: asked.cell_type,
    source: restoreWhereKnown(asked.new_source ?? '', () => sourcesIn(text)),
  };
  return editNotebook(text, wanted);
}

type Done = Extract<NotebookEdited, { readonly ok: true }>;

function cardOf(title: string, { before, after, number }: Done): ReturnType<typeof changeCard> {
  const card = changeCard(`${title}, cell ${number}`, before === undefined ? undefined : ended(before), ended(after ?? ''));
  return after === undefined ? { ...card, detail: `deleted, ${count(linesOf(before ?? '').length, 'line')}` } : before === undefined ? { ...card, detail: `new cell, ${count(linesOf(after).length, 'line')}` } : card;
}

/** A cell's text has no line end behind its last line. */
function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function report(shown: string, { before, after, number, id, kind, cells, outputsGone }: Done): string {
  const cell = `cell ${number}${id === undefined ? '' : ` (id ${oneLine(id, 64)})`}`;
  const what = after === undefined ? `Deleted ${cell} of ${shown}` : before === undefined ? `Inserted ${cell} into ${shown}: ${kind}, ${count(linesOf(after).length, 'line')}` : `Replaced the text of ${cell} of ${shown}: ${kind}, ${count(linesOf(after).length, 'line')}`;
  return [
    `${what}. The notebook has ${count(cells, 'cell')}.`,
    ...(before === undefined || after === undefined ? ['Cells after it have other numbers now; ids stay.'] : []),
    ...(outputsGone > 0 && after !== undefined ? [`Its ${count(outputsGone, 'output')} went with the old text.`] : []),
  ].join(' ');
}
