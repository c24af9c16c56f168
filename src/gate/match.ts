import ignore from 'ignore';
import { dirname, join } from 'node:path';
import { foldName, realPathOf, relativeWithin } from '#lib/within.ts';
import { PATH_TOOLS, type Rule, type RuleList } from './rules.ts';

/** Where path patterns are measured from. */
export interface Anchors {
  /** The start folder first, then the further working folders. */
  readonly roots: readonly string[];
  readonly home: string;
  /** Whether the file system takes names that differ in case or Unicode form for the same. */
  readonly folds: boolean;
}

/** The two ends of a path: as written (made absolute) and with links resolved. */
export interface Ends {
  readonly lexical: string;
  readonly real: string;
}

/** Stands for "something in this folder" when a pattern is asked whether it covers all of a folder. */
const ANYTHING_INSIDE = '\u0001';

/**
 * Whether a rule covers a path. To allow, both ends of it must be covered; to deny or ask, one is enough, and a folder whose
 * contents are covered is covered too.
 */
export function coversPath(rule: Rule, list: RuleList, ends: Ends, anchors: Anchors): boolean {
  if (rule.spec === undefined) return true;
  const { spec } = rule;
  const from = anchorsOf(spec, rule, list, anchors);
  const one = (path: string): boolean => from.some((anchor) => matchesUnder(anchor, path, list, anchors.folds));
  if (list === 'allow') return one(ends.lexical) && (ends.real === ends.lexical || one(ends.real));
  return [...new Set([ends.lexical, ends.real])].some((path) => one(path) || one(join(path, ANYTHING_INSIDE)));
}

interface Anchored {
  readonly folder: string;
  readonly pattern: string;
}

/** A pattern with the folders that it is measured from, each as written and as resolved. */
function anchorsOf(spec: string, rule: Rule, list: RuleList, { roots, home }: Anchors): readonly Anchored[] {
  const plain = plainAnchors(spec, rule, list, roots, home);
  return plain.flatMap(({ folder, pattern }) => {
    const real = realPathOf(folder);
    return real === folder ? [{ folder, pattern }] : [{ folder, pattern }, { folder: real, pattern }];
  });
}

function plainAnchors(spec: string, rule: Rule, list: RuleList, roots: readonly string[], home: string): readonly Anchored[] {
  if (spec.startsWith('//')) return [{ folder: '/', pattern: spec.slice(1) }];
  if (spec === '~' || spec.startsWith('~/')) return [{ folder: home, pattern: spec.slice(1) || '/**' }];
  if (spec.startsWith('/')) return [{ folder: rule.source.root, pattern: spec }];
  const bare = spec.replace(/^(?:\.\/)+/, '');
  const dotted = bare !== spec;
  if (list === 'allow') return [climb(roots[0] ?? '/', dotted ? `/${bare}` : bare)];
  // Whoever forbids `.env` or `**/.env` means every such file, wherever the shell has gone by then.
  if (!dotted && (/^[^/]+\/?$/.test(bare) || bare.startsWith('**/'))) return [{ folder: '/', pattern: bare }];
  const pattern = !dotted && /^[^/]+\/\*\*$/.test(bare) ? `**/${bare}` : dotted ? `/${bare}` : bare;
  return roots.map((root) => climb(root, pattern));
}

function climb(folder: string, pattern: string): Anchored {
  let at = folder;
  let rest = pattern;
  for (let match = /^\/?\.\.\//.exec(rest); match !== null; match = /^\/?\.\.\//.exec(rest)) {
    rest = `/${rest.slice(match[0].length)}`;
    at = dirname(at);
  }
  return { folder: at, pattern: rest };
}

const compiled = new Map<string, (path: string) => boolean>();
const MOST_COMPILED = 2000;

function matchesUnder({ folder, pattern }: Anchored, path: string, list: RuleList, folds: boolean): boolean {
  const below = relativeWithin(folder, path, folds);
  if (below === undefined) return false;
  const name = below === '' ? ANYTHING_INSIDE : below;
  return patternOf(pattern, folds)(folds || list !== 'allow' ? name.normalize('NFC') : name);
}

function patternOf(pattern: string, folds: boolean): (path: string) => boolean {
  const key = `${folds}${pattern}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  if (compiled.size > MOST_COMPILED) compiled.clear();
  const matcher = ignore({ ignorecase: folds }).add(pattern.startsWith('#') ? `\\${pattern}` : pattern.normalize('NFC'));
  const made = (path: string): boolean => matcher.ignores(path);
  compiled.set(key, made);
  return made;
}

/** Whether a rule of one of the path tools speaks about this kind of access: Read rules govern all reading, Edit rules all writing. */
export function governs(rule: Rule, list: RuleList, tool: string, access: 'read' | 'write'): boolean {
  const kind = PATH_TOOLS[rule.tool];
  if (kind === undefined) return false;
  if (rule.tool === tool || (rule.tool === 'Read' && access === 'read') || (rule.tool === 'Edit' && access === 'write')) return true;
  // What must not be read must not be written either: an edit shows what it changes.
  return list === 'deny' && rule.tool === 'Read' && access === 'write';
}

/** `*` stands for any run of characters, all else for itself. Time grows with the product of the lengths at worst. */
export function globMatch(pattern: string, text: string): boolean {
  let at = 0;
  let from = 0;
  let star = -1;
  let kept = 0;
  while (at < text.length) {
    if (pattern[from] === '*') {
      star = from;
      from += 1;
      kept = at;
    } else if (from < pattern.length && pattern[from] === text[at]) {
      from += 1;
      at += 1;
    } else if (star >= 0) {
      from = star + 1;
      kept += 1;
      at = kept;
    } else return false;
  }
  while (pattern[from] === '*') from += 1;
  return from === pattern.length;
}

/** Stands for a blank inside a quoted word, so that the blanks of a pattern only match between words. */
const INNER_BLANK = '\u0002';

/** A command's words as one text in which only a boundary between words is a blank. */
export function commandText(words: readonly string[]): string {
  return words.map((word) => (word === '' ? INNER_BLANK : word.replaceAll(/\s/g, INNER_BLANK))).join(' ');
}

/** Whether a `Bash(…)` pattern covers a command, given as texts of its words. */
export function coversCommand(spec: string, texts: readonly string[]): boolean {
  const prefix = spec.endsWith(':*') ? spec.slice(0, -2) : spec.endsWith(' *') ? spec.slice(0, -2) : undefined;
  const patterns = prefix === undefined ? [unquoted(spec)] : [unquoted(prefix), `${unquoted(prefix)} *`];
  return texts.some((text) => patterns.some((pattern) => globMatch(pattern, text)));
}

/** A pattern's quotes taken away, blanks outside of them made single. Quotes that do not pair stand for themselves. */
function unquoted(pattern: string): string {
  const plain = pattern.trim().replaceAll(/\s+/g, ' ');
  if (!/["']/.test(plain)) return plain;
  const whole = /^(?:[^"']|"[^"]*"|'[^']*')*$/.test(plain);
  return whole ? pattern.trim().replaceAll(/"([^"]*)"|'([^']*)'|\s+/g, (found, double?: string, single?: string) => {
    const inner = double ?? single;
    return inner === undefined ? (/^\s/.test(found) ? ' ' : INNER_BLANK) : inner === '' ? INNER_BLANK : inner.replaceAll(/\s/g, INNER_BLANK);
  }) : plain;
}

/** Whether a `domain:` pattern covers the host of a URL. A leading `*.` stands for any depth, every other `*` for a part without dots. */
export function coversDomain(pattern: string, url: string): boolean {
  const host = hostOf(url);
  if (host === undefined) return false;
  const wanted = foldName(pattern).replace(/\.$/, '');
  const any = wanted.startsWith('*.');
  const source = (any ? wanted.slice(2) : wanted).split('*').map((piece) => piece.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)).join('[^.]*');
  return new RegExp(`^${any ? String.raw`(?:[^.]+\.)+` : ''}${source}$`).test(host);
}

/** The host of an http(s) URL in lower case, without a trailing dot; undefined for anything else. */
export function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname } = new URL(url);
  const host = hostname.toLowerCase().replace(/\.$/, '');
  return (protocol === 'https:' || protocol === 'http:') && /^[a-z0-9.:[\]-]+$/.test(host) ? host : undefined;
}
