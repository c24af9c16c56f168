import type { PermissionMode } from '#domain/entry.ts';
import { sanitise, truncateTo, width } from '#lib/terminal.ts';
import type { Status } from './contract.ts';
import { clip } from './lines.ts';
import { count } from '#lib/text.ts';
import { dollars, tokens as short } from './numbers.ts';
import type { Role, Theme } from './theme.ts';

type Name = 'unsaved' | 'model' | 'mode' | 'branch' | 'directory' | 'context' | 'pins' | 'cache' | 'cost' | 'tasks' | 'editor';

/** Wordings of one part, the longest first; after the last it is left out. */
type Wordings = readonly string[];

const ORDER: readonly Name[] = ['unsaved', 'model', 'mode', 'tasks', 'directory', 'branch', 'context', 'pins', 'editor', 'cache', 'cost'];
/** What gives way when there is no room, in this order; a part that stands here again gives way once more. */
const GIVE_WAY: readonly Name[] = [
  'directory', 'branch', 'mode', 'context', 'mode', 'model', 'unsaved', 'directory', 'cache', 'editor', 'tasks', 'cost', 'branch', 'pins', 'context', 'editor', 'pins', 'cost', 'mode', 'tasks', 'mode', 'editor', 'context',
];
const MODES: Readonly<Record<PermissionMode, { readonly role: Role; readonly words: Wordings }>> = {
  default: { role: 'modeDefault', words: ['asks before it acts', 'asks first', 'asks'] },
  acceptEdits: { role: 'modeEdits', words: ['accepts edits', 'accepts edits', 'edits'] },
  plan: { role: 'modePlan', words: ['plan mode', 'plan mode', 'plan'] },
  auto: { role: 'modeEdits', words: ['decides by itself', 'auto mode', 'auto'] },
  bypassPermissions: { role: 'modeBypass', words: ['never asks', 'never asks', 'bypass'] },
};
/** Share of the budget from which on the user is warned. */
const NEAR_BUDGET = 0.8;
const SEPARATOR = ' · ';

/** What a person's own status line cannot know, or could keep quiet about. */
const BESIDE_OWN: readonly Name[] = ['unsaved', 'model', 'mode', 'tasks', 'pins', 'editor'];

/** The status bar below a person's own status line: what that one cannot be relied on for. */
export function shortStatusLine(status: Status, columns: number, theme: Theme): string {
  return statusLine(status, columns, theme, BESIDE_OWN.filter((name) => name !== 'model' || status.demo));
}

/** The status bar: one line of at most `columns` cells, of these parts. Less important parts get shorter, then go. */
export function statusLine(status: Status, columns: number, theme: Theme, parts: readonly Name[] = ORDER): string {
  const wordings = wordingsOf(status);
  const level: Partial<Record<Name, number>> = {};
  const words = (name: Name): string => wordings[name][level[name] ?? 0] ?? '';
  const shown = (): readonly Name[] => ORDER.filter((name) => parts.includes(name) && words(name) !== '');
  const total = (): number => shown().reduce((sum, name) => sum + width(words(name)) + SEPARATOR.length, -SEPARATOR.length);
  for (const name of GIVE_WAY) {
    if (total() <= columns) break;
    level[name] = (level[name] ?? 0) + 1;
  }
  return clip(shown().map((name) => theme(roleOf(name, status), words(name))).join(theme('dim', SEPARATOR)), columns);
}

function roleOf(name: Name, status: Status): Role {
  if (name === 'mode') return MODES[status.mode].role;
  if (name === 'unsaved') return 'bad';
  if (name === 'context') return status.used >= status.limit * 0.9 ? 'bad' : status.used >= status.limit * 0.75 ? 'warning' : 'dim';
  if (name === 'cost') return status.budgetUsd === undefined || status.usd === undefined ? 'dim' : status.usd >= status.budgetUsd ? 'bad' : status.usd >= status.budgetUsd * NEAR_BUDGET ? 'warning' : 'dim';
  if (name === 'tasks' || name === 'editor') return 'accent';
  return name === 'model' ? (status.demo ? 'warning' : 'accent') : 'dim';
}

/** What goes along from the editor, in fewer and fewer words. */
function editorWords({ name, lines, file }: NonNullable<Status['editor']>): Wordings {
  if (file === undefined) return [`⧉ ${truncateTo(name, 20)}`, '⧉'];
  const short = truncateTo(file, 24);
  return lines === undefined ? [`⧉ ${short}`, '⧉'] : [`⧉ ${count(lines, 'line')} of ${short}`, `⧉ ${count(lines, 'line')}`, '⧉'];
}

function wordingsOf(status: Status): Readonly<Record<Name, Wordings>> {
  const { model, demo, mode, branch, directory, used, limit, estimated, pins, pinTokens, cacheShare, usd, unsaved, tasks, budgetUsd, editor } = status;
  const line = (text: string): string => sanitise(text, { newlines: false, tabs: 4 });
  const about = estimated ? '~' : '';
  const share = limit > 0 ? `${about}${Math.round((used / limit) * 100)} %` : '';
  const pinned = `${pins} ${pins === 1 ? 'pin' : 'pins'}`;
  const spent = usd === undefined ? '$?' : dollars(usd);
  return {
    unsaved: unsaved === undefined ? [] : [`not saved: ${line(unsaved)}`, 'not saved'],
    model: demo ? [`${line(model)}, not an AI`, 'demo'] : [line(model), line(model).replace(/^claude-/, '')],
    mode: MODES[mode].words,
    directory: [line(directory), truncateTo(line(directory).replace(/^.*[/\\](?=.)/, ''), 20)],
    branch: branch === undefined ? [] : [truncateTo(`⎇ ${line(branch)}`, 40), truncateTo(`⎇ ${line(branch)}`, 16)],
    context: [`${about}${short(used)} of ${short(limit)} tokens`, `${about}${short(used)}/${short(limit)}`, share],
    pins: pins === 0 ? [] : [`${pinned} ${short(pinTokens)}`, pinned],
    cache: cacheShare === undefined ? [] : [`cache ${Math.round(cacheShare * 100)} %`],
    cost: [budgetUsd === undefined ? spent : `${spent} of ${dollars(budgetUsd)}`, spent],
    editor: editor === undefined ? [] : editorWords({ name: line(editor.name), ...(editor.lines !== undefined && { lines: editor.lines }), ...(editor.file !== undefined && { file: line(editor.file) }) }),
    tasks: tasks === 0 ? [] : [`${count(tasks, 'task')} · /tasks`, count(tasks, 'task')],
  };
}
