import * as z from 'zod';
import { type CodePlace, LANGUAGE_OPERATIONS, type LanguageAnswer, type LanguageOperation, type LanguageQuestion, type Report } from '#domain/languages.ts';
import { onOneLine } from '#domain/task-words.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { defineTool, type RunContext } from '../define.ts';
import { someText, wholeNumber } from '../fields.ts';
import { lookUpTarget, shownPath, whatIsNear } from '../files/target.ts';
import { done, failed } from '../result.ts';
import description from './lsp.md';

const MOST_PLACES = 100;
const MOST_SYMBOLS = 300;
const MOST_REPORTS = 100;
const LONGEST_LINE = 200;
const LONGEST_MESSAGE = 600;

const input = z.strictObject({
  operation: z.enum(LANGUAGE_OPERATIONS).describe('What to ask'),
  file_path: someText.optional().describe('Needed for all but workspaceSymbols'),
  line: wholeNumber(1, 1e9).optional().describe('From 1'),
  symbol: z.string().max(200).optional().describe('The name on that line'),
  column: wholeNumber(1, 1e9).optional().describe('From 1, instead of symbol'),
  query: z.string().max(200).optional().describe('What to look for (workspaceSymbols)'),
});

type Input = z.infer<typeof input>;

export const lsp = defineTool({
  id: 'LSP',
  description,
  effect: 'reads',
  deferred: 'Language servers: definition, references, types, callers, symbols and errors of code.',
  input,
  title: titleOf,
  async *run(asked, context) {
    const title = titleOf(asked);
    const { languages } = context;
    if (languages === undefined) return failed(title, 'There are no language servers here.');
    const question = await questionOf(asked, context);
    if (typeof question === 'string') return failed(title, question);
    yield 'asking the language server';
    const answer = await languages.ask(question, context.signal);
    return answer.kind === 'problem' ? failed(title, onOneLine(answer.problem, LONGEST_MESSAGE)) : tell(title, asked, answer, context);
  },
});

function titleOf({ operation, file_path: path, line, symbol, query }: Input): string {
  const what = [symbol, query].flatMap((text) => (text === undefined || text === '' ? [] : [oneLine(text, 60)])).join(' ');
  return `LSP ${operation}${what === '' ? '' : ` ${what}`}${path === undefined ? '' : ` in ${oneLine(path)}${line === undefined ? '' : `:${line}`}`}`;
}

/** A text: why it cannot be asked. */
async function questionOf(asked: Input, context: RunContext): Promise<LanguageQuestion | string> {
  const { operation, file_path: written, line, column, symbol, query } = asked;
  if (operation === 'workspaceSymbols') {
    const name = query ?? symbol ?? '';
    return name.trim() === '' ? 'workspaceSymbols needs a query.' : { operation, query: name };
  }
  if (written === undefined) return `${operation} needs file_path.`;
  const lookup = await lookUpTarget(written, context);
  const shown = shownPath(lookup.real, context.cwd(context.session));
  if (lookup.denied) return `A rule of the user's settings denies reading ${shown}.`;
  if (lookup.kind === 'missing') return `${shown} does not exist.${await whatIsNear(written, lookup, context)}`;
  if (lookup.kind !== 'file') return `${shown} is no file.`;
  return { operation, path: lookup.real, ...(line !== undefined && { line }), ...(column !== undefined && { column }), ...(symbol !== undefined && { name: symbol }) };
}

function tell(title: string, { operation }: Input, answer: Exclude<LanguageAnswer, { readonly kind: 'problem' }>, context: RunContext) {
  if (answer.kind === 'text') {
    const text = answer.text === '' ? 'The server has nothing to say of this place.' : context.envelope(`hover-${answer.server}`, 'text/markdown', answer.text);
    return done(text, { title, body: answer.text === '' ? [] : [{ type: 'markdown', text: answer.text }] });
  }
  if (answer.kind === 'reports') return tellReports(title, answer, context);
  const most = operation === 'documentSymbols' ? MOST_SYMBOLS : MOST_PLACES;
  const lines = linesOf(operation, answer.places.slice(0, most), context);
  const notes = [
    ...(answer.places.length > most ? [`shown ${most} of ${answer.places.length}`] : []),
    ...(answer.left > 0 ? [`left out ${count(answer.left, 'place')} in files that the user's settings deny reading`] : []),
  ];
  if (lines.length === 0) return done([`Nothing found (${answer.server}).`, ...notes.map((note) => `[${note}]`)].join('\n'), { title, detail: 'nothing found', body: [] });
  const files = new Set(answer.places.map(({ path }) => path)).size;
  return done([...lines, ...notes.map((note) => `[${note}]`)].join('\n'), { title, detail: `${count(answer.places.length, 'place')}${files > 1 ? ` in ${files} files` : ''}`, body: [{ type: 'code', text: lines.join('\n') }] });
}

function linesOf(operation: LanguageOperation, places: readonly CodePlace[], context: RunContext): readonly string[] {
  const cwd = context.cwd(context.session);
  return places.map(({ path, line, column, text, name, kind, depth = 0 }) => {
    const symbol = name === undefined ? '' : `${kind ?? 'symbol'} ${onOneLine(name, LONGEST_LINE)}`;
    if (operation === 'documentSymbols') return `${'  '.repeat(Math.min(depth, 10))}${line}: ${symbol}`;
    const said = [symbol, text === undefined ? '' : onOneLine(text, LONGEST_LINE)].filter((part) => part !== '').join('  ');
    return `${shownPath(path, cwd)}:${line}:${column}${said === '' ? '' : `  ${said}`}`;
  });
}

function tellReports(title: string, { reports, whole, server }: Extract<LanguageAnswer, { readonly kind: 'reports' }>, context: RunContext) {
  const cwd = context.cwd(context.session);
  const sorted = [...reports].sort((a, b) => rank(a) - rank(b) || a.line - b.line);
  const lines = sorted.slice(0, MOST_REPORTS).map((one) => reportLine(one, cwd));
  const notes = [...(reports.length > MOST_REPORTS ? [`shown ${MOST_REPORTS} of ${reports.length}`] : []), ...(whole ? [] : [`${server} may not have looked at all of it yet`])];
  if (lines.length === 0) return done([`${server} reports nothing.`, ...notes.map((note) => `[${note}]`)].join('\n'), { title, detail: 'nothing reported', body: [] });
  return done([...lines, ...notes.map((note) => `[${note}]`)].join('\n'), { title, detail: count(reports.length, 'report'), body: [{ type: 'code', text: lines.join('\n') }] });
}

const SEVERITIES: readonly Report['severity'][] = ['error', 'warning', 'info', 'hint'];

function rank({ severity }: Report): number {
  return SEVERITIES.indexOf(severity);
}

function reportLine({ path, line, column, severity, message, source, code }: Report, cwd: string): string {
  const from = [source, code].filter((part) => part !== undefined).map((part) => onOneLine(part, 60)).join(' ');
  return `${shownPath(path, cwd)}:${line}:${column} ${severity}${from === '' ? '' : ` ${from}`}: ${onOneLine(message, LONGEST_MESSAGE)}`;
}
