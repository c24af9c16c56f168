import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { PathLookup, PathPort } from '#domain/documents.ts';
import type { ScopedRule } from '#domain/settings.ts';
import { coversPath, governs, type Anchors, type Ends } from './match.ts';
import { createPlaces, hasTwins, type PlaceOptions, type Places } from './places.ts';
import { readRules, type Rule } from './rules.ts';

export interface PathOptions extends PlaceOptions {
  /** The deny rules in effect, of all tools; those about reading count here. */
  readonly denyRead: () => readonly ScopedRule[];
}

/** The path port, and the same look without waiting, for lists of many names. */
export interface Paths extends PathPort {
  look(written: string, cwd: string): PathLookup;
  /** Whether a read-deny rule covers an absolute path. Cheaper than a look: for results of a search. */
  denies(path: string, real?: string): boolean;
  /** The fuller look that the gate takes. */
  readonly places: Places;
}

export function createPaths(options: PathOptions): Paths {
  const places = createPlaces(options);
  const denied = (ends: Ends): boolean => deniesReading(options.denyRead(), ends, places.anchors());
  const look = (written: string, cwd: string): PathLookup => {
    const { real, lexical, label, kind, root } = places.look(written, cwd);
    return { real, label, kind, outside: root === undefined, denied: denied({ real, lexical }) };
  };
  return {
    places,
    look,
    lookUp: (written, cwd) => Promise.resolve(look(written, cwd)),
    denies: (path, real = path) => denied({ lexical: path, real }),
  };
}

function deniesReading(rules: readonly ScopedRule[], ends: Ends, anchors: Anchors): boolean {
  const { rules: good, broken } = readRules(rules, 'deny');
  if (broken.some(({ tool }) => tool === undefined || tool === 'Read')) return true;
  const reading = good.filter((rule) => governs(rule, 'deny', 'Read', 'read'));
  return reading.some((rule) => coversPath(rule, 'deny', ends, anchors)) || isTwinOfDenied(reading, ends, anchors);
}

/** Most files that are compared with one that has several names. */
const MOST_TWINS = 500;

/**
 * A hard link gives a denied file a second name. For patterns that name files or folders outright (`.env`, `secrets/**`) the
 * files themselves are compared; a pattern with wildcards in the middle is not followed up.
 */
export function isTwinOfDenied(rules: readonly Rule[], ends: Ends, anchors: Anchors): boolean {
  if (rules.length === 0 || !hasTwins(ends.real)) return false;
  const mine = identity(ends.real);
  let looked = 0;
  return rules.some((rule) => suspects(rule, anchors).some((path) => (looked += 1) <= MOST_TWINS && identity(path) === mine));
}

function suspects(rule: Rule, { roots, home }: Anchors): readonly string[] {
  const name = (rule.spec ?? '').replace(/^\.\//, '').replace(/^\*\*\//, '').replace(/\/\*{1,2}$/, '');
  if (name === '' || /[*?[\]]/.test(name)) return [];
  const at = name.startsWith('//') ? [name.slice(1)] : name.startsWith('~/') ? [join(home, name.slice(2))] : name.startsWith('/') ? [join(rule.source.root, name)] : roots.map((root) => join(root, name));
  return at.flatMap((path) => [path, ...entriesOf(path)]);
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).slice(0, MOST_TWINS).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function identity(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
