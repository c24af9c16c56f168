import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { readJson, updateJson } from '#lib/atomic.ts';
import { sha256 } from '#lib/hash.ts';
import { readSmallBytes } from '#lib/small-file.ts';
import { isWithin, realPathOf } from '#lib/within.ts';
import type { Hook } from './read.ts';

/** Which hooks of a folder its user agreed to, each as it was then: by what it does, and the bytes of the scripts that it names. */
export interface Approvals {
  stateOf(hook: Hook): 'given' | 'refused' | 'open';
  /** Agrees, for this run only with `once`. */
  give(hooks: readonly Hook[], once: boolean): Promise<void>;
  refuse(hooks: readonly Hook[]): Promise<void>;
}

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const MOST_KEPT = 500;

export function createApprovals({ file, project }: { readonly file: string; readonly project: string }): Approvals {
  const forNow = new Set<string>();
  const real = realPathOf(project);
  const kept = (list: 'yes' | 'no'): ReadonlySet<string> => {
    const stored = readJson(file);
    const all = isFields(stored) && isFields(stored['hooks']) ? stored['hooks'][real] : undefined;
    const hashes = isFields(all) ? all[list] : undefined;
    return new Set(Array.isArray(hashes) ? hashes.filter((hash) => typeof hash === 'string') : []);
  };
  const keep = async (hashes: readonly string[], to: 'yes' | 'no'): Promise<void> => {
    const lists = { yes: kept('yes'), no: kept('no') };
    const other = to === 'yes' ? 'no' : 'yes';
    const next = { [to]: [...new Set([...lists[to], ...hashes])].slice(-MOST_KEPT), [other]: [...lists[other]].filter((hash) => !hashes.includes(hash)) };
    await updateJson(file, (now) => {
      const fields = isFields(now) ? now : {};
      return { ...fields, hooks: { ...(isFields(fields['hooks']) ? fields['hooks'] : {}), [real]: next } };
    });
  };
  return {
    stateOf(hook) {
      const hash = contentHash(hook, project);
      if (forNow.has(hash)) return 'given';
      return kept('yes').has(hash) ? 'given' : kept('no').has(hash) ? 'refused' : 'open';
    },
    async give(hooks, once) {
      const hashes = hooks.map((hook) => contentHash(hook, project));
      for (const hash of hashes) forNow.add(hash);
      if (!once && hashes.length > 0) await keep(hashes, 'yes');
    },
    async refuse(hooks) {
      const hashes = hooks.map((hook) => contentHash(hook, project));
      for (const hash of hashes) forNow.delete(hash);
      await keep(hashes, 'no');
    },
  };
}

const LARGEST_SCRIPT = 1024 * 1024;

function contentHash(hook: Hook, project: string): string {
  const { handler } = hook;
  const scripts = handler.type === 'command' ? scriptsIn([handler.command, ...(handler.args ?? [])], project).map(bytesHash) : [];
  return sha256(JSON.stringify([hook.id, ...scripts]));
}

const SCRIPT = /\.(?:sh|bash|zsh|fish|py|js|mjs|cjs|ts|mts|cts|rb|pl|php|ps1|lua)$/;
const RUNS = /(?:^|\/)(?:sh|bash|zsh|dash|ksh|node|deno|bun|python[\d.]*|ruby|perl|php|source|exec|env|\.)$/;

/** Files of the project that a command runs: by their ending, because they are programs, or behind what runs scripts. Files of data are none. */
function scriptsIn(texts: readonly string[], project: string): readonly string[] {
  const placed = (word: string): string => word.replaceAll(/["'`]/g, '').replaceAll(/\$\{?(?:CLAUDE|PINION)_PROJECT_DIR\}?/g, project);
  const paths = texts.flatMap((text) => {
    const words = text.replaceAll(/["'`]/g, '').split(/[\s;&|()<>=]+/).map(placed);
    const run = words.filter((word, i) => SCRIPT.test(word) || i === 0 || RUNS.test(words[i - 1] ?? '') || isProgram(at(word, project)));
    // A path with blanks in it is one piece in its quotes.
    return [...run, ...[text, ...text.split(/["'`]+/)].map(placed).filter((word) => SCRIPT.test(word) || isProgram(at(word, project)))];
  });
  return [...new Set(paths.map((word) => at(word, project)))].filter((path) => isWithin(project, path) && isFile(path)).sort();
}

function at(word: string, project: string): string {
  return isAbsolute(word) ? resolve(word) : join(project, word);
}

function isProgram(path: string): boolean {
  try {
    const stats = statSync(path);
    return stats.isFile() && (stats.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function bytesHash(path: string): string {
  try {
    return sha256(readSmallBytes(path, LARGEST_SCRIPT));
  } catch {
    return `unread ${statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0}`;
  }
}
