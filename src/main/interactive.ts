import { messageOf, UserError } from '#lib/errors.ts';
import { sanitise } from '#lib/terminal.ts';
import { isWithin } from '#lib/within.ts';
import type { Entry, Event, PermissionMode } from '#domain/entry.ts';
import { attachmentsOf, undeliveredOf } from '#domain/folds.ts';
import type { Outcome } from '#domain/ports.ts';
import { keepHistory, readHistory } from '#session/history.ts';
import { interpret } from '#session/effects.ts';
import type { Completion, Controller, ScreenEvent } from '#ui/contract.ts';
import { commands } from '#commands/list.ts';
import type { Conversation } from './conversation.ts';
import { commandLine, dispatch, findCommand } from './dispatch.ts';
import { type Entrance, enterKey, leaveKey } from './entrance.ts';
import type { House } from './house.ts';
import { chooseModel, chooseSession } from './pickers.ts';
import type { Questions } from './questions.ts';
import { afterCompaction, statusOf } from './status.ts';

export interface InteractiveOptions {
  readonly house: House;
  readonly conversation: Conversation;
  readonly questions: Questions;
  readonly show: (event: ScreenEvent) => void;
  readonly completeFile: Controller['completeFile'];
  readonly keys: readonly { readonly keys: string; readonly what: string }[];
  /** The user wants to leave. */
  readonly onExit: () => void;
}

const MODES: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan'];
/** Events come in bursts; the status bar is reckoned once after each. */
const STATUS_MS = 60;

/** What the keyboard brings about: turns, commands, shell lines, one after the other. */
export class Interactive implements Controller, Entrance {
  readonly house: House;
  readonly conversation: Conversation;
  readonly questions: Questions;
  readonly show: (event: ScreenEvent) => void;
  readonly #options: InteractiveOptions;
  #running: AbortController | undefined;
  /** Lines that wait until the work in hand is done: commands that may not run beside a turn, shell lines. */
  #waiting: string[] = [];
  #statusTimer: NodeJS.Timeout | undefined;
  #left = false;

  constructor(options: InteractiveOptions) {
    this.#options = options;
    this.house = options.house;
    this.conversation = options.conversation;
    this.questions = options.questions;
    this.show = options.show;
  }

  submit(text: string): void {
    const line = text.trim();
    if (line === '') return;
    // A key may stand on that line, and history is a file.
    if (!line.startsWith('/login')) keepHistory(this.house.place.home.history, this.house.place.cwd, line);
    this.#take(line);
  }

  #take(line: string): void {
    const parsed = commandLine(line);
    const busy = this.#running !== undefined;
    if (parsed !== undefined) {
      const command = findCommand(commands, parsed.name);
      if (!busy || command === undefined || command.anytime === true) void this.#guard(() => this.#command(line));
      else this.#waiting.push(line);
    } else if (line.startsWith('!') && line.length > 1) {
      if (busy) this.#waiting.push(line);
      else void this.#work((signal) => this.#shell(line.slice(1).trim(), signal));
    } else if (busy) {
      this.added(() => { this.conversation.append([{ type: 'queued', text: line }]); });
    } else void this.#turn(line);
  }

  interrupt(): boolean {
    if (this.#running === undefined) return false;
    this.#running.abort(new Error('interrupted'));
    return true;
  }

  cycleMode(): void {
    const modes: readonly PermissionMode[] = this.house.args.permissionMode === 'bypassPermissions' ? [...MODES, 'bypassPermissions'] : MODES;
    this.setMode(modes[(modes.indexOf(this.conversation.mode()) + 1) % modes.length] ?? 'default');
  }

  setMode(mode: PermissionMode): void {
    this.added(() => { this.conversation.setMode(mode); });
    this.refresh();
  }

  takeBack(): string | undefined {
    const newest = undeliveredOf(this.conversation.session.log).at(-1);
    if (newest === undefined) return undefined;
    this.added(() => { this.conversation.append([{ type: 'unqueued', target: newest.id }]); });
    return newest.text;
  }

  answer(...args: Parameters<Controller['answer']>): void { this.questions.answer(...args); }

  pick(...args: Parameters<Controller['pick']>): void { this.questions.picked(...args); }

  secret(...args: Parameters<Controller['secret']>): void { this.questions.entered(...args); }

  completeFile(query: string): ReturnType<Controller['completeFile']> {
    return this.#options.completeFile(query);
  }

  async completeCommand(line: string): Promise<readonly Completion[]> {
    const space = line.search(/\s/);
    if (space === -1) return commands.filter(({ id }) => `/${id}`.startsWith(line)).map(({ id, summary, usage }) => ({ insert: `/${id}`, label: `/${id}${usage === undefined ? '' : ` ${usage}`}`, detail: summary }));
    const args = line.slice(space + 1);
    const word = args.slice(args.search(/\S*$/));
    const words = await findCommand(commands, line.slice(1, space))?.complete?.(args, this.#context()) ?? [];
    return words.filter((one) => one.startsWith(word) && one !== word).map((one) => ({ insert: one, label: one, ...(one.endsWith('/') && { more: true }) }));
  }

  history(): Promise<readonly string[]> {
    return Promise.resolve(readHistory(this.house.place.home.history, this.house.place.cwd));
  }

  exit(): void {
    this.#left = true;
    this.#running?.abort(new Error('interrupted'));
    clearTimeout(this.#statusTimer);
    this.#options.onExit();
  }

  /** Shows the entries that a task appends. */
  added(task: () => void): void {
    const { log } = this.conversation.session;
    const from = log.length;
    task();
    for (const entry of log.slice(from)) this.show({ type: 'entry', entry });
    this.refresh();
  }

  /** The session was changed for another one: the screen starts anew with it. */
  replay(): void {
    this.show({ type: 'replay', entries: this.conversation.session.log });
    for (const text of this.conversation.notices) this.show({ type: 'fault', where: 'session', message: text });
    this.refresh();
  }

  /** The status bar is reckoned anew, a moment later. */
  refresh(): void {
    if (this.#statusTimer !== undefined || this.#left) return;
    this.#statusTimer = setTimeout(() => {
      this.#statusTimer = undefined;
      void statusOf(this.house, this.conversation).then((status) => { if (!this.#left) this.show({ type: 'status', status }); }, () => undefined);
    }, STATUS_MS);
  }

  #turn(prompt: string | undefined): Promise<void> {
    return this.#work((signal) => this.#drain(this.conversation.turn(prompt, signal), signal));
  }

  /** One thing at a time; what waited meanwhile follows. */
  async #work(task: (signal: AbortSignal) => Promise<Outcome>): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    this.show({ type: 'busy', since: Date.now() });
    const outcome = await this.#guard(() => task(running.signal));
    this.#running = undefined;
    if (this.#left) return;
    this.show({ type: 'idle' });
    this.refresh();
    const next = this.#waiting.shift();
    if (next !== undefined) this.#take(next);
    else if ((outcome?.kind === 'answered' || outcome?.kind === 'interrupted') && undeliveredOf(this.conversation.session.log).length > 0) void this.#turn(undefined);
  }

  async #drain(events: AsyncGenerator<Event, Outcome>, signal: AbortSignal): Promise<Outcome> {
    let next = await events.next();
    for (; next.done !== true; next = await events.next()) {
      this.show(next.value);
      if (next.value.type !== 'entry') continue;
      this.refresh();
      if (next.value.entry.type === 'compaction') await this.#compacted(next.value.entry, signal);
    }
    return next.value;
  }

  async #compacted(entry: Extract<Entry, { type: 'compaction' }>, signal: AbortSignal): Promise<void> {
    const { kept, of, tokensAfter } = await afterCompaction(this.house, this.conversation.session, signal);
    this.show({ type: 'compacted', kept, of, tokensBefore: entry.tokensBefore, tokensAfter });
  }

  async #guard<T>(task: () => Promise<T>): Promise<T | undefined> {
    try {
      return await task();
    } catch (error) {
      this.show({ type: 'fault', where: error instanceof UserError ? 'pinion' : 'internal error', message: messageOf(error) });
      return undefined;
    }
  }

  async #shell(command: string, signal: AbortSignal): Promise<Outcome> {
    const { session } = this.conversation;
    this.show({ type: 'doing', what: `! ${sanitise(command.split('\n')[0] ?? '')}` });
    const { how, output, exitCode, cwd } = await this.house.tools.shell(session, command, signal);
    const moved = cwd !== undefined && cwd !== this.house.tools.cwd(session) && this.house.configuration.roots().some((root) => isWithin(root, cwd));
    this.added(() => {
      this.conversation.append([{ type: 'shell', command, output: how === 'exited' ? output : `${output}\n(${how === 'timedOut' ? 'timed out' : how})`.trim(), exitCode }, ...(moved ? [{ type: 'cwd' as const, path: cwd }] : [])]);
    });
    return { kind: 'answered' };
  }

  #context() {
    return this.conversation.context('screen', this.#options.keys);
  }

  async #command(line: string): Promise<void> {
    const parsed = commandLine(line);
    if (parsed === undefined) return;
    const effect = await dispatch(parsed, this.#context());
    await interpret(effect, line, {
      show: (shown, card) => { this.added(() => { this.conversation.append([{ type: 'command', line: shown, card }]); }); },
      append: (entries) => { this.added(() => { this.conversation.append(entries); }); },
      submit: (prompt) => this.#turn(prompt),
      compact: (keep) => this.#work((signal) => this.#drain(this.conversation.compact(keep, signal), signal)),
      mode: (mode) => { this.setMode(mode); },
      refuse: (_line, message) => { this.show({ type: 'fault', where: line.split(/\s/)[0] ?? line, message }); },
      exit: () => { this.exit(); },
      clear: async (all) => {
        const pins = all ? 0 : attachmentsOf(this.conversation.session.log).length;
        this.conversation.clear(all);
        this.replay();
        this.show({ type: 'card', card: { title: 'New session', ...(pins > 0 && { detail: 'your pins and open todos came along' }), body: [] } });
      },
      resume: async (id) => chooseSession(this, id),
      model: async (id) => chooseModel(this, id),
      login: async () => enterKey(this),
      logout: async () => leaveKey(this),
    });
  }
}
