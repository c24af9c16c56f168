import { messageOf } from '#lib/errors.ts';
import type { GroupGuard } from '#lib/group-guard.ts';
import { Bench } from './bench.ts';
import { type FoundServer, rootFor } from './find.ts';
import { createLog, type ServerLog } from './log.ts';
import type { Capabilities } from './protocol.ts';
import { startServer } from './server.ts';

/** A server in a folder: at work, at rest, or given up. */
export interface Slot {
  readonly found: FoundServer;
  readonly root: string;
  readonly log: ServerLog;
  bench: Bench | undefined;
  capabilities: Capabilities | undefined;
  /** When it broke down lately, and why it did last. */
  failures: readonly number[];
  problem: string | undefined;
}

/** Milliseconds until a server that broke down is started again, by how often it has; after the last it is given up. */
const PAUSES_MS = [2000, 10_000, 60_000];
/** Breakdowns are forgotten after so long. */
const FORGIVEN_MS = 10 * 60_000;
const MOST_SLOTS = 8;
const END_MS = 400;

export interface SlotOptions {
  readonly env: () => Readonly<Record<string, string>>;
  readonly guard?: () => GroupGuard;
  /** One line, once for a server that is given up. */
  readonly onNotice: (text: string) => void;
  /** Milliseconds until a start counts as failed. */
  readonly startMs?: number;
  readonly pausesMs?: readonly number[];
}

/** The servers of a project, each started when it is first of use and again a few times when it breaks down. */
export class Slots {
  readonly #options: SlotOptions;
  readonly #slots = new Map<string, Slot>();
  #closed = false;

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  all(): readonly Slot[] {
    return [...this.#slots.values()];
  }

  /** The slot of a server for a file; undefined where there are too many. One whose configuration is another now is ended. */
  of(found: FoundServer, path: string, project: string): Slot | undefined {
    const root = rootFor(path, found.rootMarkers, project);
    const key = `${found.name}\0${root}`;
    const slot = this.#slots.get(key);
    if (slot !== undefined && JSON.stringify(slot.found) === JSON.stringify(found)) return slot;
    if (slot === undefined && this.#slots.size >= MOST_SLOTS) return undefined;
    if (slot !== undefined) this.#end(slot);
    const made: Slot = { found, root, log: slot?.log ?? createLog(), bench: undefined, capabilities: undefined, failures: [], problem: undefined };
    this.#slots.set(key, made);
    return made;
  }

  /** The bench of a slot, started if it may; undefined while it is given up or rests after a breakdown. */
  start(slot: Slot): Bench | undefined {
    if (slot.bench !== undefined || this.#closed || !this.mayStart(slot)) return slot.bench;
    const { found, root, log } = slot;
    const { guard, startMs } = this.#options;
    const server = startServer({
      name: found.name, root, command: found.command, args: found.args, env: { ...this.#options.env(), ...found.env },
      ...(found.initializationOptions !== undefined && { initializationOptions: found.initializationOptions }), ...(found.settings !== undefined && { settings: found.settings }),
    }, {
      log, onPublish: (params) => { bench.heard(params, slot.capabilities); }, onRefresh: () => { bench.doubt(); },
      ...(guard !== undefined && { guard: guard() }), ...(startMs !== undefined && { startMs }),
    });
    const bench = new Bench(server);
    slot.bench = bench;
    slot.problem = undefined;
    server.ready.then((capabilities) => { slot.capabilities = capabilities; }, (error: unknown) => { slot.problem ??= messageOf(error); });
    void server.over.then((why) => {
      if (slot.bench === bench) this.#broke(slot, why);
    });
    return bench;
  }

  mayStart({ failures }: Slot): boolean {
    const lately = failures.filter((at) => Date.now() - at < FORGIVEN_MS);
    const pauses = this.#options.pausesMs ?? PAUSES_MS;
    const rest = lately.length === 0 ? 0 : pauses[lately.length - 1];
    return rest !== undefined && Date.now() - (lately.at(-1) ?? 0) >= rest;
  }

  isGivenUp({ failures }: Slot): boolean {
    return failures.filter((at) => Date.now() - at < FORGIVEN_MS).length > (this.#options.pausesMs ?? PAUSES_MS).length;
  }

  #broke(slot: Slot, why: string): void {
    slot.bench = undefined;
    slot.capabilities = undefined;
    slot.problem = why;
    slot.failures = [...slot.failures.slice(-PAUSES_MS.length), Date.now()];
    if (this.isGivenUp(slot)) this.#options.onNotice(`The language server ${slot.found.name} is given up: ${why}. /lsp ${slot.found.name} shows its log, /lsp restart starts it again.`);
  }

  /** Ends those of a name, or all; they start anew when they are needed. Returns how many there were. */
  restart(name: string | undefined): number {
    const ended = this.all().filter(({ found }) => name === undefined || found.name === name);
    for (const slot of ended) {
      this.#end(slot);
      slot.failures = [];
      slot.problem = undefined;
    }
    return ended.length;
  }

  #end(slot: Slot): void {
    const { bench } = slot;
    slot.bench = undefined;
    slot.capabilities = undefined;
    void bench?.server.end(END_MS);
  }

  /** Resolves when all have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    const benches = this.all().flatMap(({ bench }) => bench ?? []);
    for (const slot of this.all()) slot.bench = undefined;
    await Promise.all(benches.map((bench) => bench.server.end(END_MS)));
  }
}
