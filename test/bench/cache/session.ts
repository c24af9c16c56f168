import { appendFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TodoItem } from '#domain/attachment.ts';
import type { ContentBlock, MessageParam } from '#domain/content.ts';
import type { Entry, Event } from '#domain/entry.ts';
import { todosOf } from '#domain/folds.ts';
import type { Outcome, Ports, Reply, ToolOutcome } from '#domain/ports.ts';
import type { ModelRequest } from '#domain/request.ts';
import { nextTodoId, todoEntry } from '#domain/todos.ts';
import type { World } from '#domain/world.ts';
import { factsOf } from '#accounting/models.ts';
import { createCollector } from '#attachments/collect.ts';
import { createPins, type Pins } from '#attachments/pins.ts';
import { sources } from '#attachments/sources/list.ts';
import { storeOf } from '#attachments/store.ts';
import { createDocuments } from '#documents/load.ts';
import { createPaths } from '#gate/paths.ts';
import { compact } from '#loop/compact.ts';
import { query } from '#loop/query.ts';
import { systemBlocks } from '#loop/system.ts';
import { LogSession } from '#session/session.ts';
import { createWatch } from '#watch/watch.ts';
import { memoryBlobs } from '../../support/logs.ts';
import { nothing } from '../../support/nothing.ts';

/** One request of the session, with what the seed's way would have sent besides it. */
export interface Sent {
  readonly request: ModelRequest;
  /** Milliseconds of the session's own clock. */
  readonly at: number;
  readonly sinceReplyMs: number | undefined;
  /** All attachments as they are at this moment, in one message; undefined when there are none. */
  readonly transient: MessageParam | undefined;
}

/** What the session holds: counted, so that a table can say of what it tells. */
export interface Lived {
  readonly sent: readonly Sent[];
  readonly pinnedBytes: number;
  readonly edits: number;
  readonly todoChanges: number;
  readonly gapsMs: readonly number[];
  readonly compactions: number;
}

const MODEL = 'claude-opus-5-5';
const PINNED_BYTES = 8 * 1024 - 200;
const STEP_MS = 15_000;
const TURN_MS = 70_000;
/** Minutes of pause before these turns. */
const GAPS: Readonly<Record<number, number>> = { 4: 12, 8: 40 };
/** Replies of each turn, the answer among them: with the summary, 60 requests. */
const STEPS = [6, 5, 4, 6, 5, 4, 6, 5, 6, 4, 5, 3] as const;
const COMPACTED_AFTER = 6;
/** Steps (turn, step) at which somebody else saves a pinned file, and turns before which it was saved. */
const EDITED_DURING: Readonly<Record<number, number>> = { 2: 2, 7: 1, 9: 3 };
const EDITED_BEFORE: ReadonlySet<number> = new Set([1, 5, 10]);

const prose = (seed: number, bytes: number): string => {
  const words = ['value', 'request', 'cache', 'const', 'return', 'session', 'reads', 'when', 'the', 'prefix', 'of', 'each', 'turn', 'holds'];
  let out = '';
  for (let at = seed; out.length < bytes; at += 1) out += `${words[at % words.length] ?? ''}_${(at * 7919) % 997}${at % 9 === 0 ? '\n' : ' '}`;
  return out.slice(0, bytes);
};

/**
 * Lives the session once, with the real loop, sources, pins and watch over real files and a clock of its own. With `transient`
 * the sources of pins and todos are switched off, as where the store's one message takes their place.
 */
export async function live(way: 'log' | 'transient'): Promise<Lived> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'pinion-cache-')));
  const life = new Life(root, way);
  try {
    await life.run();
    return life.lived();
  } finally {
    life.end();
    rmSync(root, { recursive: true, force: true });
  }
}

class Life {
  readonly #root: string;
  readonly #session: LogSession;
  readonly #pins: Pins;
  readonly #ports: Ports;
  readonly #watch: ReturnType<typeof createWatch>;
  readonly #sent: Sent[] = [];
  #now = Date.UTC(2026, 10, 30, 9);
  #replies: ContentBlock[][] = [];
  #calls = 0;
  #edits = 0;
  #todoChanges = 0;
  #step = 0;
  #turn = 0;
  #lastReply: number | undefined;

  constructor(root: string, way: 'log' | 'transient') {
    this.#root = root;
    const blobs = memoryBlobs();
    this.#session = new LogSession('bench', [], undefined, () => new Date(this.#now));
    const session = this.#session;
    const paths = createPaths({ roots: () => [root], home: '/nowhere', denyRead: () => [] });
    const documents = createDocuments({ blobs, capabilities: () => ({ images: true, pdf: true }) });
    this.#watch = createWatch({ blobs, label: (path) => path.slice(root.length + 1), graceMs: 0 });
    this.#pins = createPins({ paths, documents, blobs, cwd: root, log: () => session.log, files: () => Promise.resolve([]) });
    const world = (moment: World['moment']): World => ({
      ...nothing, moment, thread: 'main', log: session.log, blobs, mode: 'default', now: new Date(this.#now), pins: this.#pins, changes: this.#watch,
      prompt: moment === 'prompt' ? session.log.findLast((entry) => entry.type === 'prompt') : undefined,
      tools: { has: () => true, deferred: () => [] },
      mentions: { load: () => Promise.resolve({ parts: [], files: [], notes: [] }), named: () => Promise.resolve(new Set()), agents: () => [] },
      environment: () => ({ directory: '/work', extraDirectories: [], repository: true, branch: 'main', platform: 'linux', shell: '/bin/bash' }),
    });
    const facts = factsOf(MODEL);
    this.#ports = {
      model: { facts: () => facts, fit: () => Promise.resolve({ tokens: 1, limit: 1_000_000, fits: true }), stream: (request) => this.#answer(request) },
      tools: { definitions: () => [], effect: () => 'reads', preview: (call) => Promise.resolve({ title: call.tool, body: [] }), run: (call) => this.#run(call.tool) },
      gate: { ask: () => Promise.resolve({ kind: 'allow' }), goOn: () => Promise.resolve(true) },
      reminders: createCollector({ sources, world, off: () => (way === 'log' ? [] : ['pins', 'todos']) }),
      world: {
        now: () => new Date(this.#now), blobs,
        head: () => ({ type: 'head', system: systemBlocks(), tools: [{ name: 'Read', description: prose(1, 6_000), input_schema: { type: 'object' } }], model: MODEL }),
      },
    };
  }

  async run(): Promise<void> {
    for (let file = 0; file < 5; file += 1) {
      writeFileSync(this.#path(file), prose(file * 100, PINNED_BYTES));
      const found = await this.#pins.lookUp(`f${file}.ts`, { snapshot: false, pathOnly: false, whole: false }, this.#root);
      if (!found.ok) throw new Error(found.message);
      this.#session.append(found.entry);
    }
    for (const [turn, steps] of STEPS.entries()) await this.#live(turn, steps);
  }

  async #live(turn: number, steps: number): Promise<void> {
    this.#turn = turn;
    this.#step = 0;
    this.#now += TURN_MS + (GAPS[turn] ?? 0) * 60_000;
    if (EDITED_BEFORE.has(turn)) this.#edit();
    this.#userTodo();
    this.#replies = Array.from({ length: steps }, (_, step) => this.#replyOf(turn, step, steps));
    await drain(query(this.#session, { text: prose(turn + 40, 500) }, this.#ports, new AbortController().signal, { maxSteps: 20 }));
    if (turn !== COMPACTED_AFTER) return;
    this.#now += TURN_MS;
    this.#replies = [[{ type: 'text', text: prose(77, 3_000) }]];
    await drain(compact(this.#session, this.#ports, new AbortController().signal, { trigger: 'manual', keep: '' }));
  }

  #replyOf(turn: number, step: number, steps: number): ContentBlock[] {
    if (step === steps - 1) return [{ type: 'text', text: prose(turn, 900) }];
    const tool = step === 1 ? 'TodoWrite' : 'Look';
    return [{ type: 'text', text: prose(step, 120) }, { type: 'tool_use', id: `toolu_${(this.#calls += 1)}`, name: tool, input: { what: prose(step + turn, 80) } }];
  }

  async* #answer(request: ModelRequest): AsyncGenerator<never, Reply> {
    const views = await this.#pins.views(new AbortController().signal);
    this.#sent.push({ request, at: this.#now, sinceReplyMs: this.#lastReply === undefined ? undefined : this.#now - this.#lastReply, transient: storeOf(this.#session.log, views).consolidatedMessage() });
    if (EDITED_DURING[this.#turn] === this.#step) this.#edit();
    this.#step += 1;
    this.#now += STEP_MS;
    this.#lastReply = this.#now;
    const content = this.#replies.shift() ?? [{ type: 'text', text: 'Done.' }];
    return { kind: 'message', content, usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }, stop: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn', model: MODEL };
  }

  async* #run(tool: string): AsyncGenerator<never, ToolOutcome> {
    const card = { title: tool, body: [] };
    if (tool !== 'TodoWrite') return { result: { kind: 'ok', content: [{ type: 'text', text: prose(this.#calls, 1_500 + (this.#calls % 5) * 500) }], card } };
    const { log } = this.#session;
    const items: readonly TodoItem[] = [...todosOf(log), { id: nextTodoId(log), text: `step ${this.#calls} of the work`, state: 'active', by: 'model' }];
    this.#todoChanges += 1;
    return { result: { kind: 'ok', content: [{ type: 'text', text: 'The list is kept.' }], card }, entries: [todoEntry(items, 'model')] };
  }

  #userTodo(): void {
    const { log } = this.#session;
    const items = todosOf(log);
    const open = items.find(({ state }) => state !== 'done');
    const added = (id: number): TodoItem => ({ id, text: prose(this.#turn, 60).replaceAll('\n', ' '), state: 'open', by: 'user' });
    const fresh = this.#turn === 0 ? [added(1), added(2)] : this.#turn % 2 === 0 ? [added(nextTodoId(log))] : [];
    const next = fresh.length > 0 ? [...items, ...fresh] : items.map((item) => (item.id === open?.id ? { ...item, state: 'done' as const } : item));
    this.#session.append(todoEntry(next, 'user'));
    this.#todoChanges += Math.max(1, fresh.length);
  }

  #path(file: number): string {
    return join(this.#root, `f${file}.ts`);
  }

  /** One line of a pinned file becomes another one. */
  #edit(): void {
    const file = this.#path(this.#edits % 5);
    const lines = readFileSync(file, 'utf8').split('\n');
    lines[20 + this.#edits] = `saved by somebody else, ${this.#edits}`;
    writeFileSync(file, '');
    appendFileSync(file, lines.join('\n'));
    this.#edits += 1;
  }

  lived(): Lived {
    return {
      sent: this.#sent, pinnedBytes: 5 * PINNED_BYTES, edits: this.#edits, todoChanges: this.#todoChanges, gapsMs: Object.values(GAPS).map((minutes) => minutes * 60_000),
      compactions: this.#session.log.filter(({ type }: Entry) => type === 'compaction').length,
    };
  }

  end(): void {
    this.#watch.close();
  }
}

async function drain(events: AsyncGenerator<Event, Outcome>): Promise<void> {
  for (;;) {
    const next = await events.next();
    if (next.done !== true) continue;
    if (next.value.kind !== 'answered') throw new Error(`a turn of the session ended ${next.value.kind}`);
    return;
  }
}

