import type { Entry } from '#domain/entry.ts';
import { inViewOf } from '#domain/folds.ts';
import { absent } from '#domain/world.ts';
import { oneLine } from '#lib/names.ts';
import { defineSource } from '../define.ts';
import { keptPath, pathLine } from '../words.ts';

interface Opened {
  readonly path: string;
  readonly label: string;
  readonly editor: string;
  /** Another file, in which something was marked when the model was last told of that. */
  readonly after: string | null;
}

/** The file that the user has before them in the editor, by its path. Where something is marked in it, that says it already. */
export default defineSource<Opened>({
  id: 'ide_opened_file', on: ['prompt'], threads: 'main', cadence: 'onChange', limits: { ms: 1500, tokens: 300 },
  async observe(world, signal) {
    const { editor } = world.outside;
    const [opened, selection] = await Promise.all([editor.openFile(signal), editor.selection(signal)]);
    if (opened === undefined || (selection !== undefined && selection.text.trim() !== '')) return absent;
    const marked = lastMarked(world.log);
    return { ...opened, editor: editor.name() ?? 'the editor', after: marked === keptPath(opened.path) ? null : marked };
  },
  keep: ({ path, after }) => ({ path: keptPath(path), after }),
  revive: (stored) => (stored !== null && typeof stored === 'object' && 'path' in stored && typeof stored['path'] === 'string' ? { path: stored['path'], label: '', editor: '', after: null } : undefined),
  full: words,
  delta: (_, now) => words(now),
});

function lastMarked(log: readonly Entry[]): string | null {
  const last = inViewOf(log).findLast((entry) => entry.type === 'reminder' && entry.source === 'ide_selection' && entry.form !== 'gone');
  const snapshot = last?.type === 'reminder' ? last.snapshot : null;
  return snapshot !== null && typeof snapshot === 'object' && 'path' in snapshot && typeof snapshot['path'] === 'string' ? snapshot['path'] : null;
}

function words({ label, editor }: Opened): string {
  return `The user has ${pathLine(label)} open in ${oneLine(editor, 40)}. It may have nothing to do with what they ask.`;
}
