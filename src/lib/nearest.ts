/** The word that is nearest by edits (insert, remove, replace, swap neighbours), if it is near enough to be meant. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3) + 1);
  const ranked = words.map((other) => ({ other, edits: other.startsWith(word) && word.length > 1 ? 0 : distance(word, other) }));
  const best = ranked.reduce<{ other: string; edits: number } | undefined>((now, at) => (now === undefined || at.edits < now.edits ? at : now), undefined);
  return best !== undefined && best.edits <= limit ? best.other : undefined;
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
