import { readdir } from 'node:fs/promises';
import type { Loaded } from '#domain/world.ts';
import { fsPath, nameFromBytes, oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { textEnvelope } from './envelope.ts';

const MOST_NAMES = 1000;

/**
 * The names in a directory, sorted, one a line, those of directories with a slash behind; 1,000 of them or as many as
 * fit into `limitBytes`, then a line that says how many more there are. Rejects when it cannot be read.
 */
export async function loadDirectory(path: string, label: string, limitBytes: number): Promise<Loaded> {
  const entries = await readdir(fsPath(path), { withFileTypes: true, encoding: 'buffer' });
  const names = entries.map((entry) => `${oneLine(nameFromBytes(entry.name))}${entry.isDirectory() ? '/' : ''}`).sort((a, b) => (a < b ? -1 : 1));
  const shown = whatFits(names, limitBytes);
  const more = names.length - shown.length;
  const note = `${count(more, 'more name')} not shown`;
  const lines = [`Directory "${oneLine(label)}": ${count(names.length, 'entry', 'entries')}`, textEnvelope(label, 'text/x-directory', shown.join('\n')), ...(more > 0 ? [`[${note}]`] : [])];
  return { parts: [{ type: 'text', text: lines.join('\n') }], files: [], notes: more > 0 ? [`${oneLine(label)}: ${note}`] : [] };
}

function whatFits(names: readonly string[], limitBytes: number): readonly string[] {
  let bytes = 0;
  const end = names.findIndex((name, at) => (bytes += Buffer.byteLength(name) + 1) > limitBytes || at >= MOST_NAMES);
  return end === -1 ? names : names.slice(0, end);
}
