import { fileURLToPath } from 'node:url';
import type { Diagnostic } from '#domain/editor.ts';
import { cutToLength } from '#lib/text.ts';

/** What is marked, as the editor said it: nothing of it was checked against the disk or a rule. Lines count from 1, both included. */
export interface Marked {
  readonly path: string;
  readonly fromLine: number;
  readonly toLine: number;
  readonly text: string;
}

/** What an editor says by itself. Paths are as it wrote them, absolute but for a mention's. */
export type News =
  /** Where the cursor is, and what is marked there, if anything. */
  | { readonly type: 'selection'; readonly path: string | undefined; readonly marked: Marked | undefined }
  | { readonly type: 'mention'; readonly path: string; readonly lines?: { readonly from: number; readonly to: number } }
  /** The editor's checks of these files are through; empty: of some files. */
  | { readonly type: 'diagnostics'; readonly paths: readonly string[] };

type Fields = Readonly<Record<string, unknown>>;

/** Most UTF-16 units of a selection that are kept: what is told of it is far less. */
const MOST_TEXT = 64 * 1024;
const LONGEST_PATH = 4096;
const MOST_PATHS = 1000;
const MOST_DIAGNOSTICS = 2000;
const MOST_MESSAGE = 2000;
const LAST_LINE = 100_000_000;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A notification as news; undefined for what is none, or is not well made. */
export function newsOf(method: string, params: unknown): News | undefined {
  if (!isFields(params)) return undefined;
  switch (method) {
    case 'selection_changed': return selectionIn(params);
    case 'at_mentioned': return mentionIn(params);
    case 'diagnostics_changed': return { type: 'diagnostics', paths: listOf(params['uris'] ?? params['uri']).slice(0, MOST_PATHS).flatMap((uri) => pathOf(uri) ?? []) };
    default: return undefined;
  }
}

/** As in the notification `selection_changed` and in the answer of `getCurrentSelection`. */
export function selectionIn(params: Fields): Extract<News, { readonly type: 'selection' }> {
  const path = pathOf(params['filePath']) ?? pathOf(params['fileUrl']);
  const { text, selection } = params;
  const start = isFields(selection) ? placeOf(selection['start']) : undefined;
  const end = isFields(selection) ? placeOf(selection['end']) : undefined;
  if (path === undefined || start === undefined || end === undefined || typeof text !== 'string' || text.trim() === '') return { type: 'selection', path, marked: undefined };
  // A selection that ends at the very beginning of a line holds nothing of it.
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return { type: 'selection', path, marked: { path, fromLine: start.line + 1, toLine: Math.max(start.line, last) + 1, text: cutToLength(text, MOST_TEXT) } };
}

function mentionIn(params: Fields): News | undefined {
  const written = params['filePath'];
  if (typeof written !== 'string' || written === '' || written.length > LONGEST_PATH || written.includes('\0')) return undefined;
  const [from, to] = [numberOf(params['lineStart']), numberOf(params['lineEnd'])];
  const path = pathOf(written) ?? written;
  return from === undefined ? { type: 'mention', path } : { type: 'mention', path, lines: { from: from + 1, to: Math.max(from, to ?? from) + 1 } };
}

/** What an editor's `getDiagnostics` answered: a list of files with theirs. Undefined for what is no such answer. */
export function diagnosticsIn(text: string): readonly Diagnostic[] | undefined {
  let files: unknown;
  try {
    files = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(files)) return undefined;
  return files.flatMap((file: unknown): Diagnostic[] => {
    const path = isFields(file) ? pathOf(file['uri']) ?? pathOf(file['filePath']) : undefined;
    const all = isFields(file) && Array.isArray(file['diagnostics']) ? file['diagnostics'] as readonly unknown[] : [];
    return path === undefined ? [] : all.slice(0, MOST_DIAGNOSTICS).flatMap((one) => diagnosticOf(path, one) ?? []);
  }).slice(0, MOST_DIAGNOSTICS);
}

const SEVERITIES: Readonly<Record<string, Diagnostic['severity']>> = {
  error: 'error', warning: 'warning', warn: 'warning', info: 'info', information: 'info', hint: 'hint', 1: 'error', 2: 'warning', 3: 'info', 4: 'hint',
};

function diagnosticOf(path: string, value: unknown): Diagnostic | undefined {
  if (!isFields(value) || typeof value['message'] !== 'string' || value['message'].trim() === '') return undefined;
  const start = isFields(value['range']) ? placeOf(value['range']['start']) : undefined;
  const severity = value['severity'];
  const { source } = value;
  const code = isFields(value['code']) ? value['code']['value'] : value['code'];
  return {
    path, line: (start?.line ?? 0) + 1, column: (start?.character ?? 0) + 1, message: cutToLength(value['message'], MOST_MESSAGE),
    severity: (typeof severity === 'string' || typeof severity === 'number' ? SEVERITIES[String(severity).toLowerCase()] : undefined) ?? 'info',
    ...(typeof source === 'string' && source !== '' && { source: cutToLength(source, 100) }),
    ...((typeof code === 'string' || typeof code === 'number') && { code: cutToLength(String(code), 100) }),
  };
}

/** Counted from 0, as editors do. */
function placeOf(value: unknown): { readonly line: number; readonly character: number } | undefined {
  const line = isFields(value) ? numberOf(value['line']) : undefined;
  return line === undefined || !isFields(value) ? undefined : { line, character: numberOf(value['character']) ?? 0 };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LAST_LINE ? value : undefined;
}

/** An absolute path, written as such or as a `file:` address. */
export function pathOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_PATH || value.includes('\0')) return undefined;
  if (!value.startsWith('file:')) return value.startsWith('/') || /^[A-Za-z]:[\\/]/.test(value) ? value : undefined;
  try {
    return fileURLToPath(value);
  } catch {
    return undefined;
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
