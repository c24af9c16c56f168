import { basename } from 'node:path';
import { oneLine } from '#lib/names.ts';
import { nearest } from '#lib/nearest.ts';
import { tokens } from '#lib/numbers.ts';
import { count } from '#lib/text.ts';
import { relativeWithin } from '#lib/within.ts';
import type { CardBlock } from '#domain/card.ts';
import { type CommandContext, defineCommand, type Effect, type MemoryItem, type MemoryView } from '#domain/command.ts';

const VERBS = ['show', 'edit'] as const;
const SCOPES = { user: 'yours', project: 'project', local: 'yours, here', notes: 'kept notes' } as const;
/** Kept notes that are listed. */
const MOST_NOTES = 30;

/** A line of the list: what it is, and why it is told now, or not. */
interface Line {
  readonly item: MemoryItem;
  readonly about: string;
}

/** Where the model's standing instructions come from: every file, why it is told, what was left out; and the kept notes. */
export default defineCommand({
  id: 'memory',
  group: 'In view',
  summary: 'Instruction files and kept notes: where each comes from; show or edit one',
  usage: '[show <n> | edit [<n> | project | local | user | notes]]',
  anytime: true,
  async complete(args, context) {
    const [, verb = '', rest] = /^\s*(\S*)(\s+\S*)?/.exec(args) ?? [];
    if (rest === undefined) return VERBS;
    const view = await context.memory();
    const numbers = linesOf(view).map((_, i) => String(i + 1));
    return verb === 'edit' ? [...view.places.map(({ name }) => name), ...numbers] : verb === 'show' ? numbers : [];
  },
  async run(args, context): Promise<Effect> {
    const [, verb = '', which = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(args) ?? [];
    const view = await context.memory();
    if (verb === '') return list(view, context);
    if (verb === 'show') return one(which, view, context, show);
    if (verb === 'edit') return edit(which, view, context);
    const near = nearest(verb, VERBS);
    return refuse(`/memory has no "${oneLine(verb, 40)}". ${near === undefined ? 'It has show and edit.' : `Did you mean /memory ${near}?`}`);
  },
});

function linesOf({ files, nested, waiting, notes }: MemoryView): readonly Line[] {
  const changed = (item: MemoryItem): string => (item.changedOn === undefined ? '' : `, changed ${item.changedOn}`);
  return [
    ...files.map((item): Line => ({ item, about: item.scope === 'notes' ? 'index of kept notes' : SCOPES[item.scope] })),
    ...nested.map((item): Line => ({ item, about: `${SCOPES[item.scope]}, ${item.when === undefined ? 'for the files in its folder' : `for ${item.when.join(', ')}`}` })),
    ...waiting.map((item): Line => ({ item, about: `${SCOPES[item.scope]}, waits for ${(item.when ?? []).join(', ')}` })),
    ...notes.map((item): Line => ({ item, about: `note${changed(item)}` })),
  ];
}

function list(view: MemoryView, context: CommandContext): Effect {
  const lines = linesOf(view);
  const told = [...view.files, ...view.nested];
  const shown = lines.slice(0, lines.length - Math.max(0, view.notes.length - MOST_NOTES));
  const said = lines.flatMap(({ item }) => [
    ...(item.imports ?? []).map((path) => `${named(item.path, context)} imports ${named(path, context)}`),
    ...item.notes.map((note) => `${named(item.path, context)}: ${note}`),
  ]);
  const body: CardBlock[] = [
    ...(lines.length === 0 ? [] : [{ type: 'table' as const, head: ['', 'file', 'lines', 'tokens', 'what'], align: ['right' as const, 'left' as const, 'right' as const, 'right' as const, 'left' as const], rows: shown.map((line, i) => row(line, i + 1, context)) }]),
    ...(shown.length < lines.length ? [{ type: 'text' as const, text: `and ${count(lines.length - shown.length, 'more note')}` }] : []),
    ...(said.length === 0 ? [] : [{ type: 'list' as const, items: said }]),
    { type: 'text', text: recallLine(view) },
    { type: 'list', items: view.places.map(({ name, what, file, exists }) => `/memory edit ${name}: ${named(file, context)}, ${what}${exists ? '' : ' (not there yet)'}`) },
  ];
  return { type: 'show', card: { title: 'Memory', detail: `${count(told.length, 'file')} in effect, ~${tokens(told.reduce((sum, item) => sum + item.tokens, 0))} tokens`, body } };
}

function row({ item, about }: Line, number: number, context: CommandContext): string[] {
  const lines = item.text === '' ? '0' : String(item.text.split('\n').length);
  return [String(number), named(item.path, context), lines, `~${tokens(item.tokens)}`, oneLine(about, 120)];
}

function recallLine({ notes, off }: MemoryView): string {
  if (off !== undefined) return `Kept notes are not recalled: ${off}.`;
  return notes.length === 0 ? 'There are no kept notes yet.' : 'Kept notes are recalled when they bear on what you write.';
}

function show({ item, about }: Line, context: CommandContext): Effect {
  const imports = (item.imports ?? []).map((path) => `imports ${named(path, context)}`);
  const notes = [...imports, ...item.notes];
  return {
    type: 'show',
    card: {
      title: named(item.path, context), detail: `${count(item.text === '' ? 0 : item.text.split('\n').length, 'line')}, ~${tokens(item.tokens)} tokens, ${oneLine(about, 120)}`,
      body: [...(notes.length === 0 ? [] : [{ type: 'list' as const, items: notes }]), ...(item.text === '' ? [] : [{ type: 'code' as const, text: item.text, language: 'markdown' }])],
    },
  };
}

function edit(which: string, view: MemoryView, context: CommandContext): Effect {
  const place = view.places.find(({ name }) => name === (which === '' ? 'project' : which));
  if (place !== undefined) return { type: 'edit', file: place.file };
  return one(which, view, context, ({ item }) => ({ type: 'edit', file: item.path }));
}

/** By its number, its name in the list, or the end of its path where only one has it. */
function one(which: string, view: MemoryView, context: CommandContext, then: (line: Line, context: CommandContext) => Effect): Effect {
  const lines = linesOf(view);
  if (lines.length === 0) return refuse('There are no instruction files yet. /memory edit project begins one, /init has the model write it.');
  const byNumber = /^\d{1,5}$/.test(which) ? lines[Number(which) - 1] : undefined;
  const exact = lines.filter(({ item }) => item.path === which || named(item.path, context) === which);
  const byName = exact.length > 0 ? exact : lines.filter(({ item }) => basename(item.path) === which);
  const found = byNumber ?? (byName.length === 1 ? byName[0] : undefined);
  if (found !== undefined) return then(found, context);
  if (byName.length > 1) return refuse(`${byName.length} files are called ${oneLine(which, 60)}: say which by its number in /memory.`);
  return refuse(which === '' ? `Say which: a number from 1 to ${lines.length}, as /memory lists them.` : `There is no file ${oneLine(which, 60)}: say a number from 1 to ${lines.length}, as /memory lists them.`);
}

function named(path: string, { cwd }: CommandContext): string {
  return oneLine(relativeWithin(cwd, path) || path);
}

function refuse(message: string): Effect {
  return { type: 'refuse', message };
}
