import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { fsPath, nameFromBytes } from './names.ts';

/** As many links as the kernel follows before it gives up. */
const MOST_LINKS = 40;

/** Whether file names are usually told apart by case and Unicode form here; {@link foldsCase} asks the disk itself. */
const PLATFORM_FOLDS = process.platform === 'darwin' || process.platform === 'win32';

/**
 * Where an absolute path leads: symbolic links followed as far as the path exists, what is missing kept as written. `..` is
 * taken after links, as the kernel does. A step that cannot be looked at counts as missing. Never throws.
 */
export function realPathOf(path: string): string {
  try {
    return nameFromBytes(realpathSync.native(fsPath(path), 'buffer'));
  } catch {
    return stepByStep(path);
  }
}

function stepByStep(path: string): string {
  const { root } = parse(path);
  const waiting = path.slice(root.length).split(sep).reverse();
  let real = root === '' ? sep : root;
  for (let links = 0; waiting.length > 0;) {
    const step = waiting.pop();
    if (step === undefined || step === '' || step === '.') continue;
    if (step === '..') {
      real = dirname(real);
      continue;
    }
    const next = join(real, step);
    const target = links < MOST_LINKS ? linkTarget(next) : undefined;
    if (target === undefined) {
      const rest = waiting.reverse();
      // Going up out of what is missing may come back to links.
      return rest.includes('..') ? realPathOf(resolve(next, ...rest)) : join(next, ...rest);
    }
    if (target === '') {
      real = next;
      continue;
    }
    links += 1;
    const anchor = parse(target).root;
    if (anchor !== '') real = anchor;
    waiting.push(...target.slice(anchor.length).split(sep).reverse());
  }
  return real;
}

/** Where a link leads; empty for what is no link, undefined for what cannot be looked at. */
function linkTarget(path: string): string | undefined {
  const raw = fsPath(path);
  try {
    return lstatSync(raw).isSymbolicLink() ? nameFromBytes(readlinkSync(raw, 'buffer')) : '';
  } catch {
    return undefined;
  }
}

/**
 * `path` as seen from `root`, with `/` between the segments (empty for the root itself); undefined when it lies elsewhere.
 * Compares whole segments, so `/work/app-evil` is not within `/work/app`. Both are absolute and without `.` and `..`.
 * `folds`: names that differ in case or Unicode form only are the same.
 */
export function relativeWithin(root: string, path: string, folds = PLATFORM_FOLDS): string | undefined {
  const base = segments(root);
  const whole = segments(path);
  if (whole.length < base.length) return undefined;
  const same = folds ? (a: string, b: string): boolean => foldName(a) === foldName(b) : (a: string, b: string): boolean => a === b;
  return base.every((segment, index) => same(segment, whole[index] ?? '')) ? whole.slice(base.length).join('/') : undefined;
}

export function isWithin(root: string, path: string, folds = PLATFORM_FOLDS): boolean {
  return relativeWithin(root, path, folds) !== undefined;
}

/** A name as a file system that does not tell case and Unicode forms apart compares it. */
export function foldName(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

/** Whether the file system that holds this folder takes `NAME` for `name`. A folder without letters is answered by the platform. */
export function foldsCase(folder: string): boolean {
  const name = basename(folder);
  const twin = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
  if (twin === name) return PLATFORM_FOLDS;
  try {
    const here = statSync(folder);
    const there = statSync(join(dirname(folder), twin));
    return here.ino === there.ino && here.dev === there.dev;
  } catch {
    return false;
  }
}

function segments(path: string): string[] {
  return path.split(sep).filter((segment) => segment !== '');
}
