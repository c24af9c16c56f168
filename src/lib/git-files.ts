import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readSmallFile } from './small-file.ts';

/** What can be known of a repository from its files, without running git: its configuration could run something. */
export interface Repository {
  /** The top of the work tree. */
  readonly root: string;
  /** The folder that git keeps its own files in. */
  readonly gitDirectory: string;
}

/**
 * With these git lists files and runs nothing that the repository's configuration names: no monitor, no hook, and no program that
 * would fetch what is missing of a partial clone (which older versions can only be kept from by forbidding every transport).
 */
export const HARMLESS_GIT = {
  args: ['-c', 'core.fsmonitor=', '-c', 'core.hooksPath=/dev/null', '-c', 'core.untrackedCache=false'],
  env: { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' },
} as const;

/** The repository that a directory (absolute, real) lies in. */
export function repositoryOf(directory: string): Repository | undefined {
  for (let at = directory; ; at = dirname(at)) {
    const gitDirectory = gitDirectoryOf(join(at, '.git'));
    if (gitDirectory !== undefined) return { root: at, gitDirectory };
    if (at === dirname(at)) return undefined;
  }
}

/** `.git` is a folder, or in linked work trees and submodules a file that names one. */
function gitDirectoryOf(path: string): string | undefined {
  try {
    if (lstatSync(path).isDirectory()) return path;
    const named = /^gitdir: (.+)$/m.exec(readSmallFile(path))?.[1];
    return named === undefined ? undefined : resolve(dirname(path), named.trim());
  } catch {
    return undefined;
  }
}

/** The branch that is checked out, or the first digits of the commit. */
export function branchOf({ gitDirectory }: Repository): string | undefined {
  try {
    const head = readSmallFile(join(gitDirectory, 'HEAD')).trim();
    const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1];
    return branch ?? (/^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 8) : undefined);
  } catch {
    return undefined;
  }
}
