import { sha256 } from '#lib/hash.ts';

/** What the API takes as the name of a tool. */
const LONGEST = 64;
const LONGEST_SERVER = 30;
const HASH_DIGITS = 6;

/**
 * The part of tool names that stands for each server, by the server's name: letters, digits, `_` and `-`, no two underscores in a
 * row and none at an end, so that `mcp__a` never covers tools of a server `a__b`. A name that is taken already ends in a hash.
 */
export function serverSlugs(names: readonly string[]): ReadonlyMap<string, string> {
  const plain = names.map((name) => ({ name, slug: slugOf(name) }));
  return new Map(plain.map(({ name, slug }) => {
    const twins = plain.filter((other) => other.slug === slug);
    const alone = twins.length === 1 || name === slug;
    return [name, alone && slug !== '' && slug.length <= LONGEST_SERVER ? slug : withHash(slug.slice(0, LONGEST_SERVER - HASH_DIGITS - 1), name)];
  }));
}

function slugOf(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/_{2,}/g, '_').replace(/^_+|_+$/g, '');
}

/**
 * The name by which a tool or prompt of a server is called: as it is where the API takes it, else with other characters replaced or
 * cut, and a hash of the original name at its end. So no two names of a server become one.
 */
export function exposedName(slug: string, name: string): string {
  const prefix = `mcp__${slug}__`;
  const safe = name.replace(/[^A-Za-z0-9_-]/g, '_');
  if (safe === name && name !== '' && prefix.length + name.length <= LONGEST) return prefix + name;
  return prefix + withHash(safe.slice(0, LONGEST - prefix.length - HASH_DIGITS - 1), name);
}

function withHash(text: string, original: string): string {
  const hash = sha256(original).slice(0, HASH_DIGITS);
  return text === '' ? hash : `${text}_${hash}`;
}
