import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import type { Card } from '#domain/card.ts';
import type { PathLookup } from '#domain/documents.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { defineTool, type RunContext } from '../define.ts';
import { flag, someText, wholeNumber } from '../fields.ts';
import { readHead } from '../files/open.ts';
import { isJudged, lookUpTarget, shownPath, whatIsNear } from '../files/target.ts';
import { done, failed } from '../result.ts';
import { filterOf } from '../search/globs.ts';
import { type Hit, type Query, SearchError } from '../search/query.ts';
import { searchWithRipgrep } from '../search/ripgrep.ts';
import { isBinary, scan } from '../search/scan.ts';
import { FILE_TYPES, namesOfType } from '../search/types.ts';
import { rulesAbove } from '../search/walk.ts';
import description from './grep.md';

const DEFAULT_LIMIT = 200;
/** UTF-16 units of results. */
const MOST_SHOWN = 30_000;
/** What is found beyond this many is not counted. */
const MOST_COUNTED = 10_000;
const SEARCH_MS = 30_000;

const around = wholeNumber(0, 100).optional();

const input = z.strictObject({
  pattern: someText.describe('Regular expression'),
  path: someText.optional().describe('File or folder; default: the working directory'),
  glob: someText.optional().describe('Only files that fit, such as `*.{ts,tsx}`, `src/**`, `!*.test.ts`'),
  type: someText.optional().describe('Only files of a language, such as ts, py, rust'),
  output_mode: z.enum(['content', 'files_with_matches', 'count']).optional().describe('Matching lines, names of files (default), or numbers of matching lines'),
  '-i': flag.optional().describe('Ignore case'),
  '-n': flag.optional().describe('Line numbers (content; default true)'),
  '-A': around.describe('Lines after'),
  '-B': around.describe('Lines before'),
  '-C': around.describe('Lines around'),
  head_limit: wholeNumber(0, 10_000).optional().describe('Most results, default 200'),
  multiline: flag.optional().describe('Let matches span lines; `.` fits line ends'),
});

type Input = z.infer<typeof input>;

export const grep = defineTool({
  id: 'Grep',
  description,
  effect: 'reads',
  input,
  title: ({ pattern, path }) => `Grep ${oneLine(pattern)}${path === undefined ? '' : ` in ${oneLine(path)}`}`,
  async *run(asked, context) {
    const lookup = await lookUpTarget(asked.path ?? '.', context);
    const cwd = context.cwd(context.session);
    const title = `Grep ${asked.pattern}${lookup.label === '.' ? '' : ` in ${lookup.label}`}`;
    const shown = shownPath(lookup.real, cwd);
    if (lookup.denied) return failed(title, `A rule of the user's settings denies reading ${shown}.`);
    if (lookup.kind === 'missing') return failed(title, `${shown} does not exist.${await whatIsNear(asked.path ?? '.', lookup, context)}`);
    if (lookup.kind === 'other') return failed(title, `${shown} is no regular file (a pipe, socket or device).`);
    if (lookup.kind === 'file' && await isBinaryFile(lookup.real)) return done(`${shown} is binary; it is not searched.`, { title, detail: 'binary', body: [] });
    const names = asked.type === undefined ? undefined : namesOfType(asked.type);
    if (asked.type !== undefined && names === undefined) return failed(title, `There is no type "${asked.type}". Use glob, or one of: ${Object.keys(FILE_TYPES).join(', ')}.`);
    if (asked.multiline !== true && /(?:^|[^\\])(?:\\\\)*\\n|\n/.test(asked.pattern)) return failed(title, 'The pattern holds a line end: set multiline.');
    try {
      const found = await collect(await queryOf(asked, lookup, names), asked, lookup, context);
      return done(textOf(found, asked), cardOf(title, found, asked));
    } catch (error) {
      if (error instanceof SearchError) return failed(title, `The search failed: ${error.message}`);
      throw error;
    }
  },
});

async function isBinaryFile(real: string): Promise<boolean> {
  const head = await readHead(real, 64 * 1024).catch(() => undefined);
  return head !== undefined && isBinary(head);
}

async function queryOf(asked: Input, lookup: PathLookup, names: readonly string[] | undefined): Promise<Query> {
  const isFile = lookup.kind === 'file';
  const root = isFile ? dirname(lookup.real) : lookup.real;
  const mode = asked.output_mode ?? 'files_with_matches';
  return {
    root, pattern: asked.pattern.replaceAll('\n', '\\n'), mode, ignoreCase: asked['-i'] === true, multiline: asked.multiline === true,
    before: asked['-B'] ?? asked['-C'] ?? 0, after: asked['-A'] ?? asked['-C'] ?? 0, filter: filterOf(asked.glob), above: await rulesAbove(root),
    ...(isFile ? { file: basename(lookup.real) } : {}), ...(asked.glob === undefined ? {} : { glob: asked.glob }), ...(names === undefined ? {} : { names }),
  };
}

interface Found {
  readonly lines: readonly string[];
  /** How many of the lines are matches, not lines around them. */
  readonly shown: number;
  readonly files: number;
  /** Lines that fit, or files; all that were counted, shown or not. */
  readonly matches: number;
  /** Why there may be more than that. */
  readonly unfinished: string | undefined;
  readonly denied: number;
}

async function collect(query: Query, asked: Input, { real }: PathLookup, context: RunContext): Promise<Found> {
  const cwd = context.cwd(context.session);
  const limit = asked.head_limit === undefined || asked.head_limit === 0 ? DEFAULT_LIMIT : asked.head_limit;
  const late = AbortSignal.timeout(SEARCH_MS);
  const signal = AbortSignal.any([context.signal, late]);
  const show = formatter(query, asked['-n'] !== false);
  const looks = new Map<string, { readonly shown: string; readonly denied: boolean }>();
  const lines: string[] = [];
  let [matches, shown, room]: [number, number, number] = [0, 0, MOST_SHOWN];
  let unfinished: string | undefined;
  try {
    const program = await context.ripgrep();
    for await (const hit of program === undefined ? scan(query, signal) : searchWithRipgrep(program, query, signal)) {
      const path = join(query.root, hit.path);
      const look = looks.get(hit.path) ?? { shown: shownPath(path, cwd), denied: path !== real && await isClosed(path, context) };
      looks.set(hit.path, look);
      if (look.denied) continue;
      if (hit.isMatch) matches += 1;
      const text = show(hit, look.shown);
      room -= text.length + 1;
      if (matches <= limit && room >= 0) {
        lines.push(text);
        if (hit.isMatch) shown += 1;
      }
      if (matches >= MOST_COUNTED) {
        unfinished = 'there are more';
        break;
      }
    }
  } catch (error) {
    if (!late.aborted || context.signal.aborted) throw error;
    unfinished = `the search was ended after ${SEARCH_MS / 1000} s`;
  }
  const denied = [...looks.values()].filter((look) => look.denied).length;
  return { lines, shown, files: looks.size - denied, matches, unfinished, denied };
}

/** Denied, or in a folder that was exchanged for a link that leads out while it was searched. */
async function isClosed(path: string, context: RunContext): Promise<boolean> {
  return (await context.paths.lookUp(path, '/')).denied || !isJudged((await context.paths.lookUp(dirname(path), '/')).real, context);
}

/** Lines as ripgrep prints them; `--` stands between lines of which others lie between, when lines around are asked for. */
function formatter({ mode, before, after }: Query, numbers: boolean): (hit: Hit, path: string) => string {
  let last: Hit | undefined;
  return (hit, path) => {
    if (mode === 'files_with_matches') return path;
    if (mode === 'count') return `${path}:${hit.line}`;
    const apart = before + after > 0 && last !== undefined && (last.path !== hit.path || last.line + 1 !== hit.line);
    last = hit;
    const mark = hit.isMatch ? ':' : '-';
    return `${apart ? '--\n' : ''}${path}${mark}${numbers ? `${hit.line}${mark}` : ''}${hit.text}`;
  };
}

function textOf({ lines, shown, matches, unfinished, denied }: Found, asked: Input): string {
  const noun = asked.output_mode === 'content' ? 'matching line' : 'file';
  const notes = [
    ...(matches > shown || unfinished !== undefined ? [`shown ${shown} of ${unfinished === undefined ? '' : 'at least '}${count(matches, noun)}${unfinished === undefined ? '' : `, ${unfinished}`}; narrow pattern, path or glob to see others`] : []),
    ...(denied > 0 ? [`left out ${count(denied, 'file')} that the user's settings deny reading`] : []),
  ];
  return [lines.length === 0 ? 'No matches found.' : lines.join('\n'), ...notes.map((note) => `[${note}]`)].join('\n');
}

function cardOf(title: string, { lines, files, matches }: Found, asked: Input): Card {
  const detail = matches === 0 ? 'no matches' : asked.output_mode === 'content' ? `${count(matches, 'line')} in ${count(files, 'file')}` : count(matches, 'file');
  return { title, detail, body: lines.length === 0 ? [] : [{ type: 'code', text: lines.join('\n') }] };
}
