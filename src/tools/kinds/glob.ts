import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import picomatch from 'picomatch';
import * as z from 'zod';
import { fsPath, oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { defineTool, type RunContext } from '../define.ts';
import { someText } from '../fields.ts';
import { isJudged, lookUpBelow, lookUpSpelling, shownPath, whatIsNear } from '../files/target.ts';
import { done, failed } from '../result.ts';
import { globOf } from '../search/globs.ts';
import { walk } from '../search/walk.ts';
import description from './glob.md';

const MOST_SHOWN = 100;
/** Files that fit beyond this many are not looked for. */
const MOST_FOUND = 50_000;
const AT_ONCE = 64;
const SEARCH_MS = 20_000;

const input = z.strictObject({
  pattern: someText.describe('Measured from `path`'),
  path: someText.optional().describe('Folder; default: the working directory'),
});

export const glob = defineTool({
  id: 'Glob',
  description,
  effect: 'reads',
  input,
  title: ({ pattern, path }) => `Glob ${oneLine(pattern)}${path === undefined ? '' : ` in ${oneLine(path)}`}`,
  async *run({ pattern: written, path = '.' }, context) {
    const lookup = await lookUpSpelling(path, context);
    const cwd = context.cwd(context.session);
    const title = `Glob ${written}${lookup.label === '.' ? '' : ` in ${lookup.label}`}`;
    if (lookup.denied) return failed(title, `A rule of the user's settings denies reading ${shownPath(lookup.real, cwd)}.`);
    if (lookup.kind === 'missing') return failed(title, `${shownPath(lookup.real, cwd)} does not exist.${await whatIsNear(path, lookup, context)}`);
    if (lookup.kind !== 'directory') return failed(title, `${shownPath(lookup.real, cwd)} is no folder. Put its name into the pattern, or use Read.`);
    const pattern = withoutRoot(written, lookup.real);
    if (pattern === undefined) return failed(title, `The pattern leads out of ${shownPath(lookup.real, cwd)}: name the folder in path, and begin the pattern below it.`);
    const { found, more } = await find(pattern, lookup.real, context);
    const unfinished = more ? ['there may be more: the search was ended early'] : [];
    if (found.length === 0) return done(['No files found.', ...unfinished].join(' '), { title, detail: 'no files', body: [] });
    const shown = found.slice(0, MOST_SHOWN).map((name) => shownPath(join(lookup.real, name), cwd));
    const cut = found.length > MOST_SHOWN ? [`shown ${MOST_SHOWN} of ${count(found.length, 'file')}, newest first; narrow the pattern to see others`] : [];
    return done([...shown, ...[...cut, ...unfinished].map((note) => `[${note}]`)].join('\n'), { title, detail: count(found.length, 'file'), body: [{ type: 'list', items: shown }] });
  },
});

/** The pattern from the folder on; undefined when it could fit what lies elsewhere. */
function withoutRoot(written: string, root: string): string | undefined {
  const inside = written.startsWith(`${root}/`) ? written.slice(root.length + 1) : written.replace(/^(?:\.\/)+/, '');
  const { base } = picomatch.scan(inside);
  return inside.startsWith('/') || inside.startsWith('~/') || [...base.split('/'), ...inside.split('/')].includes('..') ? undefined : inside;
}

async function find(pattern: string, root: string, context: RunContext): Promise<{ readonly found: readonly string[]; readonly more: boolean }> {
  const { signal, paths } = context;
  const fits = globOf(pattern);
  const start = startOf(pattern);
  await lookUpBelow(join(root, start), context);
  const found: string[] = [];
  const until = Date.now() + SEARCH_MS;
  let more = false;
  for await (const { path } of walk(root, { signal }, start)) {
    if (fits(path)) found.push(path);
    more = found.length >= MOST_FOUND || Date.now() > until;
    if (more) break;
  }
  const aged = await agesOf(found, root);
  const shown: string[] = [];
  for (const { path } of aged) {
    if (shown.length >= MOST_SHOWN) shown.push(path);
    else if (!(await paths.lookUp(join(root, path), root)).denied && isJudged((await paths.lookUp(dirname(join(root, path)), root)).real, context)) shown.push(path);
  }
  return { found: shown, more };
}

/** The folder in which everything lies that can fit: no need to walk the others. */
function startOf(pattern: string): string {
  const { base, isGlob } = picomatch.scan(pattern);
  if (!isGlob || /[()[\]{}|\\]/.test(base)) return '';
  return base === '.' ? '' : base.replace(/\/$/, '');
}

async function agesOf(found: readonly string[], root: string): Promise<readonly { readonly path: string; readonly ms: number }[]> {
  const aged: { path: string; ms: number }[] = [];
  for (let at = 0; at < found.length; at += AT_ONCE) {
    aged.push(...await Promise.all(found.slice(at, at + AT_ONCE).map(async (path) => ({ path, ms: await lstat(fsPath(join(root, path))).then(({ mtimeMs }) => mtimeMs, () => 0) }))));
  }
  return aged.sort((a, b) => b.ms - a.ms || (a.path < b.path ? -1 : 1));
}
