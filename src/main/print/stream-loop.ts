import type { Readable } from 'node:stream';
import { messageOf } from '#lib/errors.ts';
import type { Event } from '#domain/entry.ts';
import { undeliveredOf } from '#domain/folds.ts';
import type { Outcome } from '#domain/ports.ts';
import { costOf } from '#accounting/cost.ts';
import { createBell } from '#agents/bell.ts';
import type { Arguments } from '#cli/arguments.ts';
import { linesOf, parseInput, type UserMessage } from '#headless/input.ts';
import { informational } from '#headless/messages.ts';
import { hasUntoldEnd } from '#main/beside.ts';
import { commandLine } from '#main/dispatch.ts';
import type { PrintRoom } from './open.ts';
import { type Done, exitCodeOf, resultFor, runPrompt } from './run.ts';
import type { StreamAsker } from './stream-asker.ts';
import { controlResponse } from './stream-control.ts';
import { promptOf } from './stream-files.ts';
import { initMessage } from './stream-init.ts';
import type { StreamOut } from './stream-out.ts';

export interface LoopOptions {
  readonly args: Arguments;
  readonly room: PrintRoom;
  readonly out: StreamOut;
  readonly asker: StreamAsker;
  readonly input: Readable;
  /** A message that the command line brought along. */
  readonly first: string | undefined;
  /** The whole run is to end. */
  readonly signal: AbortSignal;
}

/** Turns that one run takes, once its input has ended, for what agents come to and say to one another. */
const MOST_TURNS = 20;

/** Messages from standard input, turn after turn, until it ends. */
export class StreamLoop {
  readonly #options: LoopOptions;
  readonly #bell = createBell();
  /** Messages that have their turn when the one under way is over. */
  readonly #held: UserMessage[] = [];
  #running: AbortController | undefined;
  /** Messages on their way into the log, one after the other. */
  #queueing: Promise<void> = Promise.resolve();
  #queued = 0;
  #ended = false;
  /** What is wrong with the input: nothing after it is read. */
  #wrong: string | undefined;
  #woken = false;
  #code = 0;
  #opened = '';

  constructor(options: LoopOptions) {
    this.#options = options;
    const { first } = options;
    if (first !== undefined) this.#held.push({ kind: 'user', text: first, files: [], message: { role: 'user', content: first }, query: true });
  }

  /** Something happened that a turn may be due for. */
  wake(): void {
    this.#woken = true;
    this.#bell.ring();
  }

  /** Resolves with the exit code when everything that came in is answered. */
  async run(): Promise<number> {
    const { asker, room, signal } = this.#options;
    signal.addEventListener('abort', this.#bell.ring, { once: true });
    asker.attach(room.house, room.conversation, () => { this.#interrupt(); });
    await this.#open();
    void this.#read();
    await this.#turns();
    if (this.#wrong === undefined) return this.#code;
    process.stderr.write(`pinion: ${this.#wrong}\n`);
    return 2;
  }

  #interrupt(): void {
    this.#running?.abort(new Error('interrupted'));
  }

  async #read(): Promise<void> {
    const { input, asker, signal } = this.#options;
    try {
      for await (const { number, line } of linesOf(input)) {
        const why = line === undefined ? 'it is too long' : await this.#line(line);
        if (why !== undefined) this.#wrong = `line ${number} of standard input cannot be used: ${why}. What came before it was answered.`;
        this.#bell.ring();
        if (this.#wrong !== undefined) break;
      }
    } catch (error) {
      if (!signal.aborted) this.#wrong = `standard input cannot be read: ${messageOf(error)}.`;
    }
    this.#ended = true;
    asker.close();
    this.#bell.ring();
  }

  /** Takes a line up; gives what is wrong with it. */
  async #line(line: string): Promise<string | undefined> {
    const { room: { house, conversation }, out, asker } = this.#options;
    const read = parseInput(line);
    switch (read.kind) {
      case 'user': this.#take(read); break;
      case 'request': out.plain(await controlResponse(read.id, read.request, { house, conversation, interrupt: () => { this.#interrupt(); } })); break;
      case 'response': if (!asker.answered(read.id, read.response, read.error)) out.send(informational(`Nothing was asked under ${read.id}.`, 'warning')); break;
      case 'wrong': return read.why;
      default: break;
    }
    return undefined;
  }

  #take(message: UserMessage): void {
    const { args, out } = this.#options;
    if (args.replayUserMessages) out.send({ type: 'user', message: message.message, parent_tool_use_id: null, isReplay: true, ...(message.uuid !== undefined && { uuid: message.uuid }) });
    const plain = message.files.length === 0 && commandLine(message.text) === undefined;
    // What waits already goes before it.
    const now = !message.query || (this.#running !== undefined && this.#held.length === 0);
    if (!plain || !now) {
      this.#held.push(message);
      return;
    }
    this.#queued += 1;
    this.#queueing = this.#queueing.then(() => this.#queue(message.text)).finally(() => {
      this.#queued -= 1;
      this.#bell.ring();
    });
  }

  /** Words for the turn in hand are a prompt too: hooks may keep them from being sent. */
  async #queue(text: string): Promise<void> {
    const { room: { house, conversation }, out, signal } = this.#options;
    const { entries, stop } = await house.hooks.prompt({ text }, conversation.session, signal);
    if (stop === undefined) conversation.append([...entries, { type: 'queued', text }]);
    else out.send(informational(stop, 'error'));
    out.hear();
  }

  async #turns(): Promise<void> {
    const { room: { house, conversation }, signal } = this.#options;
    const { session } = conversation;
    let last: Done | undefined;
    let since = session.log.length;
    for (let more = 0; !signal.aborted;) {
      const message = this.#held.shift();
      const due = this.#isDue(last, since) && more < MOST_TURNS;
      if (message !== undefined || due) {
        more = this.#ended && message === undefined ? more + 1 : 0;
        since = session.log.length;
        last = await this.#turn(message);
        // Nothing delivers it: the kind of reminder is switched off.
        if (message === undefined && session.log.length === since) last = undefined;
      } else if (this.#ended && this.#queued === 0 && house.agents.live(session).length === 0) return;
      else await this.#bell.heard();
    }
  }

  /** Whether something waits in the log, or happened beside it, that a turn is to tell. */
  #isDue(last: Done | undefined, since: number): boolean {
    const { room: { house, conversation: { session } } } = this.#options;
    // Also after a turn that failed: nobody may come who would send another message.
    const waits = last !== undefined && undeliveredOf(session.log).length > 0;
    const news = this.#woken && (house.agents.hasMail(session) || hasUntoldEnd(session.log, since));
    this.#woken = false;
    return waits || news;
  }

  /** One turn with its result. Without a message what waits in the log is delivered. */
  async #turn(message: UserMessage | undefined): Promise<Done> {
    const { room: { house, conversation }, out, signal } = this.#options;
    const { session } = conversation;
    const running = new AbortController();
    this.#running = running;
    const begun = { at: performance.now(), from: session.log.length, usd: costOf(session.log).usd ?? 0, apiMs: out.apiMs() };
    await this.#open();
    const done = await guarded(() => this.#run(message, AbortSignal.any([signal, running.signal])));
    this.#running = undefined;
    out.hear();
    out.send({ ...resultFor({ house, conversation }, done, begun, { apiMs: out.apiMs(), denied: out.denied() }) });
    this.#code = exitCodeOf(done);
    await out.taken();
    return done;
  }

  async #run(message: UserMessage | undefined, signal: AbortSignal): Promise<Done> {
    const { room: { house, conversation, structure }, out } = this.#options;
    const from = conversation.session.log.length;
    const drain = (events: AsyncGenerator<Event, Outcome>): Promise<Outcome> => drained(events, out);
    const again = (): Promise<Outcome> => drain(conversation.turn(undefined, signal));
    const run = async (): Promise<Done> => {
      if (message === undefined) return { outcome: await again() };
      const { prompt, notes } = await promptOf(message, house, signal);
      for (const note of notes) out.send(informational(note, 'warning'));
      return runPrompt({ house, conversation, drain }, prompt, signal);
    };
    const done = await run();
    return await structure?.insist(done, conversation, from, again) ?? done;
  }

  /** The first line, and again where model or mode are others than it said. */
  async #open(): Promise<void> {
    const { room: { house, conversation }, out } = this.#options;
    const now = `${house.desk.id()} ${conversation.mode()}`;
    if (now === this.#opened) return;
    this.#opened = now;
    out.send(await initMessage(house, conversation));
  }
}

/** Runs a turn to its end, as fast as the reader takes it. */
export async function drained(events: AsyncGenerator<Event, Outcome>, out: StreamOut): Promise<Outcome> {
  for (;;) {
    const next = await events.next();
    if (next.done === true) return next.value;
    out.hear(next.value);
    await out.taken();
  }
}

/** What was thrown is what the run came to: the result is always the last line. */
export async function guarded(run: () => Promise<Done>): Promise<Done> {
  try {
    return await run();
  } catch (error) {
    return { outcome: { kind: 'stopped', message: messageOf(error) } };
  }
}
