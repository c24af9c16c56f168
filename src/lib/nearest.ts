/**
 * The word that is nearest by edits (insert, remove, replace, swap neighbours), if it is near enough to be meant; case does
 * not count. A word that goes on where the given one ends is nearest of all.
 */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  const limit = wanted.length < 2 ? 0 : Math.floor(wanted.length / 3) + 1;
  let best: { readonly other: string; readonly edits: number } | undefined;
  for (const other of words) {
    const edits = editsTo(wanted, other.toLowerCase(), Math.min(limit, (best?.edits ?? limit + 1) - 1));
    if (edits !== undefined) best = { other, edits };
  }
  return best?.other;
}

/** Undefined beyond `most`. */
function editsTo(word: string, other: string, most: number): number | undefined {
  if (word.length > 1 && other.startsWith(word)) return most < 0 ? undefined : 0;
  if (Math.abs(word.length - other.length) > most) return undefined;
  const edits = distance(word, other);
  return edits <= most ? edits : undefined;
}

function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) edits = Math.min(edits, (before[j - 2] ?? 0) + 1);
      row.push(edits);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
