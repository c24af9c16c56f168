import { absent } from '#domain/world.ts';
import { oneLine } from '#lib/names.ts';
import { defineSource } from '../define.ts';
import { pathLine } from '../words.ts';

interface Opened {
  readonly path: string;
  readonly label: string;
  readonly editor: string;
}

/** The file that the user has before them in the editor, by its path. Where something is marked in it, that says it already. */
export default defineSource<Opened>({
  id: 'ide_opened_file', on: ['prompt'], threads: 'main', cadence: 'onChange', limits: { ms: 1500, tokens: 300 },
  async observe(world, signal) {
    const { editor } = world.outside;
    const [opened, selection] = await Promise.all([editor.openFile(signal), editor.selection(signal)]);
    return opened === undefined || selection !== undefined ? absent : { ...opened, editor: editor.name() ?? 'the editor' };
  },
  keep: ({ path }) => ({ path }),
  revive: (stored) => (stored !== null && typeof stored === 'object' && 'path' in stored && typeof stored['path'] === 'string' ? { path: stored['path'], label: '', editor: '' } : undefined),
  full: words,
  delta: (_, now) => words(now),
});

function words({ label, editor }: Opened): string {
  return `The user has ${pathLine(label)} open in ${oneLine(editor, 40)}. It may have nothing to do with what they ask.`;
}
