import { type Menu, type Word, accept, isWhole, offered, openMenu, select, wordAt } from './completion.ts';
import { editing } from './composer-editing.ts';
import { type Search, shortenQuery, stepSearch, typeQuery } from './composer-search.ts';
import type { Completion, InputEvent, KeyEvent, ViewAction } from './contract.ts';
import type { Measure } from './editor-layout.ts';
import { moveRow } from './editor-layout.ts';
import { EMPTY, type Editor, cleared, deleteLeft, expand, insert, paste, replace, setText } from './editor.ts';
import type { KeyAction, KeyTable } from './keys.ts';

/** How soon a list that is not whole is asked for again, in ms. */
const LISTING_MS = 150;
/** How soon the second press must follow, in ms. */
const AGAIN_MS = { stop: 1000, leave: 800, cancel: 800 } as const;

/** All there is to know of the composer. Changed by {@link reduce} only. */
export interface ComposerState {
  readonly editor: Editor;
  /** Whether the model works: Enter queues, Esc and Ctrl-C interrupt. */
  readonly busy: boolean;
  /** Lines entered before, oldest first. */
  readonly history: readonly string[];
  /** The line of history that is shown, and the draft that it stands in for. */
  readonly recalled: { readonly index: number; readonly draft: Editor } | undefined;
  readonly search: Search | undefined;
  readonly menu: Menu | undefined;
  /** Number of the newest request for completions; answers to older ones are dropped. */
  readonly request: number;
  /** Start of the word whose menu was closed with Esc: it stays closed for that word. */
  readonly dismissed: number | undefined;
  /** Tab was pressed before the answer came: the first item is taken when it does. */
  readonly awaiting: boolean;
  /** A key that does something on its second press, and until when (ms). */
  readonly armed: { readonly action: keyof typeof AGAIN_MS; readonly until: number } | undefined;
  /** `?` was pressed at an empty input: keys are shown. */
  readonly help: boolean;
}

export const blankComposer: ComposerState = {
  editor: EMPTY, busy: false, history: [], recalled: undefined, search: undefined, menu: undefined, request: 0,
  dismissed: undefined, awaiting: false, armed: undefined, help: false,
};

export type ComposerEvent =
  | { readonly type: 'input'; readonly event: InputEvent }
  | { readonly type: 'busy'; readonly busy: boolean }
  /** Lines entered before, as main keeps them; what was entered meanwhile stays behind them. */
  | { readonly type: 'history'; readonly lines: readonly string[] }
  | { readonly type: 'completions'; readonly request: number; readonly items: readonly Completion[]; readonly more: boolean }
  /** A text handed back (a queued prompt, an interrupted draft): stands before what is typed. */
  | { readonly type: 'draft'; readonly text: string }
  /** A word for the place where the cursor is, apart from its neighbours. */
  | { readonly type: 'insert'; readonly text: string }
  /** What the external editor left. */
  | { readonly type: 'edited'; readonly text: string }
  /** Nothing was queued that could be taken back: Up means older input. */
  | { readonly type: 'older' }
  /** Nothing runs that could go to the background: the key means left. */
  | { readonly type: 'left' }
  /** Whoever makes completions can be asked now: what is wanted at the cursor is asked again. */
  | { readonly type: 'refresh' }
  /** The second press did not come in time. */
  | { readonly type: 'expired' };

/** What is to be done, as data. */
export type ComposerEffect =
  | { readonly type: 'submit'; readonly text: string }
  | { readonly type: 'interrupt' }
  | { readonly type: 'exit' }
  | { readonly type: 'cycleMode' }
  | { readonly type: 'takeBack' }
  | { readonly type: 'queue' }
  | { readonly type: 'background' }
  | { readonly type: 'complete'; readonly kind: Word['kind']; readonly query: string; readonly request: number; readonly afterMs?: number }
  | { readonly type: 'openEditor'; readonly text: string }
  /** After so many ms `expired` is due. */
  | { readonly type: 'expire'; readonly ms: number }
  | { readonly type: 'view'; readonly action: ViewAction };

/** What the reducer must know besides state and event. */
export interface ComposerWorld {
  readonly keys: KeyTable;
  /** Columns for the text, for Up and Down by visual lines. */
  readonly columns: number;
  readonly measure: Measure;
  /** Milliseconds, on any clock that only goes forward. */
  readonly now: number;
}

export interface Reduced {
  readonly state: ComposerState;
  readonly effects: readonly ComposerEffect[];
}

/** The composer's next state, and what is to be done. Pure. */
export function reduce(state: ComposerState, event: ComposerEvent, world: ComposerWorld): Reduced {
  switch (event.type) {
    case 'input': return withCompletion(state, onInput(state, event.event, world));
    case 'busy': return only({ ...state, busy: event.busy });
    case 'history': return only(withOlder(state, event.lines));
    case 'completions': return onCompletions(state, event);
    case 'draft': return only(quiet({ ...state, editor: before(state.editor, event.text), recalled: undefined }));
    case 'insert': return only(quiet({ ...state, editor: insertWord(state.editor, event.text), recalled: undefined }));
    case 'edited': return only(quiet({ ...state, editor: setText(state.editor, event.text.replace(/\n+$/, '')), recalled: undefined }));
    case 'older': return only(recall(state, -1));
    case 'left': return only({ ...state, editor: editing.left(state.editor) });
    case 'refresh': return withCompletion(blankComposer, only(state));
    case 'expired': return only({ ...state, armed: undefined });
  }
}

function only(state: ComposerState, ...effects: ComposerEffect[]): Reduced {
  return { state, effects };
}

/** A text that was not typed opens no menu. */
function quiet(state: ComposerState): ComposerState {
  return { ...state, menu: undefined, awaiting: false, dismissed: wordAt(state.editor)?.from };
}

function insertWord(editor: Editor, word: string): Editor {
  const { text, cursor } = editor;
  return insert(editor, `${cursor === 0 || /\s/.test(text.charAt(cursor - 1)) ? '' : ' '}${word}${/^\s/.test(text.slice(cursor)) ? '' : ' '}`);
}

function before(editor: Editor, text: string): Editor {
  const joined = editor.text === '' || text === '' ? text : `${text}\n`;
  return { ...replace(editor, 0, 0, joined), cursor: joined.length + editor.cursor };
}

// ── Keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

function onInput(state: ComposerState, event: InputEvent, world: ComposerWorld): Reduced {
  if (event.type === 'focus') return only(state);
  if (event.type === 'paste') {
    if (state.search !== undefined) return only({ ...state, search: typeQuery(state.search, state.history, event.text) });
    return only({ ...state, editor: paste(state.editor, event.text), armed: undefined, help: false, awaiting: false });
  }
  if (state.search !== undefined) return onSearchKey(state, state.search, event, world);
  const fresh = { ...state, armed: undefined, help: false, awaiting: false };
  if (state.menu !== undefined) {
    const taken = onMenuKey(fresh, state.menu, world.keys.action('menu', event));
    if (taken !== undefined) return taken;
  }
  const action = world.keys.action('composer', event);
  if (action !== undefined) return onAction(state, fresh, action, world);
  if (event.text === '') return only(state);
  if (event.text === '?' && state.editor.text === '') return only({ ...fresh, help: !state.help });
  return only({ ...fresh, editor: insert(state.editor, event.text) });
}

/** `fresh` is the state with nothing armed and no help; `state` tells what was. */
function onAction(state: ComposerState, fresh: ComposerState, action: KeyAction<'composer'>, world: ComposerWorld): Reduced {
  switch (action) {
    case 'submit': return submit(fresh);
    case 'newline': return only({ ...fresh, editor: insert(fresh.editor, '\n') });
    case 'cancel': return cancel(state, fresh, world);
    case 'stop': return stop(state, fresh, world);
    case 'leave': return leave(state, fresh, world);
    case 'complete': return only({ ...fresh, awaiting: wordAt(fresh.editor) !== undefined, dismissed: undefined });
    case 'searchHistory': return only({ ...fresh, menu: undefined, search: { query: '', found: undefined, draft: fresh.editor } });
    case 'up': return up(fresh, world);
    case 'down': {
      const moved = moveRow(fresh.editor, 1, world.columns, world.measure);
      return only(moved === undefined ? recall(fresh, 1) : { ...fresh, editor: moved });
    }
    case 'cycleMode': return only(fresh, { type: 'cycleMode' });
    case 'queue': return only(fresh, { type: 'queue' });
    case 'background': return state.busy ? only(fresh, { type: 'background' }) : only({ ...fresh, editor: editing.left(fresh.editor) });
    case 'externalEditor': return only(fresh, { type: 'openEditor', text: expand(fresh.editor) });
    case 'toggleTranscript': case 'toggleTodos': case 'redraw': case 'suspend': return only(fresh, { type: 'view', action });
    default: return only({ ...fresh, editor: editing[action](fresh.editor) });
  }
}

function submit(state: ComposerState): Reduced {
  const { editor } = state;
  // A backslash before Enter is a new line in every terminal.
  if (editor.text[editor.cursor - 1] === '\\') return only({ ...state, editor: insert(deleteLeft(editor), '\n') });
  const text = expand(editor).trim();
  if (text === '') return only(state);
  return only({ ...emptied(state), history: remember(state.history, text) }, { type: 'submit', text });
}

/** Nothing typed; the draft that was there, if any, is history. */
function emptied(state: ComposerState): ComposerState {
  return {
    ...state, editor: cleared(state.editor), recalled: undefined, search: undefined, menu: undefined, dismissed: undefined,
    history: remember(state.history, expand(state.editor).trim()),
  };
}

function remember(history: readonly string[], text: string): readonly string[] {
  return text === '' || history.at(-1) === text ? history : [...history, text];
}

function arm(state: ComposerState, action: keyof typeof AGAIN_MS, world: ComposerWorld, ...effects: ComposerEffect[]): Reduced {
  const ms = AGAIN_MS[action];
  return only({ ...state, armed: { action, until: world.now + ms } }, ...effects, { type: 'expire', ms });
}

function again(state: ComposerState, action: keyof typeof AGAIN_MS, world: ComposerWorld): boolean {
  return state.armed?.action === action && world.now <= state.armed.until;
}

function cancel(state: ComposerState, fresh: ComposerState, world: ComposerWorld): Reduced {
  if (state.help) return only(fresh);
  if (state.busy) return only(fresh, { type: 'interrupt' });
  if (fresh.editor.text === '') return only(fresh);
  return again(state, 'cancel', world) ? only(emptied(fresh)) : arm(fresh, 'cancel', world);
}

function stop(state: ComposerState, fresh: ComposerState, world: ComposerWorld): Reduced {
  if (state.busy) return only({ ...fresh, menu: undefined }, { type: 'interrupt' });
  if (again(state, 'stop', world)) return only(fresh, { type: 'exit' });
  return arm(emptied(fresh), 'stop', world);
}

function leave(state: ComposerState, fresh: ComposerState, world: ComposerWorld): Reduced {
  if (fresh.editor.text !== '') return only({ ...fresh, editor: editing.deleteRight(fresh.editor) });
  return again(state, 'leave', world) ? only(fresh, { type: 'exit' }) : arm(fresh, 'leave', world);
}

function up(state: ComposerState, world: ComposerWorld): Reduced {
  const moved = moveRow(state.editor, -1, world.columns, world.measure);
  if (moved !== undefined) return only({ ...state, editor: moved });
  return state.busy && state.recalled === undefined ? only(state, { type: 'takeBack' }) : only(recall(state, -1));
}

// ── History ──────────────────────────────────────────────────────────────────────────────────────────────────────────

function withOlder(state: ComposerState, lines: readonly string[]): ComposerState {
  const { recalled, search } = state;
  return {
    ...state, history: [...lines, ...state.history],
    recalled: recalled && { ...recalled, index: recalled.index + lines.length },
    search: search && { ...search, found: search.found === undefined ? undefined : search.found + lines.length },
  };
}

function recall(state: ComposerState, by: 1 | -1): ComposerState {
  const index = (state.recalled?.index ?? state.history.length) + by;
  const draft = state.recalled?.draft ?? state.editor;
  if (index >= state.history.length) {
    return state.recalled === undefined ? state : quiet({ ...state, editor: { ...draft, undos: state.editor.undos }, recalled: undefined });
  }
  const line = state.history[index];
  return line === undefined ? state : quiet({ ...state, editor: setText(state.editor, line), recalled: { index, draft } });
}

function onSearchKey(state: ComposerState, search: Search, event: KeyEvent, world: ComposerWorld): Reduced {
  const to = (next: Search): Reduced => only({ ...state, search: next });
  const shown = search.found === undefined ? undefined : state.history[search.found];
  const taken = quiet({ ...state, search: undefined, editor: shown === undefined ? search.draft : setText(search.draft, shown) });
  switch (world.keys.action('search', event)) {
    case 'older': return to(stepSearch(search, state.history, -1));
    case 'newer': return to(stepSearch(search, state.history, 1));
    case 'deleteLeft': return to(shortenQuery(search, state.history));
    case 'cancel': return only(quiet({ ...state, search: undefined, editor: search.draft }));
    case 'edit': return only(taken);
    case 'run': return submit(taken);
    case undefined: return event.text === '' ? only(state) : to(typeQuery(search, state.history, event.text));
  }
}

// ── Completion ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Undefined: the menu has no use for the key. */
function onMenuKey(state: ComposerState, menu: Menu, action: KeyAction<'menu'> | undefined): Reduced | undefined {
  switch (action) {
    case undefined: return undefined;
    case 'close': return only({ ...state, menu: undefined, dismissed: menu.word.from });
    case 'up': return only({ ...state, menu: select(menu, -1) });
    case 'down': return only({ ...state, menu: select(menu, 1) });
    case 'accept': case 'choose': {
      const item = menu.items[action === 'accept' ? Math.max(0, menu.selected) : menu.selected];
      if (item === undefined || menu.stale || isWhole(menu, state.editor)) return undefined;
      return only({ ...state, editor: accept(state.editor, menu.word, item), menu: undefined, dismissed: undefined });
    }
  }
}

function onCompletions(state: ComposerState, event: Extract<ComposerEvent, { type: 'completions' }>): Reduced {
  const word = state.search === undefined ? wordAt(state.editor) : undefined;
  if (event.request !== state.request || word === undefined || (state.dismissed === word.from && !state.awaiting)) return only(state);
  const items = offered(event.items, word, state.editor);
  const [first] = items;
  // What is still being listed is asked for again, until it is whole.
  if (event.more && (first === undefined || !state.awaiting)) {
    const request = state.request + 1;
    return only({ ...state, request, menu: refreshed(state.menu, openMenu(word, items, true)) }, { type: 'complete', kind: word.kind, query: word.query, request, afterMs: LISTING_MS });
  }
  if (first === undefined) return only({ ...state, menu: undefined, awaiting: false });
  if (state.awaiting) {
    const taken = { ...state, editor: accept(state.editor, word, first), menu: undefined, awaiting: false };
    return withCompletion(state, only(taken));
  }
  return only({ ...state, menu: refreshed(state.menu, openMenu(word, items, false)) });
}

/** A fuller list for the same word: the item that was gone to stays the one. */
function refreshed(old: Menu | undefined, fresh: Menu): Menu {
  const item = old?.more === true && !old.stale ? old.items[old.selected]?.insert : undefined;
  const found = item === undefined ? -1 : fresh.items.findIndex(({ insert }) => insert === item);
  return found === -1 || old?.selected === 0 ? fresh : { ...fresh, selected: found };
}

/** Asks for completions when the word at the cursor is another than before, and closes the menu where there is none. */
function withCompletion(old: ComposerState, reduced: Reduced): Reduced {
  const { state, effects } = reduced;
  if (state.search !== undefined) return { state: { ...state, menu: undefined }, effects };
  const word = wordAt(state.editor);
  if (word === undefined) return { state: { ...state, menu: undefined, dismissed: undefined, awaiting: false }, effects };
  if (state.dismissed !== undefined && state.dismissed !== word.from) return withCompletion(old, { state: { ...state, dismissed: undefined }, effects });
  const asked = wordAt(old.editor);
  const same = asked?.query === word.query && asked.from === word.from && asked.kind === word.kind;
  const closed = state.dismissed === word.from && !state.awaiting;
  if (closed) return { state: { ...state, menu: undefined }, effects };
  if (same && (state.menu !== undefined || !state.awaiting)) return reduced;
  const request = state.request + 1;
  const menu = state.menu === undefined ? undefined : { ...state.menu, word, stale: true };
  return { state: { ...state, request, menu }, effects: [...effects, { type: 'complete', kind: word.kind, query: word.query, request }] };
}
