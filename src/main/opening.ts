import { messageOf } from '#lib/errors.ts';
import type { Settings } from '#domain/settings.ts';
import type { Arguments } from '#cli/arguments.ts';
import { createFileIndex } from '#mentions/file-index.ts';
import { sweepBlobs } from '#session/blobs.ts';
import { sweepDrafts } from '#session/drafts.ts';
import { watchSettings } from '#watch/settings.ts';
import { type KeyTable, keyTable } from '#ui/keys.ts';
import { sweepTasks } from '#tools/shell/sweep.ts';
import type { ScreenEvent } from '#ui/contract.ts';
import { completeAt } from './complete-mention.ts';
import { configure } from './configuration.ts';
import { openConversation } from './conversation.ts';
import { askForTrust, banner, welcome } from './entrance.ts';
import { buildHouse, type Workers } from './house.ts';
import { Interactive } from './interactive.ts';
import { chooseSession } from './pickers.ts';
import { findPlace } from './place.ts';
import { createQuestions } from './questions.ts';
import { sessionToResume } from './resuming.ts';
import type { StatusLine } from './status-line/line.ts';

/** An interactive session before it has a face: a screen, or plain lines. */
export interface Opened {
  readonly interactive: Interactive;
  readonly keys: KeyTable;
  readonly settings: Settings;
  /** Resolves when the user wants to leave. */
  readonly left: Promise<void>;
  /** Says who shows what happens; what happened before is shown first. Then the session begins. `size`: of a window that has room for the person's own status line. */
  begin(show: (event: ScreenEvent) => void, size?: () => { readonly columns: number; readonly rows: number }): Promise<void>;
  /** Closes the log at once; safe from within a signal. */
  closeLog(): void;
  close(): Promise<void>;
}

export async function openInteractive(args: Arguments, workers: Workers): Promise<Opened> {
  const place = findPlace(process.env);
  const configuration = configure(place, args);
  const settings = configuration.settings();
  const keys = keyTable(settings.keys);
  const pending: ScreenEvent[] = [];
  let show = (event: ScreenEvent): void => { pending.push(event); };
  let statusLine: StatusLine | undefined;
  const tell = (event: ScreenEvent): void => {
    show(event);
    statusLine?.heard(event);
  };
  const fault = (where: string) => (message: string): void => { tell({ type: 'fault', where, message }); };
  const questions = createQuestions(tell);
  let emit = (_sequence: string): void => undefined;
  const house = buildHouse({ place, args, configuration, workers, asker: questions, emit: (sequence) => { emit(sequence); }, onNotice: fault(''), onHint: (text) => { tell({ type: 'card', card: { title: text, tone: 'muted', body: [] } }); }, onMention: (text) => { tell({ type: 'insert', text }); }, onEditor: () => { interactive.refresh(); }, tell: (session, event) => { interactive.tell(session, event); }, wake: (session) => { interactive.wake(session); } });
  const conversation = openConversation(house, await sessionToResume(args, place));
  const index = createFileIndex({ root: place.cwd, respectGitignore: settings.respectGitignore, workerUrl: workers.index });
  let leave = (): void => undefined;
  const left = new Promise<void>((resolve) => { leave = resolve; });
  const interactive = new Interactive({ house, conversation, questions, show: tell, keys: keys.help, completeFile: (query) => completeAt(house, conversation.session, index, query), onExit: () => { leave(); } });
  let watching: ReturnType<typeof watchSettings> | undefined;
  return {
    interactive, keys, settings, left,
    async begin(face, size) {
      show = face;
      // A terminal that can only print lines is sent none.
      if (size !== undefined) emit = (sequence) => { if (process.stdout.isTTY) process.stdout.write(sequence); };
      for (const event of pending) show(event);
      // The index is made while the user reads the first lines.
      void index.search('', 1);
      watching = watchSettings([...configuration.files, ...house.mcp.files], (file) => {
        void reload(interactive, file).then(() => { statusLine?.reread(); });
      }, fault('settings'));
      await start(interactive, args, [...configuration.warnings(), ...keys.faults], async (agreed) => {
        if (size === undefined) return;
        const { hangStatusLine } = await import('./status-line/line.ts');
        statusLine = hangStatusLine({ interactive, show, size });
        await statusLine.start(agreed).catch((error: unknown) => { fault('status line')(messageOf(error)); });
      });
    },
    closeLog: () => { conversation.close(); },
    async close() {
      await conversation.leave('prompt_input_exit');
      conversation.close();
      statusLine?.close();
      await Promise.all([index.close(), watching?.then((watch) => watch.close())]);
      house.close();
    },
  };
}

/** What happens before the first prompt: banner, questions at the door, the earlier conversation, pins, a prompt that came along. */
async function start(interactive: Interactive, args: Arguments, warnings: readonly string[], drawStatusLine: (agreed: 'kept' | 'once' | undefined) => Promise<void>): Promise<void> {
  const { house, conversation, show } = interactive;
  if (conversation.session.log.length > 0) interactive.replay();
  else banner(interactive);
  for (const message of warnings) show({ type: 'fault', where: 'settings', message });
  for (const message of sweepDrafts(house.place.home.drafts)) show({ type: 'fault', where: 'files', message });
  interactive.refresh();
  const trusted = house.configuration.isTrusted();
  await askForTrust(interactive);
  await (await import('./mcp/door.ts')).askForServers(interactive);
  await (await import('./hooks/door.ts')).askForHooks(interactive);
  await (await import('./language-door.ts')).askForLanguages(interactive);
  house.start();
  interactive.begun();
  void drawStatusLine(args.trust ? 'once' : !trusted && house.configuration.isTrusted() ? 'kept' : undefined);
  await welcome(interactive);
  if (args.resume === true) await chooseSession(interactive, undefined);
  const unpinned = await conversation.pin(args.pin);
  for (const message of unpinned) show({ type: 'fault', where: '--pin', message });
  interactive.refresh();
  if (args.prompt !== undefined) interactive.submit(args.prompt);
  void house.desk.warm();
  sweepBlobs(house.place.home.blobs);
  sweepTasks(house.place.home.tasks);
}

/** A settings file was saved: rules and the rest hold from now on. */
async function reload(interactive: Interactive, file: string): Promise<void> {
  const { house, show, conversation } = interactive;
  const stop = await house.hooks.configChanged(file, conversation.session);
  if (stop !== undefined) return show({ type: 'fault', where: 'settings', message: `${file} was changed, and is not taken up now: ${stop}` });
  const before = new Set(house.configuration.warnings());
  house.configuration.reload();
  house.mcp.start();
  for (const message of house.configuration.warnings()) if (!before.has(message)) show({ type: 'fault', where: 'settings', message });
  house.hooks.reloaded(conversation.session);
  interactive.refresh();
  return undefined;
}
