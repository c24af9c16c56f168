import { readJson, updateJson } from '#lib/atomic.ts';
import type { Json } from '#lib/brand.ts';
import { sha256 } from '#lib/hash.ts';
import { realPathOf } from '#lib/within.ts';

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What of a trusted folder the user has agreed to, by content: when it changes they are asked anew. */
export interface Agreed {
  has(folder: string, content: string): boolean;
  /** In the place of what was agreed to in this folder before. */
  remember(folder: string, content: string): Promise<void>;
}

/** Kept in a file, by real path of the folder and hash of the content. One that cannot be read holds nothing. */
export function createAgreed(file: string): Agreed {
  return {
    has(folder, content) {
      const kept = readJson(file);
      return isFields(kept) && Object.hasOwn(kept, realPathOf(folder)) && kept[realPathOf(folder)] === sha256(content);
    },
    remember: (folder, content) => updateJson(file, (now) => ({ ...(isFields(now) ? now : {}), [realPathOf(folder)]: sha256(content) })),
  };
}
