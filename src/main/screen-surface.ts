import { count } from '#lib/text.ts';
import { attachmentsOf } from '#domain/folds.ts';
import type { PermissionMode } from '#domain/entry.ts';
import type { Outcome } from '#domain/ports.ts';
import type { Surface } from '#session/effects.ts';
import type { Conversation } from './conversation.ts';
import { type Entrance, enterKey, leaveKey } from './entrance.ts';
import { doInEditor } from './in-editor.ts';
import { chooseModel, chooseSession } from './pickers.ts';
import { chooseWaiting, type QueueDesk } from './waiting.ts';

/** The screen's side of a session, as commands need it. */
export interface CommandDesk extends Entrance, Pick<QueueDesk, 'waiting' | 'takeBack'> {
  readonly conversation: Conversation;
  /** Does something that adds to the log, and shows what was added. */
  added(task: () => void): void;
  setMode(mode: PermissionMode): void;
  replay(): void;
  exit(): void;
}

/** What only the one who takes the lines can do. */
export interface LineDoors {
  turn(prompt: string, shown?: string): Promise<void>;
  /** The line has its turn when the work in hand is done. */
  hold(): void;
  compact(keep: string): Promise<Outcome | undefined>;
}

/** What a command that was entered at the screen can bring about. */
export function createSurface(at: CommandDesk, { line, name }: { readonly line: string; readonly name: string }, doors: LineDoors): Surface {
  const entered = (): void => { at.show({ type: 'line', line }); };
  const refuse = (message: string): void => { at.show({ type: 'fault', where: `/${name}`, message }); };
  return {
    show: (shown, card) => { at.added(() => { at.conversation.append([{ type: 'command', line: shown, card }]); }); },
    append: (entries) => { at.added(() => { at.conversation.append(entries); }); },
    submit: (prompt, shown) => doors.turn(prompt, shown),
    // Found by a look that was newer than the last: its turn comes.
    invoke: async () => { doors.hold(); },
    stopTask: (id) => stopTask(at, id, refuse),
    edit: async (file) => {
      const problem = await at.questions.edit(file);
      if (problem !== undefined) refuse(problem);
      at.refresh();
    },
    takeBack: (ids, how) => takeBack(at, ids, how, refuse),
    compact: async (keep) => {
      const outcome = await doors.compact(keep);
      if (outcome?.kind === 'interrupted') refuse('interrupted; the conversation is as it was.');
      else if (outcome !== undefined && 'message' in outcome) refuse(outcome.message);
    },
    mode: (mode) => {
      at.setMode(mode);
      at.show({ type: 'card', card: mode === 'plan' ? { title: 'Plan mode is on', detail: 'the model reads and thinks, and changes nothing', body: [] } : { title: 'Plan mode is off', body: [] } });
    },
    ide: (what) => doInEditor(at, what, refuse),
    refuse: (_line, message) => { refuse(message); },
    exit: () => { at.exit(); },
    clear: async (all) => {
      const pins = all ? 0 : attachmentsOf(at.conversation.session.log).length;
      at.conversation.clear(all);
      at.replay();
      entered();
      at.show({ type: 'card', card: { title: 'New session', ...(pins > 0 && { detail: 'your pins and open todos came along' }), body: [] } });
    },
    resume: async (id) => chooseSession(at, id),
    model: async (id) => chooseModel(at, id),
    login: async () => enterKey(at),
    languages: async (what, server) => (await import('./language-actions.ts')).actOnLanguages(at, what, server),
    logout: async () => leaveKey(at),
    configure: async (change) => (await import('./settings/config-chooser.ts')).chooseSetting(at, change),
    import: async (wanted) => (await import('./settings/import-chooser.ts')).importHere(at, wanted),
    hooks: async (what) => { at.show({ type: 'card', card: { title: await (await import('./hooks/door.ts')).decideOnHooks(at, what), body: [] } }); },
    mcp: async (what, server) => (await import('./mcp/actions.ts')).actOnServer(at, what, server),
  };
}

async function stopTask(at: CommandDesk, id: string, refuse: (message: string) => void): Promise<void> {
  const stopped = await at.house.tasks.stop(id, at.conversation.session);
  if ('problem' in stopped) refuse(stopped.problem);
  else at.show({ type: 'card', card: { title: `Stopped: ${stopped.task.title}`, body: [] } });
}

async function takeBack(at: CommandDesk, ids: readonly string[] | undefined, how: 'edit' | 'remove', refuse: (message: string) => void): Promise<void> {
  if (ids === undefined) return chooseWaiting(at);
  const texts = ids.map((id) => at.takeBack(id)).filter((text) => text !== undefined);
  const gone = ids.length - texts.length;
  if (gone > 0) refuse(ids.length === 1 ? 'that line has been sent already.' : `${count(gone, 'line')} of these ${gone === 1 ? 'has' : 'have'} been sent already.`);
  if (how === 'edit' && texts[0] !== undefined) at.show({ type: 'draft', text: texts[0] });
  else if (texts.length > 0) at.show({ type: 'card', card: { title: 'Removed from the queue', body: [{ type: 'list', items: texts }] } });
  return undefined;
}
