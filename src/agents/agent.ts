import { messageOf } from '#lib/errors.ts';
import type { AgentEnd, AgentType, LiveAgent } from '#domain/agents.ts';
import { NO_USAGE, type Usage } from '#domain/content.ts';
import type { Entry, EntryBody, Event } from '#domain/entry.ts';
import type { Limits, Outcome, Ports } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { CallId } from '#domain/tool.ts';
import { type Bell, createBell } from './bell.ts';
import { BEGINS, type Progress, progressAfter } from './progress.ts';

/** A sub-agent's session with all that its loop needs. */
export interface Thread {
  readonly session: Session;
  readonly ports: Ports;
  /** Absolute path of its log. */
  readonly file: string;
  /** From now on with the conversation's own model; false where that is the one in use. */
  fallBack(): boolean;
  close(): void;
}

export type Query = (session: Session, prompt: { readonly text: string } | undefined, ports: Ports, signal: AbortSignal, limits: Limits) => AsyncGenerator<Event, Outcome>;

/** What a turn came to. */
export interface Finished {
  readonly outcome: Outcome;
  readonly text: string;
  /** Why that is not an answer; one line. */
  readonly unfinished: string | undefined;
  readonly steps: number;
  /** Real paths of the files that its tools wrote. */
  readonly wrote: readonly string[];
}

const MOST_STEPS = 100;

/** Who it is and for whom it works. */
export interface Person {
  readonly lead: Session;
  readonly type: AgentType;
  readonly title: string;
  readonly name?: string;
  /** The call that asked for it. */
  readonly call?: CallId;
}

type Spent = AgentEnd['spent'][number];

/** One sub-agent: its thread, and what it is at. A named one has one turn after another, each with an id of its own. */
export class Agent {
  readonly person: Person;
  readonly thread: Thread;
  /** Rings whenever there is something new to see. */
  readonly bell: Bell = createBell();
  id: string;
  background = false;
  working = false;
  /** Its end was told already, by whoever stopped it. */
  stopped = false;
  /** Nobody is to hear of it any more. */
  muted = false;
  startedAtMs = 0;
  progress: Progress = BEGINS;
  #stop = new AbortController();
  readonly #spent = new Map<string, Spent>();
  readonly #query: Query;
  readonly #book: (entry: EntryBody) => void;

  constructor(id: string, person: Person, thread: Thread, query: Query, book: (entry: EntryBody) => void) {
    this.id = id;
    this.person = person;
    this.thread = thread;
    this.#query = query;
    this.#book = book;
  }

  get who(): string {
    return this.person.name ?? this.id;
  }

  get spent(): AgentEnd['spent'] {
    return [...this.#spent.values()];
  }

  live(): LiveAgent {
    const { type, title, name } = this.person;
    const { steps, tokens, doing } = this.progress;
    return { id: this.id, type: type.name, title, background: this.background, startedAtMs: this.startedAtMs, steps, tokens, doing, file: this.thread.file, ...(name !== undefined && { name }) };
  }

  abort(): void {
    this.#stop.abort(new Error('interrupted'));
  }

  /** Gets ready for a turn: from now on it is at work, and can be stopped. */
  begin(id: string, background: boolean): void {
    this.id = id;
    this.background = background;
    this.working = true;
    this.stopped = false;
    this.startedAtMs = Date.now();
    this.progress = BEGINS;
    this.#stop = new AbortController();
    this.#spent.clear();
  }

  /** One turn; without a prompt what waits for it is delivered. Never rejects. */
  async turn(prompt: string | undefined): Promise<Finished> {
    const { session } = this.thread;
    const from = session.log.length;
    const limits = { maxSteps: this.person.type.maxSteps ?? MOST_STEPS };
    try {
      let outcome = await this.#drain(prompt === undefined ? undefined : { text: prompt }, limits);
      // The small model was our own choice; a server that does not have it has the conversation's.
      if (outcome.kind === 'failed' && outcome.why === 'notFound' && this.progress.steps === 0 && this.thread.fallBack()) outcome = await this.#drain(undefined, limits);
      return finishedWith(session.log.slice(from), outcome);
    } catch (thrown) {
      return finishedWith(session.log.slice(from), { kind: 'stopped', message: messageOf(thrown) });
    }
  }

  async #drain(prompt: { readonly text: string } | undefined, limits: Limits): Promise<Outcome> {
    const run = this.#query(this.thread.session, prompt, this.thread.ports, this.#stop.signal, limits);
    for (;;) {
      const next = await run.next();
      if (next.done === true) return next.value;
      this.progress = progressAfter(this.progress, next.value);
      if (next.value.type === 'entry') this.#account(next.value.entry);
      this.bell.ring();
    }
  }

  /** What it spends is the conversation's spending, at once: a budget counts it, and a crash does not lose it. */
  #account(entry: Entry): void {
    const paid = entry.type === 'spent' ? entry : entry.type === 'assistant' || entry.type === 'compaction' ? { model: entry.model, usage: entry.usage, requests: 1 } : undefined;
    if (paid === undefined || paid.usage.input + paid.usage.output + paid.usage.cacheRead + paid.usage.cacheWrite === 0) return;
    const before = this.#spent.get(paid.model) ?? { model: paid.model, usage: NO_USAGE, requests: 0 };
    this.#spent.set(paid.model, { model: paid.model, usage: sum(before.usage, paid.usage), requests: before.requests + paid.requests });
    this.#book({ type: 'spent', what: `${this.who} (${this.person.type.name})`, model: paid.model, usage: paid.usage, requests: paid.requests });
  }
}

function sum(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input, output: a.output + b.output, cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite, cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
  };
}

/** What the entries of a turn and its outcome amount to. */
export function finishedWith(entries: readonly Entry[], outcome: Outcome): Finished {
  const said = entries.flatMap((entry) => (entry.type === 'assistant' ? [textOf(entry)] : []));
  const text = (outcome.kind === 'answered' ? said.at(-1) : said.findLast((one) => one !== '')) ?? '';
  return { outcome, text, unfinished: unfinishedBy(outcome, text), steps: said.length, wrote: filesWritten(entries) };
}

function textOf(entry: Extract<Entry, { readonly type: 'assistant' }>): string {
  return entry.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n').trim();
}

function unfinishedBy(outcome: Outcome, text: string): string | undefined {
  switch (outcome.kind) {
    case 'answered': return text === '' ? 'It ended without a word.' : undefined;
    case 'interrupted': return 'It was interrupted before it was done.';
    case 'outOfSteps': return `It was stopped before it was done, at its limit of ${outcome.steps} steps.`;
    case 'outOfBudget': return `It was stopped before it was done: ${outcome.message}`;
    case 'stopped': return `It was stopped before it was done: ${outcome.message}`;
    case 'failed': return `It failed: ${outcome.message}`;
  }
}

function filesWritten(entries: readonly Entry[]): readonly string[] {
  return [...new Set(entries.flatMap((entry) => (entry.type === 'toolResult' ? entry.result.files ?? [] : []).filter(({ how }) => how === 'write').map(({ path }) => path)))];
}
