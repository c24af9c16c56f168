import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { applyEdits, findNodeAtLocation, modify, type ModificationOptions, type Node, parseTree } from 'jsonc-parser';
import type { Json } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { lineEndOf } from './lines.ts';

type Fields = Readonly<Record<string, Json>>;

export interface NotebookChange {
  readonly mode: 'replace' | 'insert' | 'delete';
  /** Which cell; for `insert` the one before it (none: at the beginning). By its id, else by its number from 1. */
  readonly id: string | undefined;
  readonly number: number | undefined;
  readonly source: string;
  /** Of a new cell, or what a replaced one becomes. */
  readonly kind: 'code' | 'markdown' | undefined;
}

export type NotebookEdited =
  | {
    readonly ok: true; readonly text: string;
    /** The text of the cell, before and after; undefined where there is none. */
    readonly before: string | undefined; readonly after: string | undefined;
    readonly number: number; readonly id: string | undefined; readonly kind: string; readonly cells: number;
    /** Outputs that were taken away: they belonged to the old text. */
    readonly outputsGone: number;
  }
  /** A sentence. */
  | { readonly ok: false; readonly message: string };

/** A change of one cell, in the text of a notebook (format 4). All other bytes stay as they are: only what changes is written anew. */
export function editNotebook(text: string, change: NotebookChange): NotebookEdited {
  const cells = cellsIn(text);
  if (typeof cells === 'string') return { ok: false, message: cells };
  const at = placeOf(cells, change);
  if (typeof at === 'string') return { ok: false, message: at };
  const options = formatOf(text);
  return checked(cells.length, change.mode === 'insert' ? inserted(text, cells, at, change, options) : change.mode === 'delete' ? deleted(text, cells, at) : replaced(text, cells, at, change, options));
}

/** A key that stands twice in an object means one thing to one reader and another to the next: what came out must be what was wanted. */
function checked(cellsBefore: number, edited: NotebookEdited): NotebookEdited {
  if (!edited.ok) return edited;
  const now = cellsIn(edited.text);
  const cell = typeof now === 'string' ? undefined : now[edited.number - 1];
  const length = cellsBefore + (edited.before === undefined ? 1 : edited.after === undefined ? -1 : 0);
  const right = typeof now !== 'string' && now.length === length && (edited.after === undefined || (cell !== undefined && sourceOf(cell) === edited.after));
  return right ? edited : { ok: false, message: 'Its JSON is odd (a key that stands twice?) and could not be changed in place; nothing was written.' };
}

/** The texts of all cells: what a model may have copied from. None where the file is no notebook. */
export function sourcesIn(text: string): readonly string[] {
  const cells = cellsIn(text);
  return typeof cells === 'string' ? [] : cells.map((cell) => sourceOf(cell));
}

function cellsIn(text: string): readonly Fields[] | string {
  let root: Json;
  try {
    root = JSON.parse(text) as Json;
  } catch {
    return 'It is no valid JSON: mend it with Edit first.';
  }
  if (!isFields(root)) return 'It holds no notebook.';
  if (Array.isArray(root['worksheets'])) return 'It is a notebook of format 3, which can be read but not edited by cells: convert it (jupyter nbconvert --to notebook), or use Edit.';
  const { cells } = root;
  return Array.isArray(cells) && cells.every(isFields) ? cells : 'It holds no notebook (no cells).';
}

/** Index of the cell that is meant; for `insert` that of the new one. */
function placeOf(cells: readonly Fields[], { mode, id, number }: NotebookChange): number | string {
  const after = mode === 'insert' ? 1 : 0;
  if (id !== undefined) {
    const at = cells.findIndex((cell) => cell['id'] === id);
    return at === -1 ? `There is no cell with the id "${oneLine(id, 60)}". ${idsIn(cells)}` : at + after;
  }
  if (number === undefined) return mode === 'insert' ? 0 : 'Name the cell: cell_id or cell_number, as Read shows them.';
  if (number === 0 && mode === 'insert') return 0;
  return number < 1 || number > cells.length ? `There is no cell ${number}: the notebook has ${count(cells.length, 'cell')}, counted from 1.` : number - 1 + after;
}

const MOST_IDS = 30;

function idsIn(cells: readonly Fields[]): string {
  const ids = cells.flatMap(({ id }, at) => (typeof id === 'string' ? [`${at + 1}: ${oneLine(id, 60)}`] : []));
  if (ids.length === 0) return `The cells of this notebook have no ids: use cell_number (1 to ${cells.length}).`;
  return `The cells are ${ids.slice(0, MOST_IDS).join(', ')}${ids.length > MOST_IDS ? ', …' : ''}.`;
}

function inserted(text: string, cells: readonly Fields[], at: number, { kind = 'code', source }: NotebookChange, options: ModificationOptions): NotebookEdited {
  const id = cells.some((cell) => typeof cell['id'] === 'string') || (cells.length === 0 && wantsIds(text)) ? freshId(cells) : undefined;
  const cell = {
    cell_type: kind, ...(kind === 'code' && { execution_count: null }), ...(id !== undefined && { id }), metadata: {}, ...(kind === 'code' && { outputs: [] }), source: linesOf(source),
  };
  return {
    ok: true, text: applyEdits(text, modify(text, ['cells', at], cell, { ...options, isArrayInsertion: true })),
    before: undefined, after: source, number: at + 1, id, kind, cells: cells.length + 1, outputsGone: 0,
  };
}

function deleted(text: string, cells: readonly Fields[], at: number): NotebookEdited {
  const cell = cells[at] ?? {};
  return {
    ok: true, text: withoutElement(text, at),
    before: sourceOf(cell), after: undefined, number: at + 1, id: idOf(cell), kind: kindOf(cell), cells: cells.length - 1, outputsGone: outputsOf(cell),
  };
}

/** The cell is cut out with its indentation: notebooks are large, and a change of one field reads all that it is given. */
function withFields(text: string, at: number, set: readonly (readonly [string, Json | undefined])[], options: ModificationOptions): string {
  const node = elementsIn(text)[at];
  if (node === undefined) return text;
  const line = text.lastIndexOf('\n', node.offset) + 1;
  const from = text.slice(line, node.offset).trim() === '' ? line : node.offset;
  const end = node.offset + node.length;
  const cell = set.reduce((next, [field, value]) => applyEdits(next, modify(next, [field], value, options)), text.slice(from, end));
  return text.slice(0, from) + cell + text.slice(end);
}

function elementsIn(text: string): readonly Node[] {
  const root = parseTree(text);
  return (root === undefined ? undefined : findNodeAtLocation(root, ['cells']))?.children ?? [];
}

/** With one comma, and with the blanks between it and its neighbour. */
function withoutElement(text: string, at: number): string {
  const elements = elementsIn(text);
  const [before, node, after] = [elements[at - 1], elements[at], elements[at + 1]];
  if (node === undefined) return text;
  const end = node.offset + node.length;
  const [from, to] = after !== undefined ? [node.offset, after.offset] : before !== undefined ? [before.offset + before.length, end] : [node.offset, end];
  return text.slice(0, from) + text.slice(to);
}

function replaced(text: string, cells: readonly Fields[], at: number, { kind, source }: NotebookChange, options: ModificationOptions): NotebookEdited {
  const cell = cells[at] ?? {};
  const now = kind ?? kindOf(cell);
  const before = sourceOf(cell);
  if (before === source && now === kindOf(cell)) return { ok: false, message: `Cell ${at + 1} holds exactly this already: there is nothing to change.` };
  const wanted: readonly (readonly [string, Json | undefined])[] = [
    ['source', Array.isArray(cell['source']) || cell['source'] === undefined ? linesOf(source) : source],
    ['cell_type', now],
    ['outputs', now === 'code' ? [] : undefined],
    ['execution_count', now === 'code' ? null : undefined],
  ];
  const set = wanted.filter(([field, value]) => !isDeepStrictEqual(cell[field], value));
  return { ok: true, text: withFields(text, at, set, options), before, after: source, number: at + 1, id: idOf(cell), kind: now, cells: cells.length, outputsGone: outputsOf(cell) };
}

/** As it is written already: indentation and line ends. A text of one line stays one. */
function formatOf(text: string): ModificationOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1];
  if (indent === undefined) return {};
  return { formattingOptions: { insertSpaces: !indent.startsWith('\t'), tabSize: indent.startsWith('\t') ? 1 : indent.length, eol: lineEndOf(text) ?? '\n' } };
}

/** Lines with their ends, as notebooks keep text. */
function linesOf(source: string): string[] {
  return source === '' ? [] : source.split(/(?<=\n)/);
}

function sourceOf({ source }: Fields): string {
  if (typeof source === 'string') return source;
  return Array.isArray(source) ? source.map((line) => (typeof line === 'string' ? line : '')).join('') : '';
}

function idOf({ id }: Fields): string | undefined {
  return typeof id === 'string' ? id : undefined;
}

function kindOf(cell: Fields): string {
  return typeof cell['cell_type'] === 'string' ? cell['cell_type'] : 'code';
}

function outputsOf({ outputs }: Fields): number {
  return Array.isArray(outputs) ? outputs.length : 0;
}

/** Ids came with format 4.5. */
function wantsIds(text: string): boolean {
  const root = JSON.parse(text) as Fields;
  return typeof root['nbformat_minor'] === 'number' && root['nbformat'] === 4 && root['nbformat_minor'] >= 5;
}

function freshId(cells: readonly Fields[]): string {
  for (;;) {
    const id = randomBytes(4).toString('hex');
    if (!cells.some((cell) => cell['id'] === id)) return id;
  }
}

function isFields(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
