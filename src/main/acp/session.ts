import { type AgentContext, type AvailableCommand, type ClientCapabilities, type ContentBlock, methods, RequestError, type SessionConfigOption, type SessionModeState, type SessionUpdate, type StopReason } from '@agentclientprotocol/sdk';
import { commandsOffered, configOptions, modesOffered, modeState, OPTIONS } from '#acp/offers.ts';
import { stopReasonOf } from '#acp/outcome.ts';
import { promptOf, type PromptParts } from '#acp/prompt.ts';
import { createNarrator, type Narrator } from '#acp/updates.ts';
import type { Arguments } from '#cli/arguments.ts';
import { textEnvelope } from '#documents/envelope.ts';
import type { Entry, Event, PermissionMode } from '#domain/entry.ts';
import type { Outcome } from '#domain/ports.ts';
import { mentionText } from '#mentions/quote.ts';
import { relativeWithin } from '#lib/within.ts';
import type { SettingsWatch } from '#watch/settings.ts';
import { bodyOf, isOwnCommand, withLinks } from './blocks.ts';
import { createDoor, type Door, followSettings } from './door.ts';
import { createAcpEntrance } from './entrance.ts';
import { type AcpAsker, createAcpAsker } from './questions.ts';
import { type Entered, runAcpCommand, runAcpShell } from './commands.ts';
import { titleUpdate, usageUpdate } from './tidings.ts';
import { createTurns } from './turns.ts';
import { hasUntoldEnd } from '#main/beside.ts';
import { configure } from '#main/configuration.ts';
import { type Conversation, openConversation } from '#main/conversation.ts';
import { type CommandLine, commandLine, findCommand } from '#main/dispatch.ts';
import type { Entrance } from '#main/entrance.ts';
import { buildHouse, type House, type Workers } from '#main/house.ts';
import type { Place } from '#main/place.ts';

export interface AcpSessionOptions {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly args: Arguments;
  readonly workers: Workers;
  readonly place: Place;
  /** A stored session to go on with, and by which id the client knows it. */
  readonly stored?: { readonly file: string; readonly id: string };
}

/** How long the end of a session waits for what is being done in it. */
const MOST_CLOSING_MS = 2000;
/** How long the editor may take to say what it holds of a file. */
const BUFFER_MS = 1000;

/** One session of the client: a house of its own for its folder, and what is done in it, one thing after the other. */
export class AcpSession implements Entered {
  readonly id: string;
  readonly house: House;
  readonly conversation: Conversation;
  readonly #options: AcpSessionOptions;
  readonly asker: AcpAsker;
  readonly #door: Door;
  #watching: Promise<SettingsWatch> | undefined;
  readonly #narrator: Narrator;
  readonly #notices: string[] = [];
  readonly #turns = createTurns();
  /** Something happened beside the turn that is being taken. */
  #woken = false;
  #greeted = false;
  #offered: readonly AvailableCommand[] = [];
  /** What the client was told of what can be set. */
  #configured = '';
  #silent = false;
  #unsaved: string | undefined;
  #closed = false;

  /** Throws a UserError where the folder or the model cannot be used. */
  constructor(options: AcpSessionOptions) {
    this.#options = options;
    const { client, capabilities, args, workers, stored, place } = options;
    const configuration = configure(place, args);
    this.asker = createAcpAsker({
      client, sessionId: () => this.id, cwd: () => this.#cwd(), auto: () => this.#modes().includes('auto'), forms: has(capabilities.elicitation?.form), send: (update) => this.send(update),
    });
    this.house = buildHouse({
      place, args, configuration, workers, asker: this.asker, onNotice: (text) => { this.#notice(text); }, tell: (session, event) => { if (session.id === this.conversation.session.id) void this.tell(event); },
      wake: (session) => { if (session.id === this.conversation.session.id) this.#wake(); },
      ...(capabilities.fs?.readTextFile === true && { buffers: (path: string, signal: AbortSignal) => this.#buffer(path, signal) }),
    });
    try {
      this.conversation = openConversation(this.house, stored?.file);
    } catch (error) {
      this.house.close();
      throw error;
    }
    this.id = stored?.id ?? this.conversation.session.id;
    this.#narrator = createNarrator({
      cwd: () => this.#cwd(), log: () => this.conversation.session.log, notices: has(capabilities.session?.notices), compactions: has(capabilities.session?.compaction),
      picture: ({ blob }) => this.house.blobs.get(blob.hash),
    });
    this.#door = createDoor(this.house, (text) => { this.#notice(text); });
  }

  /** What the client is told of a session that it has just got. */
  modes(): SessionModeState {
    return modeState(this.#modes(), this.conversation.mode());
  }

  config(): SessionConfigOption[] {
    const { desk } = this.house;
    const options = configOptions(this.modes(), desk.models(), desk.facts());
    this.#configured = JSON.stringify(options);
    return options;
  }

  /** What is said once the client knows the session: commands, and what went wrong so far. */
  async greet(): Promise<void> {
    this.#greeted = true;
    for (const text of [...this.conversation.notices, ...this.house.configuration.warnings(), ...this.#notices.splice(0)]) await this.tell({ type: 'fault', where: '', message: text });
    await this.#offer();
    await this.#door.open();
    void this.house.desk.warm();
    if (!this.#closed) this.#watching = followSettings(this, (text) => { this.#notice(text); }, () => { void this.tellConfig(); });
  }

  /** Shows the conversation so far. */
  async retell(): Promise<void> {
    for (const update of this.#narrator.retell(this.conversation.session.log)) await this.send(update);
    await this.#usage();
  }

  /** Answers a prompt. Resolves when its turn is over; throws a RequestError where it failed. */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const { paths } = this.house.tools;
    const command = isOwnCommand(blocks);
    const parts = promptOf(await withLinks(blocks, command, (path) => paths.lookUp(path, this.#cwd())), {
      mention: (path) => this.#named(path, command), label: (path) => paths.look(path, this.#cwd()).label, envelope: textEnvelope,
    });
    if (parts.line === '' && parts.context === '' && parts.pictures.length === 0) throw RequestError.invalidParams(undefined, 'The prompt is empty.');
    const parsed = parts.context === '' && parts.pictures.length === 0 ? commandLine(parts.line) : undefined;
    if (parsed !== undefined && this.#turns.busy() && findCommand(await this.conversation.commands(), parsed.name)?.anytime === true) return runAcpCommand(this, parts.line, parsed, signal);
    return this.#inTurn(signal, (own) => this.#answer(parts, parsed, own));
  }

  /** Ends what is being done, and what waits. */
  cancel(): void {
    this.#turns.cancel();
  }

  /** Throws a RequestError for a mode that is not offered. */
  async setMode(id: string): Promise<void> {
    const mode = this.#modes().find((one) => one === id);
    if (mode === undefined) throw RequestError.invalidParams(undefined, `There is no mode ${id}; there are ${this.#modes().join(', ')}.`);
    this.conversation.setMode(mode);
    await this.send({ sessionUpdate: 'current_mode_update', currentModeId: mode });
    await this.tellConfig();
  }

  /** Throws a RequestError for an option that there is not, and a UserError for a model that cannot be reached. */
  async setOption(id: string, value: string | boolean): Promise<void> {
    if (typeof value !== 'string') throw RequestError.invalidParams(undefined, `${id} takes one of its values.`);
    if (id === OPTIONS.mode) return this.setMode(value);
    if (id !== OPTIONS.model) throw RequestError.invalidParams(undefined, `There is no option ${id}.`);
    this.house.desk.choose(value);
    return this.tellConfig();
  }

  /** Tells mode and model, where they are others than the client was told. */
  async tellConfig(): Promise<void> {
    const before = this.#configured;
    const options = this.config();
    if (before !== this.#configured) await this.send({ sessionUpdate: 'config_option_update', configOptions: options });
  }

  async tell(event: Event): Promise<void> {
    for (const update of this.#narrator.tell(event)) await this.send(update);
  }

  /** Entries that a task appends are told. */
  async added(task: () => void): Promise<void> {
    const { log } = this.conversation.session;
    const from = log.length;
    task();
    for (const entry of log.slice(from)) await this.tell({ type: 'entry', entry });
  }

  /** Whoever is not there any more is told nothing. */
  async send(update: SessionUpdate): Promise<void> {
    if (!this.#closed) await this.#options.client.notify(methods.client.session.update, { sessionId: this.id, update }).catch(() => undefined);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#turns.close(MOST_CLOSING_MS);
    this.#closed = true;
    await this.conversation.leave('other').catch(() => undefined);
    this.conversation.close();
    this.house.close();
    await this.#watching?.then((watch) => watch.close(), () => undefined);
  }

  /** Runs a turn to its end and tells of it. Throws a RequestError where it failed. */
  async drain(events: AsyncGenerator<Event, Outcome>, asked = true): Promise<StopReason> {
    const { log } = this.conversation.session;
    const from = log.length;
    let next = await events.next();
    for (; next.done !== true; next = await events.next()) {
      const { value } = next;
      // Why a turn failed is the answer to the prompt.
      if (asked && value.type === 'entry' && value.entry.type === 'notice' && value.entry.level === 'error') continue;
      await this.tell(value);
      if (value.type === 'entry') await this.#follow(value.entry.type);
    }
    const outcome = next.value;
    if (outcome.kind === 'failed') throw outcome.why === 'auth' ? RequestError.authRequired(undefined, outcome.message) : new RequestError(-32603, outcome.message);
    return stopReasonOf(outcome, log.slice(from));
  }

  /** One thing at a time; what happened beside it is told afterwards. */
  #inTurn(signal: AbortSignal | undefined, task: (signal: AbortSignal) => Promise<StopReason>): Promise<StopReason> {
    return this.#turns.take(signal, async (own) => {
      const since = this.conversation.session.log.length;
      const reason = await task(own);
      // It is over first: what follows is taken after it.
      if (reason === 'end_turn') setImmediate(() => { this.#lookForNews(since); });
      return reason;
    });
  }

  async #answer(parts: PromptParts, parsed: CommandLine | undefined, signal: AbortSignal): Promise<StopReason> {
    await this.#door.enter(this.#entrance(signal), signal);
    if (signal.aborted) return 'cancelled';
    const reason = parsed !== undefined ? await runAcpCommand(this, parts.line, parsed, signal)
      : parts.line.startsWith('!') && parts.line.length > 1 && parts.context === '' ? await runAcpShell(this, parts.line.slice(1).trim(), signal)
        : await this.drain(this.conversation.turn(await bodyOf(parts, this.house, (message) => this.tell({ type: 'fault', where: '', message }), signal), signal));
    await this.#offer();
    const unsaved = this.conversation.unsaved();
    if (unsaved !== undefined && unsaved !== this.#unsaved) this.#notice(`this conversation could not be saved: ${unsaved}`);
    this.#unsaved = unsaved;
    return reason;
  }

  #entrance(signal: AbortSignal): Entrance {
    return createAcpEntrance({ house: this.house, asker: this.asker, signal, show: () => undefined, say: (text) => { this.#notice(text.replace(/^> /, '')); }, refresh: () => undefined });
  }

  async #follow(type: Entry['type']): Promise<void> {
    if (type === 'assistant' || type === 'compaction') await this.#usage();
    if (type === 'mode' || type === 'head') await this.tellConfig();
    if (type === 'prompt') await this.#sendIf(titleUpdate(this.conversation.session.log));
  }

  async #usage(): Promise<void> {
    await this.#sendIf(usageUpdate(this.conversation.session.log, this.house.desk.facts().window));
  }

  async #sendIf(update: SessionUpdate | undefined): Promise<void> {
    if (update !== undefined) await this.send(update);
  }

  /** Tells which commands there are, where they are others than before. */
  async #offer(): Promise<void> {
    const now = commandsOffered(await this.conversation.commands());
    if (JSON.stringify(now) === JSON.stringify(this.#offered)) return;
    this.#offered = now;
    await this.send({ sessionUpdate: 'available_commands_update', availableCommands: [...now] });
  }

  /** What waits to be delivered begins a turn of its own when nothing else is going on. */
  #wake(): void {
    if (this.#turns.busy()) this.#woken = true;
    else void this.#deliver();
  }

  #lookForNews(since: number): void {
    const { session } = this.conversation;
    const news = this.#woken && (this.house.agents.hasMail(session) || hasUntoldEnd(session.log, since));
    this.#woken = false;
    if (news) void this.#deliver();
  }

  async #deliver(): Promise<void> {
    if (this.#closed) return;
    await this.#inTurn(undefined, (signal) => this.drain(this.conversation.turn(undefined, signal), false)).catch(() => undefined);
  }

  /** An editor that was silent once is not waited for again. */
  async #buffer(path: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#silent) return undefined;
    const late = AbortSignal.timeout(BUFFER_MS);
    try {
      const { content } = await this.#options.client.request(methods.client.fs.readTextFile, { sessionId: this.id, path }, { cancellationSignal: AbortSignal.any([signal, late]), stopWaitingOnCancel: true });
      return content;
    } catch (error) {
      this.#silent = late.aborted && !signal.aborted;
      throw error;
    }
  }

  #notice(text: string): void {
    if (this.#greeted) void this.tell({ type: 'fault', where: '', message: text });
    else this.#notices.push(text);
  }

  /** How a path is written in a prompt: a mention, or for a command as it is. */
  #named(path: string, command: boolean): string | undefined {
    const name = relativeWithin(this.#cwd(), path) || path;
    return command ? name : mentionText(name);
  }

  #cwd(): string {
    return this.house.tools.cwd(this.conversation.session);
  }

  #modes(): readonly PermissionMode[] {
    return modesOffered({ bypass: this.#options.args.permissionMode === 'bypassPermissions', auto: !this.house.configuration.settings().disableAutoMode });
  }
}

const has = (capability: object | null | undefined): boolean => capability !== undefined && capability !== null;
