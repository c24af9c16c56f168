import { fileURLToPath } from 'node:url';
import picomatch from 'picomatch';
import type { Json } from '#lib/brand.ts';
import { isFields } from './protocol.ts';

/** As the protocol numbers them. */
export const FILE_CHANGE = { created: 1, changed: 2, deleted: 3 } as const;
export type FileChangeKind = (typeof FILE_CHANGE)[keyof typeof FILE_CHANGE];

/** Files whose changes a server wants to hear of. */
export interface Watched {
  fits(path: string, kind: FileChangeKind): boolean;
}

const MOST_WATCHERS = 200;
const LONGEST_GLOB = 2000;

/** What a registration asks for; what cannot be read is left out. */
export function watchedIn(options: Json | undefined): readonly Watched[] {
  const watchers = isFields(options) ? options['watchers'] : undefined;
  if (!Array.isArray(watchers)) return [];
  return (watchers as readonly Json[]).slice(0, MOST_WATCHERS).flatMap((one) => {
    if (!isFields(one)) return [];
    const fits = globOf(one['globPattern']);
    const kinds = typeof one['kind'] === 'number' ? one['kind'] : 7;
    return fits === undefined ? [] : [{ fits: (path, kind) => (kinds & (1 << (kind - 1))) !== 0 && fits(path) }];
  });
}

function globOf(pattern: Json | undefined): ((path: string) => boolean) | undefined {
  try {
    if (typeof pattern === 'string') return matcherOf(pattern.startsWith('/') || pattern.startsWith('**/') ? pattern : `**/${pattern}`);
    if (!isFields(pattern) || typeof pattern['pattern'] !== 'string') return undefined;
    const base = isFields(pattern['baseUri']) ? pattern['baseUri']['uri'] : pattern['baseUri'];
    if (typeof base !== 'string') return undefined;
    const folder = fileURLToPath(base).replace(/\/$/, '');
    const fits = matcherOf(pattern['pattern']);
    return (path) => path.startsWith(`${folder}/`) && fits(path.slice(folder.length + 1));
  } catch {
    return undefined;
  }
}

function matcherOf(glob: string): (path: string) => boolean {
  if (glob.length > LONGEST_GLOB) throw new Error('too long');
  return picomatch(glob, { dot: true });
}
