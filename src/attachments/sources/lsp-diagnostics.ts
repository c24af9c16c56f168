import { sha256 } from '#lib/hash.ts';
import { count } from '#lib/text.ts';
import type { CheckedFile, Report } from '#domain/languages.ts';
import { onOneLine } from '#domain/task-words.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { fileKey, SERVERS, storedByServers, toldByEditor, type ToldByServers, toldByServers } from '../diagnosed.ts';
import { pathLine } from '../words.ts';

/** Reports that stand told and are not gone: of one file, of all, and most that are told at once. */
const MOST_OF_FILE = 10;
const MOST_OPEN = 60;
const MOST_AT_ONCE = 30;
const LONGEST_MESSAGE = 300;

interface News {
  readonly told: ToldByServers;
  /** Labels with reports, in the order in which they are told. */
  readonly fresh: readonly { readonly label: string; readonly reports: readonly Report[]; /** Not told for want of room. */ readonly more: number }[];
  readonly fixed: readonly { readonly label: string; readonly reports: number; readonly left: number }[];
}

/** Errors and warnings of language servers that are new since our edits, each once, and which of them are gone. */
export default defineSource<News>({
  id: SERVERS, on: ['prompt', 'step'], threads: 'main', cadence: 'onChange',
  async observe({ log, outside }, signal) {
    const files = await outside.languages.written(log, signal);
    const told = toldByServers(log);
    const others = outside.editor.name() === undefined ? new Set<string>() : new Set(toldByEditor(log).values());
    const news = newsOf(files.filter(({ path }) => told.has(path) || !others.has(fileKey(path))), told);
    return news.fresh.length === 0 && news.fixed.length === 0 ? absent : news;
  },
  keep: ({ told }) => Object.fromEntries(told),
  revive: (stored) => {
    const told = storedByServers(stored);
    return told === undefined ? undefined : { told, fresh: [], fixed: [] };
  },
  full: words,
  delta: (_, now) => words(now),
});

function newsOf(files: readonly CheckedFile[], before: ToldByServers): News {
  const told = new Map(before);
  const fixed: News['fixed'][number][] = [];
  for (const { path, label, reports, whole } of files) {
    const old = before.get(path);
    if (old === undefined || !whole) continue;
    const left = stillSaid(old, reports);
    if (left.length < old.length) fixed.push({ label, reports: old.length - left.length, left: left.length });
    if (left.length === 0) told.delete(path);
    else told.set(path, left);
  }
  const fresh: News['fresh'][number][] = [];
  let room = Math.min(MOST_AT_ONCE, MOST_OPEN - [...told.values()].reduce((sum, { length }) => sum + length, 0));
  for (const file of worstFirst(files)) {
    const ids = told.get(file.path) ?? [];
    const untold = without(ids, file.reports.filter(isTold));
    const shown = untold.slice(0, Math.max(0, Math.min(room, MOST_OF_FILE - ids.length)));
    if (shown.length === 0) continue;
    room -= shown.length;
    told.set(file.path, [...ids, ...shown.map(idOf)]);
    fresh.push({ label: file.label, reports: shown.sort((a, b) => a.line - b.line), more: untold.length - shown.length });
  }
  return { told, fresh, fixed };
}

/** What a person would call a mistake: hints and remarks are none. */
function isTold({ fresh, severity }: Report): boolean {
  return fresh && (severity === 'error' || severity === 'warning');
}

function worstFirst(files: readonly CheckedFile[]): readonly CheckedFile[] {
  const errors = ({ reports }: CheckedFile): number => reports.filter((one) => one.severity === 'error' && isTold(one)).length;
  return [...files].sort((a, b) => Math.sign(errors(b)) - Math.sign(errors(a)));
}

/** Ids of what is still said: the same words on the same line's text, or else the same words where they are not those of before our edits. */
function stillSaid(old: readonly string[], reports: readonly Report[]): readonly string[] {
  const now = reports.map(idOf);
  const exact = new Set<number>();
  const rest = old.filter((id) => {
    const at = now.findIndex((one, i) => one === id && !exact.has(i));
    if (at !== -1) exact.add(at);
    return at === -1;
  });
  const words = now.filter((_, i) => !exact.has(i) && reports[i]?.fresh === true).map(wordsIn);
  const moved = rest.filter((id) => takeOut(words, wordsIn(id)));
  const gone = new Map<string, number>();
  for (const id of rest) gone.set(id, (gone.get(id) ?? 0) + 1);
  for (const id of moved) gone.set(id, (gone.get(id) ?? 0) - 1);
  return old.filter((id) => {
    const times = gone.get(id) ?? 0;
    if (times > 0) gone.set(id, times - 1);
    return times === 0;
  });
}

/** Reports that were not told: those with the same line's text first, then those with the same words, are taken for told ones. Errors come first. */
function without(ids: readonly string[], reports: readonly Report[]): Report[] {
  const exact = [...ids];
  const unmatched = reports.filter((one) => !takeOut(exact, idOf(one)));
  const words = exact.map(wordsIn);
  return unmatched.filter((one) => !takeOut(words, wordsIn(idOf(one)))).sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error') || a.line - b.line);
}

function takeOut(all: string[], one: string): boolean {
  const at = all.indexOf(one);
  if (at !== -1) all.splice(at, 1);
  return at !== -1;
}

/** Of what is said, and of the line that it is said of: the line's number changes with every edit above it. */
function idOf({ severity, source = '', code = '', message, text }: Report): string {
  return `${sha256([severity, source, code, message].join('\0')).slice(0, 8)}.${sha256(text).slice(0, 6)}`;
}

function wordsIn(id: string): string {
  return id.slice(0, id.indexOf('.'));
}

function words({ fresh, fixed }: News): string | undefined {
  const lines = fresh.flatMap(({ label, reports, more }) => [
    ...reports.map((one) => lineOf(label, one)),
    ...(more > 0 ? [`${pathLine(label)}: ${more} more not shown`] : []),
  ]);
  const gone = fixed.map(({ label, reports, left }) => `${pathLine(label)}: ${count(reports, 'report')} of before ${reports === 1 ? 'is' : 'are'} gone${left > 0 ? `, ${left} left` : ''}.`);
  const said = [...(lines.length > 0 ? ['New since your edits, as language servers say (paths, lines and columns as they are now):', ...lines] : []), ...gone];
  return said.length === 0 ? undefined : said.join('\n');
}

function lineOf(label: string, { line, column, severity, message, source, code }: Report): string {
  const from = [source, code].filter((part) => part !== undefined).map((part) => onOneLine(part, 60)).join(' ');
  return `${pathLine(label)}:${line}:${column} ${severity}${from === '' ? '' : ` ${from}`}: ${onOneLine(message, LONGEST_MESSAGE)}`;
}
