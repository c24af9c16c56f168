import { join } from 'node:path';
import { HARMLESS_GIT } from '#lib/git-files.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { namesFrom } from './list-process.ts';
import type { Program } from './list-process.ts';

const MOST_NESTED = 64;

/**
 * Tracked and untracked files of a work tree without what is ignored, submodules and nested repositories included.
 * Returns false when the folder is in no work tree, or is ignored by the one around it; nothing has been yielded then.
 */
export async function* listWithGit(root: string, signal: AbortSignal): AsyncGenerator<readonly string[], boolean> {
  if (!(await succeeds(git(root, ['rev-parse', '--is-inside-work-tree']), signal))) return false;
  if (await succeeds(git(root, ['check-ignore', '-q', '.']), signal)) return false;
  const folders = [''];
  for (let at = 0; at < folders.length && at < MOST_NESTED; at += 1) {
    const prefix = folders[at] ?? '';
    for await (const names of namesFrom(git(join(root, prefix), ['ls-files', '-z', '-co', '--exclude-standard']), signal)) {
      folders.push(...names.filter((name) => name.endsWith('/')).map((name) => prefix + name));
      yield prefix === '' ? names : names.map((name) => prefix + name);
    }
    folders.push(...submodulesOf(join(root, prefix)).map((path) => `${prefix}${path}/`));
  }
  return true;
}

function git(cwd: string, args: readonly string[]): Program {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  return { command: 'git', args: [...HARMLESS_GIT.args, ...args], cwd, env: { ...env, ...HARMLESS_GIT.env } };
}

async function succeeds(program: Program, signal: AbortSignal): Promise<boolean> {
  const names = namesFrom(program, signal);
  let step = await names.next();
  while (step.done !== true) step = await names.next();
  return step.value === 0;
}

function submodulesOf(folder: string): readonly string[] {
  try {
    const text = readSmallFile(join(folder, '.gitmodules'));
    return [...text.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, path = '']) => path).filter((path) => !path.startsWith('/') && !path.split('/').includes('..'));
  } catch {
    return [];
  }
}
