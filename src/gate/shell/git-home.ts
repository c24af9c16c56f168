import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin, realPathOf } from '#lib/within.ts';
import type { Places } from '../places.ts';

/**
 * Git runs what a repository's own configuration names (monitors, filters, pagers). That is fine in the repository that the
 * user trusts, not in one that lies below it or that its files only look like. The reason why not, or undefined.
 */
export function gitProblem(cwd: string, { places, trusted }: { readonly places: Places; readonly trusted: boolean }): string | undefined {
  if (!trusted) return 'git may run what this repository names in its configuration, and the folder is not trusted';
  const real = realPathOf(cwd);
  const root = places.anchors().roots.map(realPathOf).find((each) => isWithin(each, real));
  if (root === undefined) return `${real} is outside of the working folders`;
  for (let at = real; ; at = dirname(at)) {
    const own = existsSync(join(at, '.git'));
    if (own && at !== root) return `git would take its configuration from ${at}, not from the working folder`;
    if (own) return undefined;
    if (existsSync(join(at, 'HEAD')) && existsSync(join(at, 'objects')) && existsSync(join(at, 'refs'))) return `${at} looks like a repository without a working folder, and git would take its configuration`;
    if (at === root || at === dirname(at)) return undefined;
  }
}
