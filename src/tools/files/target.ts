import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { PathLookup } from '#domain/documents.ts';
import { restore } from '#lib/defuse.ts';
import { fsPath, nameFromBytes, oneLine } from '#lib/names.ts';
import { isWithin } from '#lib/within.ts';
import type { CallContext } from '../define.ts';

/**
 * The file that a written path means: as it stands; else, if that one exists, with the escapes and delimiter marks taken out
 * with which names are shown; else the one name in its folder that differs in Unicode form only (models write composed
 * letters, some disks keep them apart).
 */
export async function lookUpTarget(written: string, context: CallContext): Promise<PathLookup> {
  const lookup = await lookUpSpelling(written, context);
  if (context.judged?.includes(lookup.real) === false) throw new Error(movedSince(lookup.label));
  return lookup;
}

/** The same for a folder below which something is looked for: it may lie anywhere in what was judged. Throws when it does not. */
export async function lookUpBelow(real: string, context: CallContext): Promise<PathLookup> {
  const lookup = await context.paths.lookUp(real, '/');
  if (!isJudged(lookup.real, context)) throw new Error(movedSince(lookup.label));
  return lookup;
}

/** Whether a real path lies in what the call was allowed for. */
export function isJudged(real: string, { judged }: CallContext): boolean {
  return judged === undefined || judged.some((path) => isWithin(path, real));
}

/** The path was judged when it led elsewhere: somebody exchanged a folder or a link meanwhile. */
function movedSince(label: string): string {
  return `The path leads elsewhere than where it was allowed to lead (now to ${oneLine(label)}). Nothing was done; look again before you try once more.`;
}

export async function lookUpSpelling(written: string, context: CallContext): Promise<PathLookup> {
  const cwd = context.cwd(context.session);
  const first = await context.paths.lookUp(written, cwd);
  if (first.kind !== 'missing') return first;
  for (const other of [restore(written), unescaped(restore(written))]) {
    const second = other === written ? first : await context.paths.lookUp(other, cwd);
    if (second.kind !== 'missing') return second;
  }
  const name = basename(first.real).normalize('NFC');
  const twins = (await namesIn(dirname(first.real))).filter((other) => other.normalize('NFC') === name);
  return twins.length === 1 ? await context.paths.lookUp(join(dirname(first.real), twins[0] ?? name), cwd) : first;
}

/** Undoes `oneLine`. */
function unescaped(name: string): string {
  return name.replace(/\\(?:u\{([0-9A-F]{1,6})\}|(["\\]))/g, (_, hex: string | undefined, plain: string | undefined) => plain ?? String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(hex ?? '0', 16))));
}

/** Names in a folder; none when it cannot be read. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(fsPath(folder), { encoding: 'buffer' }).catch(() => []);
  return names.map(nameFromBytes);
}

/** How a path is written for the model, so that it can be used again as it stands: relative to the shell's directory, else absolute. */
export function shownPath(real: string, cwd: string): string {
  return oneLine(isWithin(cwd, real) ? relative(cwd, real) || '.' : real);
}

/** A sentence about a missing file: what is near it. */
export async function whatIsNear(written: string, lookup: PathLookup, context: CallContext): Promise<string> {
  const cwd = context.cwd(context.session);
  const elsewhere = await Promise.all([...context.roots(), cwd].map((root) => context.paths.lookUp(join(root, written), cwd)));
  const there = elsewhere.find(({ kind, outside, denied }) => kind !== 'missing' && !outside && !denied);
  if (there !== undefined) return ` Did you mean ${shownPath(there.real, cwd)}?`;
  const folder = dirname(lookup.real);
  const names = await namesIn(folder);
  const near = nearNames(basename(lookup.real), names).map((name) => shownPath(join(folder, name), cwd));
  if (near.length > 0) return ` Near it: ${near.join(', ')}.`;
  return names.length === 0 && resolve(folder) !== cwd ? ` Its folder ${shownPath(folder, cwd)} ${(await context.paths.lookUp(folder, cwd)).kind === 'missing' ? 'does not exist either' : 'is empty'}.` : ` The directory is ${cwd}.`;
}

const MOST_NEAR = 3;

/** The names most like the wanted one, best first. */
export function nearNames(wanted: string, names: readonly string[]): readonly string[] {
  return names.map((name) => ({ name, likeness: likeness(wanted.toLowerCase(), name.toLowerCase()) }))
    .filter((one) => one.likeness >= 0.6).sort((a, b) => b.likeness - a.likeness || (a.name < b.name ? -1 : 1)).slice(0, MOST_NEAR).map(({ name }) => name);
}

function likeness(a: string, b: string): number {
  if (a === b) return 1;
  const stem = (name: string): string => name.replace(/(?<=.)\.[^.]*$/, '');
  if (stem(a) === stem(b)) return 0.9;
  if (Array.from(a).toSorted().join('') === Array.from(b).toSorted().join('')) return 0.8;
  return alike(a, b);
}

/** Share of letter pairs that two texts have in common: 1 for equal ones, 0 for nothing in common. */
export function alike(a: string, b: string): number {
  if (a.length < 2 || b.length < 2) return a === b ? 1 : 0;
  const pairs = new Map<string, number>();
  for (let at = 0; at < a.length - 1; at += 1) pairs.set(a.slice(at, at + 2), (pairs.get(a.slice(at, at + 2)) ?? 0) + 1);
  let common = 0;
  for (let at = 0; at < b.length - 1; at += 1) {
    const pair = b.slice(at, at + 2);
    const left = pairs.get(pair) ?? 0;
    if (left > 0) {
      pairs.set(pair, left - 1);
      common += 1;
    }
  }
  return (2 * common) / (a.length + b.length - 2);
}
