import { listWithGit } from './list-git.ts';
import { listWithRipgrep } from './list-ripgrep.ts';
import type { ListOptions } from './list-options.ts';
import { listByWalking } from './list-walk.ts';

/**
 * The files below a folder as paths relative to it with `/` between, in batches as they are found; a path that ends in
 * `/` is a directory. By git in a work tree, else by ripgrep, else by walking. May name files that are no longer there.
 */
export async function* listFiles(options: ListOptions, signal: AbortSignal): AsyncGenerator<readonly string[]> {
  if (options.respectGitignore && (yield* listWithGit(options.root, signal))) return;
  if (yield* listWithRipgrep(options, signal)) return;
  yield* listByWalking(options, signal);
}
