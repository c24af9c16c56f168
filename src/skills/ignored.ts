import { dirname, join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { readSmallFile } from '#lib/small-file.ts';
import { relativeWithin } from '#lib/within.ts';

/** What is never looked into, whatever is ignored. */
const NEVER = /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/;
const LARGEST = 512 * 1024;

/** Whether a `.gitignore` between the top and a folder (both absolute and real) leaves the folder out. Outside of the top nothing is in. */
export function isIgnored(folder: string, top: string, respects: boolean): boolean {
  const below = relativeWithin(top, folder);
  if (below === undefined || NEVER.test(below)) return true;
  if (!respects) return false;
  for (let at = dirname(folder); relativeWithin(top, at) !== undefined; at = dirname(at)) {
    const inside = relativeWithin(at, folder);
    if (inside !== undefined && inside !== '' && rulesOf(join(at, '.gitignore'))?.ignores(`${inside}/`) === true) return true;
    if (at === dirname(at)) break;
  }
  return false;
}

function rulesOf(file: string): Ignore | undefined {
  try {
    return ignore({ ignorecase: false }).add(readSmallFile(file, LARGEST));
  } catch {
    return undefined;
  }
}
