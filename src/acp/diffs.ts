import type { Diff, ToolCallContent } from '@agentclientprotocol/sdk';

/** What one hunk of a unified diff says: the lines before and after, and where the first change stands (from 1). */
export interface Hunk {
  readonly before: string;
  readonly after: string;
  /** Whether there was nothing before: a new file. */
  readonly made: boolean;
  readonly line: number;
}

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** The hunks of a patch without file headers. Lines before the first header say nothing. */
export function hunksOf(patch: string): readonly Hunk[] {
  const hunks: { before: string[]; after: string[]; made: boolean; line: number; at: number; changed: boolean }[] = [];
  for (const text of patch.split('\n')) {
    const header = HEADER.exec(text);
    if (header !== null) {
      const at = Math.max(1, Number(header[3]));
      hunks.push({ before: [], after: [], made: header[1] === '0' && header[2] === '0', line: at, at, changed: false });
      continue;
    }
    const hunk = hunks.at(-1);
    if (hunk !== undefined) take(hunk, text);
  }
  return hunks.map(({ before, after, made, line }) => ({ before: before.join('\n'), after: after.join('\n'), made, line }));
}

function take(hunk: { before: string[]; after: string[]; line: number; at: number; changed: boolean }, text: string): void {
  const sign = text.charAt(0);
  const line = text.slice(1);
  if (sign !== '+' && sign !== '-' && sign !== ' ') return;
  if (sign !== ' ' && !hunk.changed) {
    hunk.changed = true;
    hunk.line = hunk.at;
  }
  if (sign !== '+') hunk.before.push(line);
  if (sign !== '-') {
    hunk.after.push(line);
    hunk.at += 1;
  }
}

/** A patch as the protocol shows changes of a file: one diff a hunk. */
export function diffContent(path: string, patch: string): readonly ToolCallContent[] {
  return hunksOf(patch).map(({ before, after, made }): Diff & { type: 'diff' } => ({ type: 'diff', path, oldText: made ? null : before, newText: after }));
}
