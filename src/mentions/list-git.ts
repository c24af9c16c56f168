import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { namesFrom } from './list-process.ts';
import type { Program } from './list-process.ts';

/** A repository's own settings name programs (monitor, hooks) that listing would start. */
const HARMLESS = ['-c', 'core.fsmonitor=', '-c', 'core.hooksPath=/dev/null', '-c', 'core.untrackedCache=false'];
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
    folders.push(...(await submodulesOf(join(root, prefix))).map((path) => `${prefix}${path}/`));
  }
  return true;
}

function git(cwd: string, args: readonly string[]): Program {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  return { command: 'git', args: [...HARMLESS, ...args], cwd, env: { ...env, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1' } };
}

async function succeeds(program: Program, signal: AbortSignal): Promise<boolean> {
  const names = namesFrom(program, signal);
  let step = await names.next();
  while (step.done !== true) step = await names.next();
  return step.value === 0;
}

async function submodulesOf(folder: string): Promise<readonly string[]> {
  try {
    const text = await readFile(join(folder, '.gitmodules'), 'utf8');
    return [...text.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, path = '']) => path).filter((path) => !path.startsWith('/') && !path.split('/').includes('..'));
  } catch {
    return [];
  }
}
