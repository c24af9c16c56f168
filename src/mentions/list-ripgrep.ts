import { boundedProgram } from '#lib/bounded-program.ts';
import { NEVER_LISTED } from './list-options.ts';
import type { ListOptions } from './list-options.ts';
import { namesFrom } from './list-process.ts';

/** Files as ripgrep finds them: the packaged one, else that of the system. Returns false when there is none; nothing has been yielded then. */
export async function* listWithRipgrep({ root, respectGitignore }: ListOptions, signal: AbortSignal): AsyncGenerator<readonly string[], boolean> {
  const ignoring = respectGitignore ? ['--no-require-git', '--no-ignore-parent', '--no-ignore-global'] : ['--no-ignore'];
  const args = ['--no-config', '--files', '-0', '--hidden', '--no-messages', ...ignoring, ...NEVER_LISTED.flatMap((name) => ['-g', `!${name}`])];
  const [command, bounded] = boundedProgram(await ripgrep(), args);
  const code = yield* namesFrom({ command, args: bounded, cwd: root, env: process.env }, signal);
  // 127 is the shell's word for a program that is not there.
  return code !== undefined && code !== 127;
}

async function ripgrep(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch {
    return 'rg';
  }
}
