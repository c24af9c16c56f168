import { markControls } from '#lib/marks.ts';
import type { Menu } from './completion.ts';
import { PROMPT_COLUMNS } from './composer-store.ts';
import type { ComposerState } from './composer-state.ts';
import { cursorMark } from './cursor-mark.ts';
import { cursorAt, layOut, type Measure, type VisualRow } from './editor-layout.ts';
import { EMPTY, setText } from './editor.ts';
import { graphemes } from './graphemes.ts';
import type { KeyTable } from './keys.ts';
import type { Role, Theme } from './theme.ts';

/** What the composer is drawn with. */
export interface ComposerLook {
  readonly columns: number;
  /** Rows of the window: the composer takes at most about half of them. */
  readonly rows: number;
  readonly theme: Theme;
  readonly measure: Measure;
  readonly keys: KeyTable;
}

const MENU_ROWS = 8;
/** Columns below which help is short of words. */
const NARROW = 60;
const PLACEHOLDER = 'Ask, or / for commands, @ for files, ! for the shell, ? for keys';

/**
 * The composer as finished lines, none wider than the columns: a rule, the text (a part of it, when it is long), a rule, and
 * below what belongs to it at the moment: completions, the search, a hint. One line bears the mark of the cursor.
 */
export function composerLines(state: ComposerState, look: ComposerLook): readonly string[] {
  const rule = look.theme(ruleRole(state), '─'.repeat(look.columns));
  const text = textLines(state, look, Math.max(1, Math.floor(look.rows / 2) - 2));
  const room = Math.max(1, look.rows - text.length - 4);
  return [rule, ...text, rule, ...under(state, look, room).slice(0, room)];
}

function ruleRole(state: ComposerState): Role {
  return state.search === undefined && state.editor.text.startsWith('!') ? 'warning' : 'border';
}

function textLines(state: ComposerState, look: ComposerLook, room: number): readonly string[] {
  const { measure, theme } = look;
  const { search } = state;
  const found = search?.found === undefined ? search?.draft : setText(EMPTY, state.history[search.found] ?? '');
  const editor = found ?? state.editor;
  const glyph = theme(ruleRole(state) === 'warning' ? 'warning' : 'accent', '>');
  if (editor.text === '') {
    const hint = search === undefined ? theme('dim', fit(PLACEHOLDER, look.columns - PROMPT_COLUMNS - 1, measure)) : '';
    return [`${glyph} ${search === undefined ? cursorMark(PROMPT_COLUMNS) : ''}${hint}`];
  }
  const rows = layOut(editor, Math.max(4, look.columns - PROMPT_COLUMNS), measure);
  const cursor = cursorAt(rows, editor, measure);
  const from = windowStart(rows.length, cursor.row, room);
  return rows.slice(from, from + room).map((row, index) => {
    const number = from + index;
    const first = number === 0 ? glyph : index === 0 ? theme('dim', '↑') : index === room - 1 && number < rows.length - 1 ? theme('dim', '↓') : ' ';
    return `${first} ${search === undefined && number === cursor.row ? cursorMark(PROMPT_COLUMNS + cursor.column) : ''}${text(row)}`;
  });
}

function text(row: VisualRow): string {
  return row.shown.trimEnd();
}

/** The first of `room` shown among `count`, so that `at` is among them. */
function windowStart(count: number, at: number, room: number): number {
  return Math.max(0, Math.min(at - Math.floor(room / 2), count - room));
}

function under(state: ComposerState, look: ComposerLook, room: number): readonly string[] {
  const { theme, columns, measure } = look;
  if (state.search !== undefined) {
    const long = state.search.query !== '' && state.search.found === undefined ? 'nothing fits' : 'search';
    const label = columns < 30 ? long.charAt(0) : long;
    const query = fit(markControls(state.search.query), Math.max(4, columns - label.length - 6), measure);
    return [`  ${theme('dim', `${label}:`)} ${cursorMark(label.length + 4 + measure(query))}${query}`];
  }
  if (state.menu !== undefined) return menuLines(state.menu, look);
  if (state.help) return helpLines(look, room);
  const hint = state.armed === undefined ? undefined
    : { stop: 'Ctrl-C again to leave', leave: 'Ctrl-D again to leave', cancel: `${look.keys.label('cancel') ?? 'Esc'} again to clear the draft` }[state.armed.action];
  return hint === undefined ? [] : [theme('dim', fit(`  ${hint}`, columns, measure))];
}

function menuLines(menu: Menu, look: ComposerLook): readonly string[] {
  const { theme, columns, measure } = look;
  const crowded = menu.items.length > MENU_ROWS || menu.more;
  const room = crowded ? MENU_ROWS - 1 : MENU_ROWS;
  const from = windowStart(menu.items.length, menu.selected, room);
  const shown = menu.items.slice(from, from + room).map((item) => ({ label: markControls(item.label.toWellFormed()).replaceAll('\n', '␊'), detail: markControls((item.detail ?? '').toWellFormed()).replace(/\s+/g, ' ') }));
  // What stands alone has the line to itself.
  const most = shown.length === 1 ? columns - 4 : Math.max(12, Math.floor(columns / 2));
  const widest = Math.min(Math.max(0, ...shown.map(({ label }) => measure(label))), most);
  const lines = shown.map(({ label, detail }, index) => {
    const chosen = from + index === menu.selected;
    const name = fit(label, detail === '' ? columns - 4 : widest, measure);
    const rest = columns - 6 - Math.max(widest, measure(name));
    const tail = detail === '' || rest < 8 ? '' : `${' '.repeat(Math.max(0, widest - measure(name)) + 2)}${theme('dim', fit(detail, rest, measure))}`;
    return chosen ? `${theme('accent', '›')} ${theme('selected', theme('accent', name))}${tail}` : `  ${name}${tail}`;
  });
  const count = menu.items.length > room ? menu.selected === -1 ? `${menu.items.length} in all` : `${menu.selected + 1} of ${menu.items.length}` : '';
  const note = [count, menu.more ? 'still listing files' : ''].filter((part) => part !== '').join(', ');
  return note === '' ? lines : [...lines, theme('dim', fit(`  ${note}`, columns, measure))];
}

/** The keys in one column, or two where they fit: as many as there is room for, and how many more there are. In a narrow window only the first key of each. */
function helpLines(look: ComposerLook, most: number): readonly string[] {
  const { theme, columns, measure, keys } = look;
  const across = columns >= 100 ? 2 : 1;
  const room = Math.floor(columns / across) - 2;
  const all = columns >= NARROW ? keys.help : keys.help.map((line) => ({ ...line, keys: line.keys.split(', ', 1)[0] ?? '' }));
  const lines = all.length <= most * across ? all : all.slice(0, Math.max(1, most - 1) * across);
  const pad = Math.max(...lines.map((line) => measure(line.keys)));
  const cells = lines.map((line) => {
    const whole = fit(`${line.keys.padEnd(Math.min(pad, Math.floor(room / 2)))}  ${line.what}`, room, measure);
    return across === 1 ? whole : whole + ' '.repeat(Math.max(0, room - measure(whole)));
  });
  const height = Math.ceil(cells.length / across);
  const rows = Array.from({ length: height }, (_, row) => `  ${cells.filter((_, index) => index % height === row).join('  ')}`.trimEnd());
  const more = all.length - lines.length;
  return [...rows, ...(more === 0 ? [] : [fit(`  … ${more} more: /help lists all`, columns, measure)])].map((line) => theme('dim', line));
}

/** One line cut to the columns, an ellipsis at its end if something was cut; no grapheme is cut. */
function fit(line: string, columns: number, measure: Measure): string {
  if (measure(line) <= columns) return line;
  let out = '';
  let used = 0;
  for (const grapheme of graphemes(line)) {
    used += measure(grapheme);
    if (used > columns - 1) break;
    out += grapheme;
  }
  return columns < 1 ? '' : `${out}…`;
}
