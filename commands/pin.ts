import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { oneLine } from '#lib/names.ts';
import { tokens } from '#lib/numbers.ts';
import { count } from '#lib/text.ts';
import type { StoredAttachment } from '#domain/attachment.ts';
import { type CommandContext, defineCommand, type Effect, type PinOptions } from '#domain/command.ts';
import { attachmentsOf } from '#domain/folds.ts';

const OPTIONS: Readonly<Record<string, keyof PinOptions>> = { '--snapshot': 'snapshot', '--path': 'pathOnly', '--whole': 'whole' };
const MOST_OFFERED = 50;

/** Keeps a file, a range, a directory's listing, a glob's names, a note or a command's output in front of the model. */
export default defineCommand({
  id: 'pin',
  group: 'In view',
  summary: 'Keep a file, folder, note or command output in view; alone: list the pins',
  usage: '[<path>[#10-40] | <folder>/ | <glob> | !<command> | note <text>] [--snapshot | --path | --whole]',
  anytime: true,
  complete: (args, { cwd }) => {
    const word = /\S*$/.exec(args)?.[0] ?? '';
    if (word.startsWith('--') || (word === '' && args.trim() !== '' && !isVerbatim(args))) return Object.keys(OPTIONS);
    return isVerbatim(args) ? [] : pathsFor(word, cwd);
  },
  async run(args, context): Promise<Effect> {
    const { text, options, unknown } = parse(args);
    if (unknown !== undefined) return { type: 'refuse', message: `/pin has no option ${oneLine(unknown, 60)}. It has ${Object.keys(OPTIONS).join(', ')}.` };
    if (text === '') return Object.values(options).includes(true) ? { type: 'refuse', message: 'Say what is to be pinned: /pin <path> and then the option.' } : list(context);
    if (options.pathOnly && options.whole) return { type: 'refuse', message: '--path pins the path only, --whole all of the contents: choose one.' };
    const found = await context.lookUpPin(text, options);
    if (!found.ok) return { type: 'refuse', message: found.message };
    const again = attachmentsOf(context.session.log).some(({ id }) => id === found.id);
    const notes = [...(again ? ['in place of the earlier pin'] : []), ...(found.note === undefined ? [] : [found.note])].join('; ');
    return {
      type: 'append', entries: [found.entry],
      card: { title: `Pinned ${found.label}`, ...(notes !== '' && { detail: notes }), tone: 'good', body: [] },
    };
  },
});

/** A command or a note: what stands in it is its own, options too. */
function isVerbatim(text: string): boolean {
  return /^\s*(?:(?:file:)?!|note\s|memory:)/.test(text);
}

/** Options stand before or behind; before a command and a note only. */
function parse(args: string): { readonly text: string; readonly options: PinOptions; readonly unknown?: string } {
  const given: string[] = [];
  let text = args.trim();
  const take = (pattern: RegExp): void => {
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      given.push(match[1] ?? '');
      text = text.replace(pattern, '').trim();
    }
  };
  take(/^(--\S*)(?:\s|$)/);
  if (!isVerbatim(text)) take(/(?:^|\s)(--\S*)$/);
  const unknown = given.find((word) => !Object.hasOwn(OPTIONS, word));
  const has = (key: keyof PinOptions): boolean => given.some((word) => OPTIONS[word] === key);
  return { text, options: { snapshot: has('snapshot'), pathOnly: has('pathOnly'), whole: has('whole') }, ...(unknown !== undefined && { unknown }) };
}

async function list(context: CommandContext): Promise<Effect> {
  const pins = await context.pins();
  if (pins.length === 0) {
    return { type: 'show', card: { title: 'Nothing is pinned', body: [{ type: 'text', text: 'Pin a file with /pin <path>: the model then sees it as it is, through every compaction.' }] } };
  }
  const stored = new Map(attachmentsOf(context.session.log).map((attachment) => [attachment.id, attachment]));
  return {
    type: 'show',
    card: {
      title: 'Pins', detail: `${count(pins.length, 'pin')}, ~${tokens(pins.reduce((sum, pin) => sum + pin.tokens, 0))} tokens`,
      body: [
        { type: 'table', head: ['pin', 'tokens', ''], align: ['left', 'right', 'left'], rows: pins.map((pin) => [pin.id, `~${tokens(pin.tokens)}`, [...how(stored.get(pin.id)), ...(pin.note === undefined ? [] : [pin.note])].join('; ')]) },
        { type: 'text', text: '/unpin <pin> takes one away.' },
      ],
    },
  };
}

function how(stored: StoredAttachment | undefined): readonly string[] {
  if (stored?.kind !== 'file') return [];
  if (stored.form === 'snapshot') return ['as it was when it was pinned'];
  return stored.form === 'path' ? ['path only'] : stored.whole ? ['whole'] : [];
}

/** Names in the folder that the word leads to; folders have a slash behind. Names that hold blanks cannot be completed by word. */
async function pathsFor(word: string, cwd: string): Promise<readonly string[]> {
  const folder = word.slice(0, word.lastIndexOf('/') + 1);
  const start = word.slice(folder.length);
  try {
    const entries = await readdir(resolve(cwd, folder), { withFileTypes: true });
    return entries.filter(({ name }) => name.startsWith(start) && (start.startsWith('.') || !name.startsWith('.')) && !/\s/.test(name))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`).sort().slice(0, MOST_OFFERED);
  } catch {
    return [];
  }
}
