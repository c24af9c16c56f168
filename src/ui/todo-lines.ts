import type { TodoItem, TodoState } from '#domain/attachment.ts';
import { sanitise } from '#lib/terminal.ts';
import { clip } from './lines.ts';
import type { Pen } from './pen.ts';

const MARKS: Readonly<Record<TodoState, string>> = { open: '☐', active: '▸', done: '☑' };

/** The todo panel in at most `rows` lines; where there is not room for all, what is to be done next stays in sight. */
export function drawTodos(items: readonly TodoItem[], rows: number, { theme, columns, keys }: Pen): readonly string[] {
  if (items.length === 0 || rows <= 0) return [];
  const done = items.filter(({ state }) => state === 'done').length;
  const key = keys.label('toggleTodos');
  const title = clip(theme('dim', `todos ${done}/${items.length}${key === undefined ? '' : ` · ${key} hides them`}`), columns);
  const room = rows - 1;
  if (room <= 0 || done === items.length) return [title];
  const next = items.findIndex(({ state }) => state === 'active');
  const at = next === -1 ? items.findIndex(({ state }) => state === 'open') : next;
  const whole = items.length <= room;
  const shown = whole ? items.length : Math.max(1, room - 1);
  const from = whole ? 0 : Math.max(0, Math.min(at - 1, items.length - shown));
  const lines = items.slice(from, from + shown).map(({ text, state, by }) => {
    const words = sanitise(text, { newlines: false, tabs: 4 });
    const painted = state === 'done' ? theme('dim', words) : state === 'active' ? theme('strong', words) : words;
    return clip(`  ${theme(state === 'done' ? 'good' : 'accent', MARKS[state])} ${painted}${by === 'user' ? theme('dim', ' (yours)') : ''}`, columns);
  });
  const more = whole || room < 2 ? [] : [clip(theme('dim', `  … ${items.length - shown} more`), columns)];
  return [title, ...lines, ...more];
}
