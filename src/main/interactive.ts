import { messageOf, UserError } from '#lib/errors.ts';
import type { Effect } from '#domain/command.ts';
import type { Entry, EntryId, Event, PermissionMode } from '#domain/entry.ts';
import { undeliveredOf } from '#domain/folds.ts';
import type { Outcome } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import { keepHistory, readHistory } from '#session/history.ts';
import { interpret } from '#session/effects.ts';
import type { Completion, Controller, ScreenEvent, Waiting } from '#ui/contract.ts';
import { commands } from '#commands/list.ts';
import { completeCommand } from './complete-command.ts';
import { hasUntoldEnd } from './beside.ts';
import type { Conversation } from './conversation.ts';
import { type CommandLine, commandLine, dispatch, findCommand } from './dispatch.ts';
import type { Entrance } from './entrance.ts';
import { giveBack, queueWords } from './hooks/words.ts';
import type { House } from './house.ts';
import type { Questions } from './questions.ts';
import { createSurface } from './screen-surface.ts';
import { runShellLine } from './shell-line.ts';
import { afterCompaction, statusOf } from './status.ts';
import { chooseWaiting, type Held, waitingIn } from './waiting.ts';

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

const MODES: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan', 'auto'];
/** What brings the line that was entered onto the screen by itself, or is not to leave one there. */
const SHOWS_ITS_LINE: ReadonlySet<Effect['type']> = new Set(['show', 'append', 'submit', 'invoke', 'clear', 'exit']);
/** Events come in bursts; the status bar is reckoned once after each. */
const STATUS_MS = 60;
/** After so long without a word from the person, hooks are told that they are waited for. */
const REST_MS = 60_000;

/** What the keyboard brings about: turns, commands, shell lines, one after the other. */
export class Interactive implements Controller, Entrance {
  readonly house: House;
  readonly conversation: Conversation;
  readonly questions: Questions;
  readonly show: (event: ScreenEvent) => void;
  readonly #options: InteractiveOptions;
  #running: AbortController | undefined;
  /** Lines that wait until the work in hand is done: commands that may not run beside a turn, shell lines. */
  #held: Held[] = [];
  #holdings = 0;
  /** Something happened beside the turn that is being taken. */
  #woken = false;
  #statusTimer: NodeJS.Timeout | undefined;
  #restTimer: NodeJS.Timeout | undefined;
  #left = false;
  /** Whether the questions at the door are answered: until then nothing is sent or run. */
  #begun = false;

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
    const parsed = commandLine(line);
    if (this.#begun || (parsed !== undefined && findCommand(commands, parsed.name) !== undefined)) this.#take(line);
    else this.#hold(line);
  }

  /** What the folder brings along is in effect, as far as it was agreed to: what was entered meanwhile follows. */
  begun(): void {
    this.#begun = true;
    const waiting = this.#held.splice(0);
    if (waiting.length === 0) return;
    this.#showHeld();
    for (const { text } of waiting) this.#take(text);
  }

  #take(line: string): void {
    const parsed = commandLine(line);
    const busy = this.#running !== undefined;
    if (parsed !== undefined) {
      const command = findCommand(commands, parsed.name);
      if (command === undefined) this.#takeSkill(line, parsed);
      else if (!busy || command.anytime === true) void this.#guard(() => this.#command(line), `/${parsed.name}`);
      else this.#hold(line);
    } else if (line.startsWith('!') && line.length > 1) {
      if (busy) this.#hold(line);
      else void this.#work((signal) => runShellLine(this, line.slice(1).trim(), signal));
    } else if (busy) void this.#queue(line);
    else void this.#turn(line);
  }

  /** The turn may have ended while hooks were asked. */
  async #queue(line: string): Promise<void> {
    if (await queueWords(this, line) && this.#running === undefined && !this.#left) void this.#turn(undefined);
  }

  /** A name that is no built-in command's may be a skill's. That takes a look at the disk, during which no other line may go ahead. */
  #takeSkill(line: string, parsed: CommandLine): void {
    if (this.#running === undefined) void this.#work((signal) => this.#invoke(line, parsed, signal)).then((outcome) => { giveBack(this, outcome, line); });
    else if (this.house.skills.known(this.conversation.session).some(({ name }) => name === parsed.name)) this.#hold(line);
    else {
      void this.#guard(async () => {
        await this.conversation.commands();
        await this.#command(line);
      }, `/${parsed.name}`);
    }
  }

  async #invoke(line: string, { name, args }: CommandLine, signal: AbortSignal): Promise<Outcome> {
    if (findCommand(await this.conversation.commands(), name) === undefined) {
      await this.#command(line);
      return { kind: 'answered' };
    }
    const refuse = (message: string): void => {
      this.show({ type: 'line', line });
      this.show({ type: 'fault', where: `/${name}`, message });
    };
    return this.#drain(this.conversation.invoke(name, args, line, signal, refuse), signal);
  }

  interrupt(): boolean {
    if (this.#running === undefined) return false;
    this.#running.abort(new Error('interrupted'));
    return true;
  }

  cycleMode(): void {
    const offered = this.house.configuration.settings().disableAutoMode ? MODES.filter((mode) => mode !== 'auto') : MODES;
    const modes: readonly PermissionMode[] = this.house.args.permissionMode === 'bypassPermissions' ? [...offered, 'bypassPermissions'] : offered;
    this.setMode(modes[(modes.indexOf(this.conversation.mode()) + 1) % modes.length] ?? 'default');
  }

  background(): boolean {
    return this.house.tasks.background(this.conversation.session);
  }

  /** Entries that came beside a turn are shown; those of a session that is not held are not. */
  tell(session: Session, event: Event): void {
    if (session.id !== this.conversation.session.id) return;
    this.show(event);
    this.refresh();
  }

  /** What waits to be delivered begins a turn of its own when nothing else is going on. */
  wake(session: Session): void {
    if (session.id !== this.conversation.session.id || this.#left) return;
    if (this.#running === undefined) void this.#turn(undefined);
    else this.#woken = true;
  }

  setMode(mode: PermissionMode): void {
    this.added(() => { this.conversation.setMode(mode); });
    this.refresh();
  }

  waiting(): readonly Waiting[] {
    return waitingIn(this.conversation.session.log, this.#held);
  }

  /** The line of this id, or the newest, waits no more. */
  takeBack(id?: string): string | undefined {
    const all = this.waiting();
    const line = id === undefined ? all.at(-1) : all.find((one) => one.id === id);
    if (line === undefined) return undefined;
    if (this.#held.some((held) => held.id === line.id)) {
      this.#held = this.#held.filter((held) => held.id !== line.id);
      this.#showHeld();
    } else this.added(() => { this.conversation.append([{ type: 'unqueued', target: line.id as EntryId }]); });
    return line.text;
  }

  queue(): boolean {
    if (this.waiting().length === 0) return false;
    void chooseWaiting(this);
    return true;
  }

  answer(...args: Parameters<Controller['answer']>): void { this.questions.answer(...args); }

  pick(...args: Parameters<Controller['pick']>): void { this.questions.picked(...args); }

  secret(...args: Parameters<Controller['secret']>): void { this.questions.entered(...args); }

  chosen(...args: Parameters<Controller['chosen']>): void { this.questions.chosen(...args); }

  edited(...args: Parameters<Controller['edited']>): void { this.questions.edited(...args); }

  completeFile(query: string): ReturnType<Controller['completeFile']> {
    return this.#options.completeFile(query);
  }

  async completeCommand(line: string): Promise<readonly Completion[]> {
    await this.conversation.commands();
    return completeCommand(line, this.#context());
  }

  history(): Promise<readonly string[]> {
    return Promise.resolve(readHistory(this.house.place.home.history, this.house.place.cwd));
  }

  exit(): void {
    this.#left = true;
    this.#running?.abort(new Error('interrupted'));
    clearTimeout(this.#statusTimer);
    clearTimeout(this.#restTimer);
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

  async #turn(prompt: Parameters<Conversation['turn']>[0], shown?: string): Promise<void> {
    giveBack(this, await this.#work((signal) => this.#drain(this.conversation.turn(prompt, signal, shown), signal)), shown ?? prompt);
  }

  /** One thing at a time; what waited meanwhile follows. */
  async #work(task: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome | undefined> {
    const running = new AbortController();
    this.#running = running;
    const since = this.conversation.session.log.length;
    this.show({ type: 'busy', since: Date.now() });
    clearTimeout(this.#restTimer);
    const outcome = await this.#guard(() => task(running.signal));
    this.#running = undefined;
    if (this.#left) return outcome;
    this.show({ type: 'idle' });
    this.refresh();
    const { session } = this.conversation;
    this.#restTimer = setTimeout(() => { this.house.hooks.notify('idle_prompt', 'Pinion is waiting for your input', session); }, REST_MS).unref();
    const news = this.#woken && outcome?.kind === 'answered' && (this.house.agents.hasMail(session) || hasUntoldEnd(session.log, since));
    this.#woken = false;
    const next = this.#held.shift();
    if (next !== undefined) {
      this.#showHeld();
      this.#take(next.text);
    } else if (news || ((outcome?.kind === 'answered' || outcome?.kind === 'interrupted') && undeliveredOf(this.conversation.session.log).length > 0)) void this.#turn(undefined);
    return outcome;
  }

  #hold(line: string): void {
    this.#held.push({ id: `held-${(this.#holdings += 1)}`, text: line, after: this.conversation.session.log.length });
    this.#showHeld();
  }

  #showHeld(): void {
    this.show({ type: 'held', lines: this.#held.map(({ id, text }) => ({ id, text })) });
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

  async #guard<T>(task: () => Promise<T>, where = 'pinion'): Promise<T | undefined> {
    try {
      return await task();
    } catch (error) {
      this.show({ type: 'fault', where: error instanceof UserError ? where : 'internal error', message: messageOf(error) });
      return undefined;
    }
  }

  #context() {
    return { ...this.conversation.context('screen', this.#options.keys), waiting: () => this.waiting() };
  }

  async #command(line: string): Promise<void> {
    const parsed = commandLine(line);
    if (parsed === undefined) return;
    const effect = await dispatch(parsed, this.#context());
    if (!SHOWS_ITS_LINE.has(effect.type)) this.show({ type: 'line', line });
    await interpret(effect, line, createSurface(this, { line, name: parsed.name }, {
      turn: (prompt, shown) => this.#turn(prompt, shown),
      hold: () => { this.#hold(line); },
      compact: (keep) => this.#work((signal) => this.#drain(this.conversation.compact(keep, signal), signal)),
    }));
  }
}
