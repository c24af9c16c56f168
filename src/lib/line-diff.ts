import { structuredPatch } from 'diff';

export interface LineDiff {
  /** Hunks only (`@@ -1,2 +1,3 @@` and what follows), joined by line feeds; empty when the texts are equal. */
  readonly patch: string;
  readonly added: number;
  readonly removed: number;
}

/** Milliseconds and edits after which two texts count as too different to compare. */
const MOST_MS = 50;
const MOST_EDITS = 2000;

/**
 * How one text became another, line by line, with three unchanged lines around. `firstLine` is the number of the texts' first
 * line in the file that they are from. Undefined when it takes too long to find out.
 */
export function lineDiff(before: string, after: string, firstLine = 1): LineDiff | undefined {
  const found = structuredPatch('', '', before, after, undefined, undefined, { context: 3, timeout: MOST_MS, maxEditLength: MOST_EDITS });
  if (found === undefined) return undefined;
  const lines = found.hunks.flatMap((hunk) => hunk.lines);
  // A side without lines is numbered by the line before it.
  const at = (start: number, count: number): string => `${start + firstLine - 1 - (count === 0 ? 1 : 0)},${count}`;
  return {
    patch: found.hunks.map((hunk) => [`@@ -${at(hunk.oldStart, hunk.oldLines)} +${at(hunk.newStart, hunk.newLines)} @@`, ...hunk.lines].join('\n')).join('\n'),
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  };
}
