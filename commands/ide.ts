import { relative } from 'node:path';
import type { Card } from '#domain/card.ts';
import { defineCommand, type Effect } from '#domain/command.ts';
import type { EditorList, FoundEditor } from '#domain/editor.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';

/** The editor that is connected: which there are, what goes along from it, another one instead. */
export default defineCommand({
  id: 'ide',
  group: 'At work',
  summary: 'Connects to your editor; then it says what goes along from there',
  usage: '[<number> | off | open <path>]',
  anytime: true,
  async complete(args, { editors }) {
    if (!/^\s*\S*$/.test(args)) return [];
    const { found, connected } = await editors();
    return [...found.map((_, i) => String(i + 1)), ...(connected === undefined ? [] : ['off', 'open'])];
  },
  async run(args, { editors, cwd }) {
    const [, word = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(args) ?? [];
    if (word === 'open') return rest === '' ? refuse('Say which file: /ide open <path>.') : { type: 'ide', what: { open: rest } };
    if (rest !== '') return refuse('It is /ide, /ide <number>, /ide off or /ide open <path>.');
    const list = await editors();
    if (word === 'off') return list.connected === undefined ? refuse('No editor is connected.') : { type: 'ide', what: 'disconnect' };
    if (word !== '') return chosen(word, list);
    const fitting = list.found.filter(({ fits }) => fits);
    const [only] = fitting;
    if (list.connected === undefined && fitting.length === 1 && only !== undefined) return { type: 'ide', what: { connect: only.port } };
    return { type: 'show', card: cardOf(list, cwd) };
  },
});

function refuse(message: string): Effect {
  return { type: 'refuse', message };
}

/** By its number in the list, or its name where one bears it. */
function chosen(word: string, { found }: EditorList): Effect {
  const named = found.filter(({ name }) => name.toLowerCase() === word.toLowerCase());
  const editor = /^\d{1,4}$/.test(word) ? found[Number(word) - 1] : named.length === 1 ? named[0] : undefined;
  if (editor !== undefined) return { type: 'ide', what: { connect: editor.port } };
  if (found.length === 0) return refuse('No editor has said that it runs here.');
  return refuse(`There is no editor ${oneLine(word, 40)}; there ${found.length === 1 ? 'is 1' : `are 1 to ${found.length}`} (/ide lists them).`);
}

function cardOf(list: EditorList, cwd: string): Card {
  const { found, connected, problem } = list;
  const items = found.map((editor, i) => `${i + 1}. ${editorLine(editor, cwd)}${editor.port === connected?.port ? ' · connected' : ''}`);
  const trouble = problem === undefined ? [] : [{ type: 'text' as const, text: problem }];
  if (found.length === 0 && connected === undefined) {
    return { title: 'Editor', detail: 'none has said that it runs here', body: [...trouble, { type: 'text', text: 'Open this folder in an editor with a plug-in that writes ~/.claude/ide/<port>.lock, such as claudecode.nvim or those for VS Code, JetBrains and Emacs.' }] };
  }
  const body: Card['body'] = [...trouble, ...(items.length === 0 || (items.length === 1 && found[0]?.port === connected?.port) ? [] : [{ type: 'list' as const, items }])];
  if (connected === undefined) return { title: 'Editor', detail: found.some(({ fits }) => fits) ? 'none is connected: /ide <number> connects' : 'none that runs is for this folder; /ide <number> connects all the same', body };
  return { title: `Editor: ${connected.name}`, detail: 'connected', body: [{ type: 'list', items: alongOf(list) }, ...body] };
}

function alongOf({ selection, openFile, showsDiffs }: EditorList): readonly string[] {
  const marked = selection === undefined ? [] : [`Marked: ${count(selection.toLine - selection.fromLine + 1, 'line')} of ${oneLine(selection.label)} (${selection.fromLine}–${selection.toLine}); goes along once`];
  const open = openFile === undefined ? 'Open: no file of this folder that may be read' : `Open: ${oneLine(openFile)}${selection === undefined ? '; its path goes along once' : ''}`;
  return [
    ...marked, open,
    showsDiffs ? 'Changes that are asked about are shown there too; saving there is yes, closing is no' : 'Changes are shown in the terminal alone ("diffTool" in the settings)',
    'Switched off one by one: "remindersOff" with ide_selection, ide_opened_file, diagnostics. /ide off disconnects',
  ];
}

function editorLine({ name, folders, fits }: FoundEditor, cwd: string): string {
  const [folder = 'no folder'] = folders;
  const where = relative(cwd, folder) === '' ? 'this folder' : oneLine(folder, 60);
  return `${name} · ${where}${folders.length > 1 ? ` and ${folders.length - 1} more` : ''}${fits ? '' : ' · not for this folder'}`;
}
