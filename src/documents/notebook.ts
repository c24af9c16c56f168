import { stripVTControlCharacters } from 'node:util';
import type { Json } from '#lib/brand.ts';
import { IMAGE_TYPES, type ImageType } from '#domain/content.ts';

type Fields = Readonly<Record<string, Json>>;

export interface NotebookOutput {
  /** What stands before it, such as `stdout` or `error`. */
  readonly name: string;
  readonly text: string;
  readonly picture?: { readonly mime: ImageType; readonly bytes: Uint8Array };
}

export interface NotebookCell {
  /** From 1 on. */
  readonly number: number;
  readonly id: string | undefined;
  /** `code`, `markdown`, `raw`, or what else the file says. */
  readonly kind: string;
  readonly run: number | undefined;
  readonly source: string;
  readonly outputs: readonly NotebookOutput[];
}

export interface Notebook {
  readonly format: string;
  readonly language: string | undefined;
  readonly cells: readonly NotebookCell[];
}

/** The notebook (format 3 or 4) that a JSON text holds, or why it is none (a clause about the file). Unknown parts are passed over. */
export function parseNotebook(text: string): Notebook | string {
  let root: Json;
  try {
    root = JSON.parse(text) as Json;
  } catch {
    return 'is no valid JSON';
  }
  if (!isFields(root)) return 'holds no notebook';
  const major = typeof root['nbformat'] === 'number' ? root['nbformat'] : undefined;
  const minor = typeof root['nbformat_minor'] === 'number' ? root['nbformat_minor'] : 0;
  // Format 3 had sheets, of which there was ever only one.
  const sheets = listOf(root['worksheets']).flatMap((sheet) => (isFields(sheet) ? listOf(sheet['cells']) : []));
  if (!Array.isArray(root['cells']) && !Array.isArray(root['worksheets'])) return 'holds no notebook (no cells)';
  const cells = Array.isArray(root['cells']) ? listOf(root['cells']) : sheets;
  return { format: `nbformat ${major ?? '?'}.${minor}`, language: languageOf(root), cells: cells.map((cell, at) => cellOf(isFields(cell) ? cell : {}, at + 1)) };
}

function languageOf({ metadata }: Fields): string | undefined {
  const meta = isFields(metadata) ? metadata : {};
  const [info, spec] = [meta['language_info'], meta['kernelspec']];
  const name = (isFields(info) ? info['name'] : undefined) ?? (isFields(spec) ? spec['language'] : undefined);
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function cellOf(cell: Fields, number: number): NotebookCell {
  const kind = typeof cell['cell_type'] === 'string' ? cell['cell_type'] : 'unknown';
  const run = cell['execution_count'] ?? cell['prompt_number'];
  const level = kind === 'heading' ? `${'#'.repeat(Math.min(6, Math.max(1, Number(cell['level']) || 1)))} ` : '';
  return {
    number, kind,
    id: typeof cell['id'] === 'string' && cell['id'] !== '' ? cell['id'] : undefined,
    run: typeof run === 'number' ? run : undefined,
    source: `${level}${textIn(cell['source'] ?? cell['input'])}`,
    outputs: listOf(cell['outputs']).flatMap((output) => (isFields(output) ? [outputOf(output)] : [])),
  };
}

function outputOf(output: Fields): NotebookOutput {
  const type = output['output_type'];
  if (type === 'stream') return { name: nameIn(output['name'] ?? output['stream']) ?? 'stdout', text: plain(textIn(output['text'])) };
  if (type === 'error' || type === 'pyerr') return { name: 'error', text: errorText(output) };
  // Format 3 kept each kind of data in a field of the output itself.
  const data = isFields(output['data']) ? output['data'] : oldData(output);
  const picture = pictureIn(data);
  const text = textFor(data, picture !== undefined);
  return { name: type === 'execute_result' || type === 'pyout' ? 'result' : 'display', text, ...(picture !== undefined && { picture }) };
}

function errorText(output: Fields): string {
  const trace = textIn(listOf(output['traceback']).map((line) => (typeof line === 'string' ? `${line}\n` : '')));
  return plain(trace.trim() === '' ? `${textIn(output['ename'])}: ${textIn(output['evalue'])}` : trace.trimEnd());
}

const OLD_FIELDS: Readonly<Record<string, string>> = { text: 'text/plain', html: 'text/html', markdown: 'text/markdown', latex: 'text/latex', svg: 'image/svg+xml', png: 'image/png', jpeg: 'image/jpeg', json: 'application/json', javascript: 'application/javascript' };

function oldData(output: Fields): Fields {
  return Object.fromEntries(Object.entries(OLD_FIELDS).flatMap(([field, mime]) => (output[field] === undefined ? [] : [[mime, output[field]]])));
}

function pictureIn(data: Fields): NotebookOutput['picture'] {
  for (const mime of IMAGE_TYPES) {
    const bytes = data[mime] === undefined ? undefined : Buffer.from(textIn(data[mime]), 'base64');
    if (bytes !== undefined && bytes.length > 0) return { mime, bytes };
  }
  return undefined;
}

const READABLE = ['text/markdown', 'text/plain', 'text/latex', 'application/json', 'text/html'];

/** The best text that there is. Beside a picture only a title is one: its plain form says what object it was. */
function textFor(data: Fields, pictured: boolean): string {
  for (const mime of pictured ? ['text/plain'] : READABLE) {
    const value = data[mime];
    if (value !== undefined) return plain(typeof value === 'string' || Array.isArray(value) ? textIn(value) : JSON.stringify(value));
  }
  const kinds = Object.keys(data);
  return pictured || kinds.length === 0 ? '' : `(${kinds.join(', ')}; not shown)`;
}

/** Output of programs: without colours, and of what was overwritten on a line only what stood there last. */
function plain(text: string): string {
  return stripVTControlCharacters(text).split('\n').map((line) => {
    const shown = line.replace(/\r+$/, '');
    return shown.slice(shown.lastIndexOf('\r') + 1);
  }).join('\n');
}

/** A text, or its lines joined. */
function textIn(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.map((line) => (typeof line === 'string' ? line : '')).join('') : '';
}

function nameIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function isFields(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
