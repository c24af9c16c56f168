import type { KeyEvent } from './contract.ts';

/** Where a key is pressed. A menu (completion) and the search stand over the composer: theirs are asked first. */
export type KeyContext = 'composer' | 'menu' | 'search' | 'dialog' | 'list';

interface Row {
  readonly context: KeyContext;
  readonly action: string;
  /** Keys as people write them: `ctrl+k`, `alt+enter`, `f2`. */
  readonly keys: readonly string[];
  /** What it does, one line for help. Empty: not worth a line there. */
  readonly what: string;
  /** Cannot be bound otherwise: the way out must always work. */
  readonly fixed?: boolean;
  /** Moves or changes what is being written, as in other editors of lines. */
  readonly editing?: boolean;
}

/** Every key that does something, in the order of help. To add one: a line here, and its action where the context is handled. */
const ROWS = [
  { context: 'composer', action: 'submit', keys: ['enter'], what: 'send; while the model works: queue' },
  { context: 'composer', action: 'newline', keys: ['ctrl+j', 'shift+enter', 'alt+enter'], what: 'new line (also \\ and Enter)' },
  { context: 'composer', action: 'cancel', keys: ['escape'], what: 'interrupt; twice: clear the draft' },
  { context: 'composer', action: 'stop', keys: ['ctrl+c'], what: 'interrupt, clear the input, then leave', fixed: true },
  { context: 'composer', action: 'leave', keys: ['ctrl+d'], what: 'leave (twice); in text: delete', fixed: true },
  { context: 'composer', action: 'complete', keys: ['tab'], what: 'complete a command or @file' },
  { context: 'composer', action: 'cycleMode', keys: ['shift+tab'], what: 'next permission mode' },
  { context: 'composer', action: 'searchHistory', keys: ['ctrl+r'], what: 'search what was entered before' },
  { context: 'composer', action: 'up', keys: ['up', 'ctrl+p'], what: 'line up, then older input; takes back what is queued' },
  { context: 'composer', action: 'queue', keys: ['alt+up'], what: 'list what is queued, to edit or remove it' },
  { context: 'composer', action: 'down', keys: ['down', 'ctrl+n'], what: 'line down, then newer input' },
  { context: 'composer', action: 'background', keys: ['ctrl+b'], what: 'send what runs to the background; at rest: left' },
  { context: 'composer', action: 'toggleTranscript', keys: ['ctrl+o'], what: 'whole tool output or short' },
  { context: 'composer', action: 'toggleTodos', keys: ['ctrl+t'], what: 'show or hide the todo list' },
  { context: 'composer', action: 'externalEditor', keys: ['ctrl+g'], what: 'write in $VISUAL or $EDITOR' },
  { context: 'composer', action: 'redraw', keys: ['ctrl+l'], what: 'draw the screen anew' },
  { context: 'composer', action: 'suspend', keys: ['ctrl+z'], what: 'suspend (fg brings it back)' },
  { context: 'composer', action: 'undo', keys: ['ctrl+_', 'ctrl+shift+-', 'ctrl+-'], what: 'undo', editing: true },
  { context: 'composer', action: 'lineStart', keys: ['ctrl+a', 'home'], what: 'to the start of the line', editing: true },
  { context: 'composer', action: 'lineEnd', keys: ['ctrl+e', 'end'], what: 'to the end of the line', editing: true },
  { context: 'composer', action: 'wordLeft', keys: ['alt+b', 'alt+left', 'ctrl+left'], what: 'a word back', editing: true },
  { context: 'composer', action: 'wordRight', keys: ['alt+f', 'alt+right', 'ctrl+right'], what: 'a word on', editing: true },
  { context: 'composer', action: 'killToEnd', keys: ['ctrl+k'], what: 'cut to the end of the line', editing: true },
  { context: 'composer', action: 'killToStart', keys: ['ctrl+u'], what: 'cut to the start of the line', editing: true },
  { context: 'composer', action: 'killWordLeft', keys: ['ctrl+w'], what: 'cut the word before, up to a space', editing: true },
  { context: 'composer', action: 'killPartLeft', keys: ['alt+backspace'], what: 'cut the word before, up to a sign', editing: true },
  { context: 'composer', action: 'killWordRight', keys: ['alt+d'], what: 'cut the word after', editing: true },
  { context: 'composer', action: 'yank', keys: ['ctrl+y'], what: 'paste what was cut', editing: true },
  { context: 'composer', action: 'yankOlder', keys: ['alt+y'], what: 'instead, what was cut before that', editing: true },
  { context: 'composer', action: 'left', keys: ['left'], what: '' },
  { context: 'composer', action: 'right', keys: ['right', 'ctrl+f'], what: '' },
  { context: 'composer', action: 'textStart', keys: ['ctrl+home'], what: '' },
  { context: 'composer', action: 'textEnd', keys: ['ctrl+end'], what: '' },
  { context: 'composer', action: 'deleteLeft', keys: ['backspace', 'shift+backspace'], what: '' },
  { context: 'composer', action: 'deleteRight', keys: ['delete'], what: '' },
  { context: 'menu', action: 'accept', keys: ['tab'], what: '' },
  { context: 'menu', action: 'choose', keys: ['enter'], what: '' },
  { context: 'menu', action: 'close', keys: ['escape'], what: '' },
  { context: 'menu', action: 'up', keys: ['up', 'ctrl+p'], what: '' },
  { context: 'menu', action: 'down', keys: ['down', 'ctrl+n'], what: '' },
  { context: 'search', action: 'older', keys: ['ctrl+r', 'up', 'ctrl+p'], what: '' },
  { context: 'search', action: 'newer', keys: ['ctrl+s', 'down', 'ctrl+n'], what: '' },
  { context: 'search', action: 'edit', keys: ['tab', 'escape', 'left', 'right', 'home', 'end', 'ctrl+a', 'ctrl+e'], what: '' },
  { context: 'search', action: 'run', keys: ['enter'], what: '' },
  { context: 'search', action: 'cancel', keys: ['ctrl+c', 'ctrl+g'], what: '', fixed: true },
  { context: 'search', action: 'deleteLeft', keys: ['backspace'], what: '' },
  { context: 'dialog', action: 'confirm', keys: ['enter'], what: '' },
  { context: 'dialog', action: 'cancel', keys: ['escape', 'ctrl+c'], what: '', fixed: true },
  { context: 'dialog', action: 'up', keys: ['up', 'ctrl+p'], what: '' },
  { context: 'dialog', action: 'down', keys: ['down', 'ctrl+n'], what: '' },
  { context: 'dialog', action: 'next', keys: ['tab'], what: '' },
  { context: 'dialog', action: 'previous', keys: ['shift+tab'], what: '' },
  { context: 'dialog', action: 'deleteLeft', keys: ['backspace'], what: '' },
  { context: 'list', action: 'choose', keys: ['enter'], what: '' },
  { context: 'list', action: 'cancel', keys: ['escape', 'ctrl+c'], what: '', fixed: true },
  { context: 'list', action: 'up', keys: ['up', 'ctrl+p'], what: '' },
  { context: 'list', action: 'down', keys: ['down', 'ctrl+n'], what: '' },
  { context: 'list', action: 'pageUp', keys: ['pageup'], what: '' },
  { context: 'list', action: 'pageDown', keys: ['pagedown'], what: '' },
  { context: 'list', action: 'first', keys: ['home'], what: '' },
  { context: 'list', action: 'last', keys: ['end'], what: '' },
  { context: 'list', action: 'deleteLeft', keys: ['backspace'], what: '' },
] as const satisfies readonly Row[];

/** The actions of a context. */
export type KeyAction<C extends KeyContext> = Extract<(typeof ROWS)[number], { readonly context: C }>['action'];

export interface KeyTable {
  /** What a key does in a context; undefined where it does nothing but write. */
  action<C extends KeyContext>(context: C, event: KeyEvent): KeyAction<C> | undefined;
  /** The first key of a composer's action as people read it (`Ctrl-O`); undefined when it has none. */
  label(action: KeyAction<'composer'>): string | undefined;
  /** For help: keys and what they do, in a sensible order. `action`: its name in the settings; absent where it cannot be bound. */
  readonly help: readonly { readonly keys: string; readonly what: string; readonly action?: string; readonly editing?: boolean }[];
  /** One line for each thing that is wrong with the bindings asked for. */
  readonly faults: readonly string[];
}

/**
 * The keys with a person's own bindings on top: action → keys, separated by commas (`"undo": "ctrl+k, f2"`); an empty text
 * takes an action's keys away. Only the composer's actions can be bound. A binding that cannot hold is a fault of one line,
 * and the action keeps its default.
 */
export function keyTable(bindings: Readonly<Record<string, string>> = {}): KeyTable {
  const rows: readonly Row[] = ROWS;
  const { asked, faults } = readBindings(rows, bindings);
  const taken = new Map([...asked].flatMap(([action, keys]) => keys.map((key) => [key, action] as const)));
  const bound = rows.map((row) => (row.context !== 'composer' ? row
    : { ...row, keys: asked.get(row.action) ?? row.keys.filter((key) => !taken.has(key)) }));
  for (const row of bound) {
    const lost = rows.find((other) => other.context === row.context && other.action === row.action);
    if (row.keys.length === 0 && (lost?.keys.length ?? 0) > 0 && !asked.has(row.action)) {
      const key = lost?.keys[0] ?? '';
      faults.push(`keys: "${key}" now means ${taken.get(key) ?? 'nothing'}; ${row.action} has no key left`);
    }
  }
  const index = new Map(bound.flatMap((row) => row.keys.map((key) => [`${row.context} ${key}`, row.action] as const)));
  return {
    action: <C extends KeyContext>(context: C, event: KeyEvent) => index.get(`${context} ${nameOf(event)}`) as KeyAction<C> | undefined,
    label(action) {
      const key = bound.find((row) => row.context === 'composer' && row.action === action)?.keys[0];
      return key === undefined ? undefined : display(key);
    },
    help: bound.filter((row) => row.what !== '' && row.keys.length > 0).map((row) => ({ keys: row.keys.slice(0, 3).map(display).join(', '), what: row.what, ...(row.fixed !== true && { action: row.action }), ...(row.editing === true && { editing: true }) })),
    faults,
  };
}

function readBindings(rows: readonly Row[], bindings: Readonly<Record<string, string>>): { asked: Map<string, string[]>; faults: string[] } {
  const asked = new Map<string, string[]>();
  const faults: string[] = [];
  const owners = new Map<string, string>();
  for (const row of rows) if (row.context === 'composer' && row.fixed === true) for (const key of row.keys) owners.set(key, row.action);
  for (const [action, text] of Object.entries(bindings)) {
    const row = rows.find((one) => one.context === 'composer' && one.action === action);
    if (row === undefined) {
      faults.push(`keys: there is no action "${action}"; /help lists keys, the README their actions`);
      continue;
    }
    if (row.fixed === true) {
      faults.push(`keys: ${action} stays on ${row.keys.join(', ')} and cannot be bound otherwise`);
      continue;
    }
    const keys: string[] = [];
    for (const written of text.split(',').map((part) => part.trim()).filter((part) => part !== '')) {
      const key = parseKey(written);
      const owner = key === undefined ? undefined : owners.get(key);
      if (key === undefined) faults.push(`keys: "${written}" for ${action} is not a key; write it like ctrl+k, alt+enter or f2`);
      else if (owner !== undefined) faults.push(`keys: "${written}" is set for ${action} and means ${owner} already; ${owner} keeps it`);
      else {
        keys.push(key);
        owners.set(key, action);
      }
    }
    if (keys.length > 0 || text.trim() === '') asked.set(action, keys);
  }
  return { asked, faults };
}

const ALIASES: Readonly<Record<string, string>> = {
  esc: 'escape', return: 'enter', del: 'delete', ins: 'insert', pgup: 'pageup', pgdn: 'pagedown', ' ': 'space',
};
const MODIFIERS: Readonly<Record<string, 'ctrl' | 'alt' | 'shift'>> = {
  ctrl: 'ctrl', control: 'ctrl', alt: 'alt', option: 'alt', meta: 'alt', shift: 'shift',
};
const NAMED = /^(?:enter|tab|escape|backspace|delete|insert|up|down|left|right|home|end|pageup|pagedown|space|f(?:[1-9]|1[0-2]))$/;

/** A key as written, in its one spelling (`ctrl+alt+shift+name`); undefined when it is none, or would make a character unwritable. */
export function parseKey(written: string): string | undefined {
  const parts = /^(.*\+)?(\+|[^+]+)$/su.exec(written.trim());
  if (parts === null) return undefined;
  const held = { ctrl: false, alt: false, shift: false };
  for (const word of (parts[1] ?? '').toLowerCase().split('+').filter((part) => part !== '')) {
    const modifier = MODIFIERS[word.trim()];
    if (modifier === undefined) return undefined;
    held[modifier] = true;
  }
  const last = (parts[2] ?? '').trim().toLowerCase();
  const name = ALIASES[last] ?? last;
  const character = [...new Intl.Segmenter('en').segment(name)].length === 1;
  if (!NAMED.test(name) && !character) return undefined;
  if ((character || name === 'space') && !held.ctrl && !held.alt) return undefined;
  return spell({ ...held, name });
}

function nameOf(event: KeyEvent): string {
  return spell(event);
}

function spell(key: { readonly ctrl: boolean; readonly alt: boolean; readonly shift: boolean; readonly name: string }): string {
  return `${key.ctrl ? 'ctrl+' : ''}${key.alt ? 'alt+' : ''}${key.shift ? 'shift+' : ''}${key.name}`;
}

/** `ctrl+shift+-` → `Ctrl-Shift--`, as help writes keys. */
function display(key: string): string {
  return key.split(/\+(?=.)/).map((word) => (word === 'escape' ? 'Esc' : word.charAt(0).toUpperCase() + word.slice(1))).join('-');
}
