import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { UserError } from '#lib/errors.ts';
import { branchOf, repositoryOf, type Repository } from '#lib/git-files.ts';
import { oneLine } from '#lib/names.ts';
import { UsageError } from '#cli/arguments.ts';
import { type Home, homeOf } from '#session/home.ts';

/** Where the program runs: real paths throughout. */
export interface Place {
  readonly cwd: string;
  readonly repository: Repository | undefined;
  readonly userHome: string;
  readonly home: Home;
  /** The environment as it was at the start; children get it, whatever we change. */
  readonly env: Readonly<Record<string, string>>;
  /** A POSIX shell whose grammar the gate reads. */
  readonly shell: string;
}

/** `directory`: absolute; without it the one in which the program was started. Throws a UserError for one that is not there. */
export function findPlace(env: NodeJS.ProcessEnv, directory?: string): Place {
  const cwd = directory === undefined ? startDirectory() : realDirectory(directory);
  const userHome = real(env['HOME'] ?? homedir());
  return {
    cwd,
    repository: repositoryOf(cwd),
    userHome,
    home: homeOf(env),
    env: Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined)),
    shell: ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((path) => existsSync(path)) ?? '/bin/sh',
  };
}

function startDirectory(): string {
  try {
    return realpathSync(process.cwd());
  } catch {
    throw new UserError('the current directory is not there any more. Change to another one and start again.');
  }
}

function realDirectory(directory: string): string {
  if (!isAbsolute(directory) || statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) throw new UserError(`${oneLine(directory)} is no directory; it must be one, by its absolute path.`);
  return realpathSync(directory);
}

/** The branch that is checked out now. */
export function branchNow({ repository }: Place): string | undefined {
  return repository === undefined ? undefined : branchOf(repository);
}

/** Further working folders as real paths. Throws a UsageError for one that is not there. */
export function workingFolders(cwd: string, written: readonly string[]): readonly string[] {
  return written.map((folder) => {
    const path = resolve(cwd, folder);
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw new UsageError(`--add-dir ${folder}: there is no such directory.`);
    return realpathSync(path);
  });
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
