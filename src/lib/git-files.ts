import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** What can be known of a repository from its files, without running git: its configuration could run something. */
export interface Repository {
  /** The top of the work tree. */
  readonly root: string;
  /** The folder that git keeps its own files in. */
  readonly gitDirectory: string;
}

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
    const named = /^gitdir: (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1];
    return named === undefined ? undefined : resolve(dirname(path), named.trim());
  } catch {
    return undefined;
  }
}

/** The branch that is checked out, or the first digits of the commit. */
export function branchOf({ gitDirectory }: Repository): string | undefined {
  try {
    const head = readFileSync(join(gitDirectory, 'HEAD'), 'utf8').trim();
    const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1];
    return branch ?? (/^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 8) : undefined);
  } catch {
    return undefined;
  }
}
