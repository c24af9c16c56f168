import { fileURLToPath, pathToFileURL } from 'node:url';
import { realPathOf } from '#lib/within.ts';
import type { Report } from '#domain/languages.ts';
import { type Answer, awaitPushed, knock, pullDiagnostics, pushedAnswer } from './diagnose.ts';
import { closeDoc, type Doc, openDoc, readDisk, syncDoc } from './document.ts';
import { isFields, type Capabilities } from './protocol.ts';
import { freshAmong, reportsIn } from './reports.ts';
import type { Server } from './server.ts';
import type { FileChangeKind } from './watched.ts';

/** A file that is to be open. `before` gives its text before the first of our writes, where it is known; `isNew`: there was none. */
export interface Wanted {
  readonly path: string;
  readonly languageId: string;
  readonly written: boolean;
  readonly before?: () => string | undefined;
  readonly isNew?: boolean;
}

export interface ChangedFile {
  readonly path: string;
  readonly kind: FileChangeKind;
}

/** What a server says of a file of which it has the newest bytes. */
export interface Verdict {
  readonly doc: Doc;
  readonly reports: readonly Report[];
  readonly whole: boolean;
}

/** How long what was said before a write is awaited, and what was said after it. */
const BEFORE_MS = 8000;
const AFTER_MS = 3000;
/** Most that a server's loading of its project is awaited: before it is asked for what was there before, and before a question. */
const LOAD_MS = 60_000;
const VISIT_MS = 20_000;
const AT_ONCE = 4;
/** Files that are open because somebody asked about them. */
const MOST_GUESTS = 8;

/** The files that one server has open. One job at a time: first what was said before our writes, then the bytes of now, then what is said of them. */
export class Bench {
  readonly server: Server;
  readonly #docs = new Map<string, Doc>();
  #wanted: readonly Wanted[] = [];
  #guests: readonly Wanted[] = [];
  readonly #unknown = new Set<string>();
  #events: readonly ChangedFile[] = [];
  #dirty = false;
  #work: Promise<void> | undefined;
  /** Counts changes of anything that an answer may stand on, and when the last one was sent. */
  #tick = 0;
  #tickAtMs = 0;

  constructor(server: Server) {
    this.server = server;
  }

  /** Files that are to be open, and what changed on disk beside them; the work on it begins. */
  want(files: readonly Wanted[], events: readonly ChangedFile[] = []): void {
    this.#wanted = files;
    this.#events = [...this.#events, ...events];
    this.#poke();
  }

  /** Resolves when all is done that was wanted so far. Never rejects. */
  settled(): Promise<void> {
    return this.#work ?? Promise.resolve();
  }

  get open(): number {
    return this.#docs.size;
  }

  /** The server said something of a file unasked. */
  heard(params: unknown, capabilities: Capabilities | undefined): void {
    if (!isFields(params) || typeof params['uri'] !== 'string' || capabilities === undefined) return;
    const doc = this.#docs.get(pathOf(params['uri']) ?? '');
    const { version } = params;
    if (doc !== undefined) doc.pushed = { atMs: Date.now(), version: typeof version === 'number' ? version : undefined, items: reportsIn(params['diagnostics'], doc.path, doc.text, capabilities.encoding) };
  }

  /** What it said may be out of date: it is asked again with the next look. */
  doubt(): void {
    this.#tick += 1;
  }

  /** The file as the server has it, opened and brought up to date for a question; undefined for what is no text. */
  async visit(file: Wanted): Promise<Doc | undefined> {
    const capabilities = await this.server.ready;
    this.#guests = [...this.#guests.filter(({ path }) => path !== file.path), file].slice(-MOST_GUESTS);
    if (!this.#docs.has(file.path)) await this.#open({ ...file, written: false });
    await Promise.race([this.settled(), late(BEFORE_MS)]);
    await this.server.calm(VISIT_MS);
    const doc = this.#docs.get(file.path);
    // Some answer at once, with nothing, before they have looked at a new file.
    if (doc !== undefined) await knock(this.server, doc, capabilities);
    const disk = await readDisk(file.path, doc);
    if (doc === undefined || disk === undefined) return undefined;
    if (syncDoc(this.server, doc, disk, capabilities)) this.#changed();
    return doc;
  }

  /** What is said of an open file now, waited for until `ms`. */
  async ask(doc: Doc, ms: number): Promise<Verdict | undefined> {
    const capabilities = await this.server.ready;
    const answer = this.server.pulls() ? await pullDiagnostics(this.server, doc, capabilities) : await awaitPushed(this.server, doc, capabilities, { ms, whole: false });
    return answer === undefined ? undefined : { doc, reports: freshAmong(doc.before ?? answer.items, answer.items), whole: answer.whole };
  }

  /** What the server has answered for the newest bytes that it was sent. */
  verdicts(): readonly Verdict[] {
    const now = Date.now();
    return [...this.#docs.values()].flatMap((doc) => {
      const answer = doc.before === undefined ? undefined : this.#answerOf(doc, now);
      return answer === undefined || doc.before === undefined ? [] : [{ doc, reports: freshAmong(doc.before, answer.items), whole: answer.whole }];
    });
  }

  #answerOf(doc: Doc, now: number): Answer | undefined {
    if (this.server.pulls()) return doc.answer !== undefined && doc.answer.version === doc.version && doc.answer.tick === this.#tick ? doc.answer : undefined;
    const answer = pushedAnswer(doc, now);
    return answer === undefined ? undefined : { items: answer.items, whole: answer.whole && (doc.pushed?.atMs ?? 0) >= this.#tickAtMs };
  }

  #poke(): void {
    this.#dirty = true;
    this.#work ??= this.#run().catch(() => undefined).finally(() => {
      this.#work = undefined;
      if (this.#dirty && this.server.isReady()) this.#poke();
    });
  }

  async #run(): Promise<void> {
    const capabilities = await this.server.ready;
    while (this.#dirty && this.server.isReady()) {
      this.#dirty = false;
      this.#close();
      await this.#openAll(capabilities);
      await this.#look(capabilities);
      await this.#sync(capabilities);
      await this.#answer(capabilities);
    }
  }

  #close(): void {
    const kept = new Set([...this.#wanted, ...this.#guests].map(({ path }) => path));
    for (const [path, doc] of this.#docs) if (!kept.has(path)) this.#forget(path, doc);
  }

  #forget(path: string, doc: Doc): void {
    closeDoc(this.server, doc);
    this.#docs.delete(path);
    this.#unknown.delete(path);
    this.#changed();
  }

  async #openAll(capabilities: Capabilities): Promise<void> {
    for (const file of this.#wanted) {
      const doc = this.#docs.get(file.path);
      if (doc === undefined) await this.#open(file);
      else if (file.written && !doc.written) this.#firstWrite(doc, file, capabilities);
      else if (!file.written && doc.written) {
        // Another session, which has written nothing of it: what is said now was there before.
        doc.written = false;
        doc.before = undefined;
      }
    }
  }

  async #open(file: Wanted): Promise<void> {
    const disk = await readDisk(file.path);
    if (disk === undefined || this.#docs.has(file.path)) return;
    const before = file.isNew === true ? undefined : file.before?.();
    const doc = before === undefined || before === disk.text ? openDoc(this.server, file, disk.text, disk) : openDoc(this.server, file, before, undefined);
    if (file.isNew === true) doc.before = [];
    // Nobody knows what was said before: nothing counts as fresh.
    else if (file.written && before === undefined) this.#unknown.add(file.path);
    this.#docs.set(file.path, doc);
    this.#changed();
  }

  /** A file that was open is written for the first time: what is said of it now counts as before, if it is of the text of before. */
  #firstWrite(doc: Doc, file: Wanted, capabilities: Capabilities): void {
    doc.written = true;
    const before = file.before?.();
    if (file.isNew === true) doc.before = [];
    else if (before !== undefined && before !== doc.text) {
      doc.before = undefined;
      if (syncDoc(this.server, doc, { text: before, hash: '', stamp: '' }, capabilities)) this.#changed();
    }
  }

  /** What was said before: of files whose text is still that of before. */
  async #look(capabilities: Capabilities): Promise<void> {
    await this.server.calm(LOAD_MS);
    const unknown = [...this.#docs.values()].filter(({ before, path }) => before === undefined && !this.#unknown.has(path));
    await inBatches(unknown, async (doc) => {
      const answer = this.server.pulls() ? await pullDiagnostics(this.server, doc, capabilities) : await awaitPushed(this.server, doc, capabilities, { ms: BEFORE_MS, whole: true });
      // Who answers, but says nothing of a file, has nothing to say of it.
      doc.before = answer?.items ?? (!this.server.pulls() && doc.heardAtMs !== undefined && doc.pushed === undefined ? [] : undefined);
      if (answer !== undefined) doc.answer = { ...answer, version: doc.version, tick: this.#tick };
    });
  }

  async #sync(capabilities: Capabilities): Promise<void> {
    this.#tellEvents();
    for (const [path, doc] of this.#docs) {
      const disk = await readDisk(path, doc);
      if (disk === undefined) {
        this.#forget(path, doc);
        continue;
      }
      const changed = syncDoc(this.server, doc, disk, capabilities);
      if (changed) this.#changed();
      // Somebody else's change is no damage of ours.
      if (changed && !doc.written) doc.before = undefined;
    }
  }

  #tellEvents(): void {
    const events = this.#events.filter(({ path, kind }) => this.server.watches(path, kind));
    this.#events = [];
    if (events.length === 0) return;
    this.server.notify('workspace/didChangeWatchedFiles', { changes: events.map(({ path, kind }) => ({ uri: pathToFileURL(path).href, type: kind })) });
    this.#changed();
  }

  #changed(): void {
    this.#tick += 1;
    this.#tickAtMs = Date.now();
  }

  async #answer(capabilities: Capabilities): Promise<void> {
    const docs = [...this.#docs.values()].sort((a, b) => Number(b.written) - Number(a.written));
    if (!this.server.pulls()) {
      await Promise.all(docs.filter((doc) => doc.written && Date.now() - doc.sentAtMs < AFTER_MS).map((doc) => awaitPushed(this.server, doc, capabilities, { ms: AFTER_MS, whole: false })));
      for (const doc of docs) if (!doc.written) doc.before ??= pushedAnswer(doc, Date.now())?.items;
      return;
    }
    await inBatches(docs.filter(({ answer, version }) => answer?.version !== version || answer.tick !== this.#tick), async (doc) => {
      const [tick, version] = [this.#tick, doc.version];
      const answer = await pullDiagnostics(this.server, doc, capabilities);
      if (answer === undefined) return;
      doc.answer = { ...answer, version, tick };
      if (!doc.written) doc.before ??= answer.items;
    });
  }
}

async function inBatches<T>(all: readonly T[], each: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += AT_ONCE) await Promise.all(all.slice(at, at + AT_ONCE).map(each));
}

function late(ms: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, ms).unref(); });
}

function pathOf(uri: string): string | undefined {
  try {
    return realPathOf(fileURLToPath(uri));
  } catch {
    return undefined;
  }
}
