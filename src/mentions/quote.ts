/** What stands in a mention without quotes. Text in a decomposed form is quoted, so that nothing on the way composes it. */
const PLAIN = /^[\p{L}\p{N}\p{M}\p{Cf}\p{Co}$%+\-./:=@\\^_~#\p{So}\p{Sk}\p{Sc}]*$/u;
const UNTYPABLE = /["\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;
const LONGEST_QUOTED = 1024;

/** The text that mentions a path, `@src/a.ts` or `@"my file.txt"`; undefined for a path that no typed text can mention. */
export function mentionText(path: string): string | undefined {
  if (path === '' || UNTYPABLE.test(path)) return undefined;
  if (isPlain(path)) return `@${path}`;
  return path.length <= LONGEST_QUOTED ? `@"${path}"` : undefined;
}

function isPlain(path: string): boolean {
  return PLAIN.test(path) && !path.includes('`') && !path.startsWith('@') && !path.endsWith('\\') && path.normalize('NFC') === path;
}
