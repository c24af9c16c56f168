import type { LanguageAnswer, LanguageQuestion } from '#domain/languages.ts';
import { messageOf } from '#lib/errors.ts';
import { cutToBytes } from '#lib/text.ts';
import type { Bench } from './bench.ts';
import type { Doc } from './document.ts';
import { callsIn, createTexts, measured, placesIn, type RawPlace, symbolsOfFile } from './places.ts';
import { characterOf, lineStarts, lineText, type Position, type PositionEncoding } from './positions.ts';
import { isFields } from './protocol.ts';

const ASK_MS = 20_000;
const REPORTS_MS = 8000;
const MOST_PLACES = 1000;
const MOST_TEXT_BYTES = 8000;

interface Operation {
  /** What a server must be able to do for it. */
  readonly provider: string;
  readonly method: string;
  readonly what: string;
}

const AT_A_PLACE: Readonly<Record<string, Operation>> = {
  definition: { provider: 'definitionProvider', method: 'textDocument/definition', what: 'definitions' },
  typeDefinition: { provider: 'typeDefinitionProvider', method: 'textDocument/typeDefinition', what: 'definitions of types' },
  implementation: { provider: 'implementationProvider', method: 'textDocument/implementation', what: 'implementations' },
  references: { provider: 'referencesProvider', method: 'textDocument/references', what: 'references' },
  hover: { provider: 'hoverProvider', method: 'textDocument/hover', what: 'what a name is' },
  callers: { provider: 'callHierarchyProvider', method: 'callHierarchy/incomingCalls', what: 'calls' },
  callees: { provider: 'callHierarchyProvider', method: 'callHierarchy/outgoingCalls', what: 'calls' },
};

export interface AskDoors {
  /** Whether the line of a place may be shown. */
  readonly mayShow: (path: string) => boolean;
  /** A rule denies reading it: the place itself is left out. */
  readonly denies: (path: string) => boolean;
}

/** Puts one question to a server about a file that it has open. Rejects with the server's or our own error. */
export async function askServer(bench: Bench, doc: Doc, question: LanguageQuestion, doors: AskDoors, signal: AbortSignal): Promise<LanguageAnswer> {
  const { server } = bench;
  const capabilities = await server.ready;
  const { encoding } = capabilities;
  const name = server.plan.name;
  const textDocument = { uri: doc.uri };
  if (question.operation === 'diagnostics') {
    const verdict = await bench.ask(doc, REPORTS_MS);
    return verdict === undefined ? problem(`${name} has not said anything of this file in ${REPORTS_MS / 1000} s.`) : { kind: 'reports', reports: verdict.reports, whole: verdict.whole, server: name };
  }
  if (question.operation === 'documentSymbols') {
    if (!capabilities.has('documentSymbolProvider')) return problem(`${name} does not list symbols.`);
    const answer = await server.request('textDocument/documentSymbol', { textDocument }, ASK_MS, signal);
    return shown(symbolsOfFile(answer, doc.path), name, encoding, doors);
  }
  const operation = AT_A_PLACE[question.operation];
  if (operation === undefined) return problem(`${question.operation} is not asked of a file.`);
  if (!capabilities.has(operation.provider)) return problem(`${name} does not know ${operation.what}.`);
  const at = placeOf(doc, question, encoding);
  if ('problem' in at) return problem(at.problem);
  const params = { textDocument, position: at.position };
  if (question.operation === 'hover') return { kind: 'text', text: cutToBytes(hoverText(await server.request(operation.method, params, ASK_MS, signal)), MOST_TEXT_BYTES), server: name };
  if (operation.provider === 'callHierarchyProvider') {
    const items = await server.request('textDocument/prepareCallHierarchy', params, ASK_MS, signal);
    const first: unknown = Array.isArray(items) ? (items as readonly unknown[])[0] : undefined;
    if (first === undefined) return { kind: 'places', places: [], left: 0, server: name };
    return shown(callsIn(await server.request(operation.method, { item: first }, ASK_MS, signal), question.operation === 'callers' ? 'from' : 'to'), name, encoding, doors);
  }
  const answer = await server.request(operation.method, question.operation === 'references' ? { ...params, context: { includeDeclaration: true } } : params, ASK_MS, signal);
  return shown(placesIn(answer), name, encoding, doors);
}

/** Names that fit a query, of one server's whole project. */
export async function askSymbols(bench: Bench, query: string, ms: number, signal: AbortSignal): Promise<readonly RawPlace[]> {
  const capabilities = await bench.server.ready;
  if (!capabilities.has('workspaceSymbolProvider')) return [];
  return placesIn(await bench.server.request('workspace/symbol', { query }, ms, signal)).slice(0, MOST_PLACES);
}

export async function shown(raw: readonly RawPlace[], server: string, encoding: PositionEncoding, doors: AskDoors): Promise<LanguageAnswer> {
  const open = raw.filter(({ path }) => !doors.denies(path));
  const texts = createTexts(doors.mayShow);
  const places = await Promise.all(open.slice(0, MOST_PLACES).map((one) => measured(one, encoding, texts)));
  return { kind: 'places', places, left: raw.length - open.length, server };
}

function problem(text: string): LanguageAnswer {
  return { kind: 'problem', problem: text };
}

/** Where a name or column stands, as the server counts. */
function placeOf({ text }: Doc, { line, column, name }: LanguageQuestion, encoding: PositionEncoding): { readonly position: Position } | { readonly problem: string } {
  const starts = lineStarts(text);
  if (line !== undefined && line > starts.length) return { problem: `The file has only ${starts.length} lines.` };
  const whole = line === undefined ? '' : lineText(text, starts, line - 1);
  if (name === undefined || name === '') {
    if (line === undefined) return { problem: 'Give the line, and the name on it or its column.' };
    const at = column === undefined ? whole.search(/\S/) : column - 1;
    return { position: { line: line - 1, character: characterOf(whole, Math.max(0, at), encoding) } };
  }
  if (line !== undefined) {
    const at = wordIn(whole, name, column);
    return at === undefined ? { problem: `"${name}" does not stand on line ${line}: ${whole.trim().slice(0, 200)}` } : { position: { line: line - 1, character: characterOf(whole, at, encoding) } };
  }
  for (const number of starts.keys()) {
    const each = lineText(text, starts, number);
    const at = wordIn(each, name, undefined);
    if (at !== undefined) return { position: { line: number, character: characterOf(each, at, encoding) } };
  }
  return { problem: `"${name}" does not stand in the file.` };
}

/** Where a name begins: as a word of its own if it does, the one at or behind the column if there are several. */
function wordIn(line: string, name: string, column: number | undefined): number | undefined {
  const places: number[] = [];
  for (let at = line.indexOf(name); at !== -1; at = line.indexOf(name, at + 1)) places.push(at);
  const words = places.filter((at) => !/[\p{L}\p{N}_$]$/u.test(line.slice(0, at)) && !/^[\p{L}\p{N}_$]/u.test(line.slice(at + name.length)));
  const good = words.length > 0 ? words : places;
  return (column === undefined ? undefined : good.find((at) => at + name.length >= column)) ?? good[0];
}

function hoverText(answer: unknown): string {
  const contents = isFields(answer) ? answer['contents'] : undefined;
  const parts = Array.isArray(contents) ? contents as readonly unknown[] : [contents];
  return parts.map((part) => (typeof part === 'string' ? part : isFields(part) && typeof part['value'] === 'string' ? part['value'] : '')).join('\n\n').trim();
}

/** An error of a server on one line. */
export function problemOf(error: unknown, name: string): LanguageAnswer {
  if (error instanceof Error && error.name === 'DeadlineError') return problem(`${name} gave no answer in time. It may still be loading the project: ask again later.`);
  return problem(`${name}: ${messageOf(error).slice(0, 300)}`);
}
