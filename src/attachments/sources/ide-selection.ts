import { basename } from 'node:path';
import type { Selection } from '#domain/editor.ts';
import { absent, type World } from '#domain/world.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToLength } from '#lib/text.ts';
import { defineSource } from '../define.ts';
import { filePinsOf, mentioningText } from '../known.ts';
import { keptPath, pathLine } from '../words.ts';

/** UTF-16 units of a selection that are told. */
const MOST_TEXT = 2000;

interface Marked extends Selection {
  readonly editor: string;
  /** The file is in view by a pin or a mention: its text need not be told again. */
  readonly inView: boolean;
}

/** What the user has marked in the editor, where it is new. It may be there by chance, and the words say so. */
export default defineSource<Marked>({
  id: 'ide_selection', on: ['prompt'], threads: 'main', cadence: 'onChange', limits: { ms: 1500, tokens: 1500 },
  async observe(world, signal) {
    const { editor } = world.outside;
    const selection = await editor.selection(signal);
    if (selection === undefined || selection.text.trim() === '') return absent;
    return { ...selection, editor: editor.name() ?? 'the editor', inView: await isInView(selection, world) };
  },
  keep: ({ path: whole, fromLine, toLine, text }) => ({ path: keptPath(whole), from: fromLine, to: toLine, text: sha256(text).slice(0, 16) }),
  // What was marked before is no measure: what is marked now is told whole.
  revive: (stored) => (stored !== null && typeof stored === 'object' && 'path' in stored && typeof stored['path'] === 'string' ? { ...NOTHING, path: stored['path'] } : undefined),
  full: words,
  delta: (_, now) => words(now),
  // Where no editor is connected nothing is known, also not that.
  gone: (_, { outside }) => {
    const editor = outside.editor.name();
    return editor === undefined ? undefined : `What was marked in ${oneLine(editor, 40)} is not marked any more.`;
  },
});

const NOTHING: Marked = { path: '', label: '', fromLine: 1, toLine: 1, text: '', saved: true, editor: '', inView: false };

function words({ label, fromLine, toLine, text, saved, editor, inView }: Marked): string {
  const lines = fromLine === toLine ? `line ${fromLine}` : `lines ${fromLine}–${toLine}`;
  const head = `The user has marked ${lines} of ${pathLine(label)} in ${oneLine(editor, 40)}${saved ? '' : ' (not saved: the file on disk has another text there)'}. It may have nothing to do with what they ask`;
  if (inView && saved) return `${head}.`;
  const shown = cutToLength(text.replace(/\r\n?/g, '\n'), MOST_TEXT);
  const rest = shown.length < text.length ? `\n[shown ${shown.length} of ${count(text.length, 'character')}]` : '';
  return `${head}:\n${shown.split('\n').map((line, i) => `${String(fromLine + i).padStart(6)}\t${line}`).join('\n')}${rest}`;
}

async function isInView({ path, fromLine, toLine }: Selection, world: World): Promise<boolean> {
  const pinned = filePinsOf(world.log).some((pin) => pin.path === path && (pin.lines === undefined || (pin.lines.from <= fromLine && toLine <= pin.lines.to)));
  const text = pinned ? '' : mentioningText(world);
  if (!text.includes('@') || !text.includes(basename(path))) return pinned;
  if ((await world.mentions.named(text)).has(path)) return true;
  // What the editor puts into the prompt as a mention is mostly what is marked there.
  const lines = fromLine === toLine ? [`#L${fromLine}`] : [`#L${fromLine}-${toLine}`];
  return lines.some((range) => text.includes(`${basename(path)}${range}`) || text.includes(`${basename(path)}"${range}`));
}
