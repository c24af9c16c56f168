import type { SessionUpdate, StopReason } from '@agentclientprotocol/sdk';
import { pathToFileURL } from 'node:url';
import { cardMarkdown, plain } from '#acp/markdown.ts';
import type { Card } from '#domain/card.ts';
import type { Event, PermissionMode } from '#domain/entry.ts';
import type { Outcome } from '#domain/ports.ts';
import type { CallId } from '#domain/tool.ts';
import { UserError } from '#lib/errors.ts';
import { isWithin } from '#lib/within.ts';
import { interpret, type Surface } from '#session/effects.ts';
import { sanitise } from '#lib/terminal.ts';
import { createAcpEntrance } from './entrance.ts';
import type { AcpAsker } from './questions.ts';
import type { Conversation } from '#main/conversation.ts';
import { type CommandLine, dispatch } from '#main/dispatch.ts';
import type { Entrance } from '#main/entrance.ts';
import type { House } from '#main/house.ts';
import { chooseModel } from '#main/pickers.ts';

/** What a command needs of the session in which it is entered. */
export interface Entered {
  readonly house: House;
  readonly conversation: Conversation;
  readonly asker: AcpAsker;
  send(update: SessionUpdate): Promise<void>;
  tell(event: Event): Promise<void>;
  /** Tells the entries that a task appends. */
  added(task: () => void): Promise<void>;
  /** Runs a turn to its end and tells of it. */
  drain(events: AsyncGenerator<Event, Outcome>): Promise<StopReason>;
  setMode(mode: PermissionMode): Promise<void>;
  /** Mode or model is another. */
  tellConfig(): Promise<void>;
}

/** Runs a slash command; what it shows is a message. */
export async function runAcpCommand(at: Entered, line: string, parsed: CommandLine, signal: AbortSignal): Promise<StopReason> {
  await at.conversation.commands();
  const run: Run = { at, name: parsed.name, signal, reason: 'end_turn', told: [] };
  const surface = surfaceOf(run);
  try {
    await interpret(await dispatch(parsed, at.conversation.context('print', [])), line, surface);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    surface.refuse(line, error.message);
  }
  await Promise.all(run.told);
  return run.reason;
}

interface Run {
  readonly at: Entered;
  readonly name: string;
  readonly signal: AbortSignal;
  /** How the turn ended that the command led to. */
  reason: StopReason;
  /** What is on its way to the client: it goes before the answer. */
  readonly told: Promise<void>[];
}

function surfaceOf(run: Run): Surface {
  const { at, name, signal } = run;
  const { conversation, house } = at;
  const tell = (text: string): Promise<void> => at.send({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `${text}\n\n` } });
  const later = (task: Promise<void>): void => { run.told.push(task); };
  const refuse = (message: string): void => { later(tell(`> /${plain(name)}: ${plain(message)}`)); };
  const unable = (message: string) => async (): Promise<void> => { refuse(message); };
  const card = (shown: Card): void => { later(tell(cardMarkdown(shown))); };
  const entrance = (): Entrance => createAcpEntrance({ house, asker: at.asker, signal, show: card, say: (text) => { later(tell(text)); }, refresh: () => { later(at.tellConfig()); } });
  return {
    show: (line, shown) => { later(at.added(() => { conversation.append([{ type: 'command', line, card: shown }]); })); },
    append: (entries) => { later(at.added(() => { conversation.append(entries); })); },
    async submit(prompt, shown) { run.reason = await at.drain(conversation.turn(prompt, signal, shown)); },
    async invoke(skill, args, line) { run.reason = await at.drain(conversation.invoke(skill, args, line, signal, refuse)); },
    async compact(keep) { run.reason = await at.drain(conversation.compact(keep, signal)); },
    mode(mode: PermissionMode) {
      later(at.setMode(mode).then(() => tell(cardMarkdown(mode === 'plan' ? { title: 'Plan mode is on', detail: 'the model reads and thinks, and changes nothing', body: [] } : { title: `Mode: ${mode}`, body: [] }))));
    },
    refuse: (_line, message) => { refuse(message); },
    async stopTask(id) {
      const stopped = await house.tasks.stop(id, conversation.session);
      if ('problem' in stopped) refuse(stopped.problem);
      else card({ title: `Stopped: ${stopped.task.title}`, body: [] });
    },
    edit: (file) => tell(`[${plain(file)}](${pathToFileURL(file).href})`),
    model: async (id) => chooseModel(entrance(), id),
    configure: async (change) => (await import('#main/settings/config-chooser.ts')).chooseSetting(entrance(), change),
    import: async (wanted) => (await import('#main/settings/import-chooser.ts')).importHere(entrance(), wanted),
    languages: async (what, server) => (await import('#main/language-actions.ts')).actOnLanguages(entrance(), what, server),
    mcp: async (what, server) => (await import('#main/mcp/actions.ts')).actOnServer(entrance(), what, server),
    hooks: async (what) => { card({ title: await (await import('#main/hooks/door.ts')).decideOnHooks(entrance(), what), body: [] }); },
    exit: () => { refuse('close the conversation in your editor; it is kept.'); },
    ide: unable('this conversation is with your editor already.'),
    takeBack: unable('what waits here is your editor\'s.'),
    clear: unable('begin a new conversation in your editor; /unpin and /todo change what is in view.'),
    resume: unable('choose the conversation in your editor, or use pinion -r in a terminal.'),
    login: unable('run pinion acp --login in a terminal, or set ANTHROPIC_API_KEY for the program that your editor starts.'),
    logout: unable('run pinion in a terminal and use /logout there.'),
  };
}

/** Runs a command for the user: its output goes to the model with the next prompt. */
export async function runAcpShell(at: Entered, command: string, signal: AbortSignal): Promise<StopReason> {
  const { conversation, house } = at;
  const { session } = conversation;
  const callId = `shell-${session.log.length}` as CallId;
  const title = `! ${sanitise(command.split('\n')[0] ?? '', { newlines: false })}`;
  await at.tell({ type: 'toolStarted', call: { id: callId, tool: 'Bash', input: { command } }, card: { title, body: [] } });
  const { how, output, bytes, exitCode, cwd, task } = await house.tasks.shell(session, command, signal, (text) => { void at.tell({ type: 'toolProgress', callId, text }); });
  const moved = cwd !== undefined && cwd !== house.tools.cwd(session) && house.configuration.roots().some((root) => isWithin(root, cwd));
  if (moved) house.hooks.moved(house.tools.cwd(session), cwd, session);
  const whole = how === 'exited' || task !== undefined ? output : `${output.trimEnd()}\n(${how === 'timedOut' ? 'timed out' : how})`.trim();
  conversation.append([
    { type: 'shell', command, output: whole, exitCode, ...(task !== undefined && { task: task.id }) },
    ...(task === undefined ? [] : [{ type: 'taskRead' as const, task: task.id, upTo: bytes }]), ...(moved ? [{ type: 'cwd' as const, path: cwd }] : []),
  ]);
  const card: Card = { title, ...(exitCode !== 0 && { detail: exitCode === null ? how : `exit code ${exitCode}` }), body: [{ type: 'code', text: whole }] };
  await at.tell({ type: 'entry', entry: { id: '' as never, at: '', type: 'toolResult', callId, tool: 'Bash', result: { kind: exitCode === 0 ? 'ok' : 'failed', content: [], card } } });
  return signal.aborted ? 'cancelled' : 'end_turn';
}
