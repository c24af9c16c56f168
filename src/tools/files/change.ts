import type { Card } from '#domain/card.ts';
import { lineDiff } from '#lib/line-diff.ts';
import { count } from '#lib/text.ts';
import { linesOf } from '../lines.ts';

/** Lines of a new file that its card shows. */
const MOST_NEW_LINES = 400;

/** How a file changes: a diff with the counts beside the title. `before` is undefined for a new file. */
export function changeCard(title: string, before: string | undefined, after: string): Card {
  if (before === undefined) {
    const lines = linesOf(after);
    const patch = [`@@ -0,0 +1,${lines.length} @@`, ...lines.slice(0, MOST_NEW_LINES).map((line) => `+${line}`)].join('\n');
    return { title, detail: `new, ${count(lines.length, 'line')}`, body: lines.length === 0 ? [] : [{ type: 'diff', patch }] };
  }
  const diff = lineDiff(withLineFeeds(before), withLineFeeds(after));
  if (diff === undefined) return { title, detail: `rewritten, ${linesOf(before).length} → ${count(linesOf(after).length, 'line')}`, body: [] };
  if (diff.patch === '') return { title, detail: before === after ? 'no change' : 'line ends only', body: [] };
  return { title, detail: `+${diff.added} −${diff.removed}`, body: [{ type: 'diff', patch: diff.patch }] };
}

function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
