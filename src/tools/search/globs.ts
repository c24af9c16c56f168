import { pathGlob } from '#lib/path-glob.ts';

/** Whether a path fits; paths have `/` between their segments and do not begin with one. */
export type Fits = (path: string) => boolean;

/**
 * `*`, `?`, `**`, `[…]` and `{…}`, measured from the folder of the search. Parentheses and bars are letters like others, and a
 * path that is spelled exactly like the pattern always fits: folders are named `(group)` and `[id]`. Names of either Unicode
 * form fit.
 */
export function globOf(pattern: string): Fits {
  const plain = pattern.normalize('NFC');
  const spellings = [pattern, ...(pattern.includes('[') ? [pattern.replace(/(?<!\\)[[\]]/g, '\\$&')] : [])].map(pathGlob);
  return (path) => {
    const name = path.normalize('NFC');
    return name === plain || spellings.some((fits) => fits?.(path) === true);
  };
}

/** Which files a search takes in. `out`: left out, with all that is below. `in`: taken, whatever ignore files say. */
export type Filter = (path: string, isFolder: boolean) => 'in' | 'out' | undefined;

/** As `rg --glob`: without a slash it fits names at any depth, else paths from the folder of the search; `!` leaves out what fits. */
export function filterOf(pattern: string | undefined): Filter {
  if (pattern === undefined) return () => undefined;
  const negated = pattern.startsWith('!');
  const body = negated ? pattern.slice(1) : pattern;
  const onlyFolders = body.endsWith('/');
  const trimmed = body.replace(/\/$/, '');
  const fits = globOf(trimmed.includes('/') ? trimmed.replace(/^\//, '') : `**/${trimmed}`);
  return (path, isFolder) => {
    if (fits(path) && (isFolder || !onlyFolders)) return negated ? 'out' : 'in';
    return negated || isFolder ? undefined : 'out';
  };
}
