import { extname, relative } from 'node:path';
import type { Entry } from '#domain/entry.ts';
import type { CheckedFile, LanguageAnswer, LanguagePort, LanguageQuestion, LanguageServer, LanguageServerSetting, Symbol } from '#domain/languages.ts';
import type { BlobPort } from '#domain/ports.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { isWithin } from '#lib/within.ts';
import { type AskDoors, askServer, askSymbols, problemOf, shown } from './ask.ts';
import type { Bench, ChangedFile, Wanted } from './bench.ts';
import { readDisk, textOf } from './document.ts';
import { findServers, type FoundServer, serverFor, whatToInstall } from './find.ts';
import { symbolOf } from './places.ts';
import { type Slot, type SlotOptions, Slots } from './slots.ts';
import { createSweep } from './sweep.ts';
import { stirredOf, type Touched, touchedOf } from './touched.ts';

export interface LanguageOptions extends SlotOptions {
  /** The top of the project, and the folders of the workspace; absolute, real. */
  readonly project: string;
  readonly cwd: string;
  readonly roots: () => readonly string[];
  readonly trusted: () => boolean;
  /** Names of configured servers that may not start although the folder is trusted. */
  readonly held?: () => ReadonlySet<string>;
  readonly configured: () => Readonly<Record<string, LanguageServerSetting | false>>;
  readonly blobs: BlobPort;
  /** How a path (absolute, real) is shown. */
  readonly label: (path: string) => string;
  readonly denies: (path: string) => boolean;
  /** Files below `cwd` that are not ignored, relative to it. */
  readonly files: (signal: AbortSignal) => Promise<readonly string[]>;
}

/** Files that are open: written ones, and ones that were only read. */
const MOST_WRITTEN = 40;
const MOST_READ = 10;
/** Most that a moment waits for answers; and for a server that did not answer the last times. */
const WAIT_MS = 600;
const IMPATIENT_MS = 80;
const MOST_WAITS = 3;
const SWEEP_MS = 150;
const SYMBOL_MS = 2000;
const MOST_SYMBOLS = 30;
/** What is there is looked for again after so long. */
const FOUND_MS = 10_000;

export interface Languages extends LanguagePort {
  /** Ends all servers: asks, and ends what has not ended in half a second. */
  close(): Promise<void>;
}

export function createLanguages(options: LanguageOptions): Languages {
  const slots = new Slots(options);
  const find = finder(options);
  const doors: AskDoors = { denies: options.denies, mayShow: (path) => isInside(path, options) && !options.denies(path) };
  const placed = (path: string): { readonly slot: Slot; readonly languageId: string } | undefined => {
    const project = [options.project, ...options.roots()].find((root) => isWithin(root, path));
    const server = project === undefined || options.denies(path) ? undefined : serverFor(path, find());
    const slot = server === undefined || project === undefined || !server.server.allowed ? undefined : slots.of(server.server, path, project);
    return slot === undefined || server === undefined ? undefined : { slot, languageId: server.languageId };
  };
  return {
    written: moments(options, slots, placed),
    async ask(question, signal) {
      if (question.operation === 'workspaceSymbols') return askAll(slots, question.query ?? '', doors, find, signal);
      const path = question.path ?? '';
      const place = placed(path);
      const bench = place === undefined ? undefined : slots.start(place.slot);
      if (place === undefined || bench === undefined) return { kind: 'problem', problem: whyNone(path, find(), place?.slot) };
      return askBench(bench, { path, languageId: place.languageId, written: false }, question, doors, signal);
    },
    symbols: (query, signal) => symbolsOf(slots, query, options, signal),
    servers: () => Promise.resolve(serversOf(find(), slots, options.configured())),
    log: (name) => slots.all().filter(({ found }) => found.name === name).flatMap(({ log }) => log.lines()),
    restart(name) {
      const ended = slots.restart(name);
      if (ended > 0) return `${count(ended, 'language server')} ended; what is needed starts anew.`;
      return name === undefined ? 'No language server was started.' : `${oneLine(name, 60)} was not started.`;
    },
    close: () => slots.close(),
  };
}

function isInside(path: string, { project, roots }: LanguageOptions): boolean {
  return [project, ...roots()].some((root) => isWithin(root, path));
}

function finder(options: LanguageOptions): () => readonly FoundServer[] {
  let last: { readonly atMs: number; readonly key: string; readonly found: readonly FoundServer[] } | undefined;
  return () => {
    const grounds = { project: options.project, env: options.env(), trusted: options.trusted(), configured: options.configured(), ...(options.held !== undefined && { held: options.held() }) };
    const key = JSON.stringify([grounds.trusted, grounds.configured, [...grounds.held ?? []], grounds.env['PATH']]);
    if (last === undefined || last.key !== key || Date.now() - last.atMs > FOUND_MS) last = { atMs: Date.now(), key, found: findServers(grounds) };
    return last.found;
  };
}

type Placed = (path: string) => { readonly slot: Slot; readonly languageId: string } | undefined;

/** What is said at each moment. */
function moments(options: LanguageOptions, slots: Slots, placed: Placed): LanguagePort['written'] {
  const sweep = createSweep(options.cwd, options.files);
  const waits = new WeakMap<Bench, number>();
  let stirred = -1;
  let pending: readonly ChangedFile[] = [];
  let sweeping: Promise<void> | undefined;
  const swept = async (log: readonly Entry[]): Promise<readonly ChangedFile[]> => {
    const now = stirredOf(log);
    // The first look is taken at once: a server says late what it wants to hear of, and files may have come by then.
    // A look that is still under way began before what stirred now: another one follows it.
    if (now !== stirred && sweeping === undefined && (stirred === -1 || slots.all().some(({ bench }) => bench?.server.watchesAny() === true))) {
      stirred = now;
      sweeping = sweep.look(AbortSignal.timeout(20_000)).then((found) => { pending = [...pending, ...found]; }).finally(() => { sweeping = undefined; });
    }
    if (sweeping !== undefined) await Promise.race([sweeping, late(SWEEP_MS)]);
    const found = pending;
    pending = [];
    return found;
  };
  const look = async (log: readonly Entry[], signal: AbortSignal): Promise<readonly CheckedFile[]> => {
    const until = Date.now() + WAIT_MS;
    const byBench = benchesFor(touchedOf(log), slots, placed, options.blobs);
    if (byBench.size === 0) return [];
    const events = await swept(log);
    await Promise.all([...byBench].map(async ([bench, files]) => {
      bench.want(files, events);
      if (!bench.server.isReady() || !files.some(({ written }) => written)) return;
      const wait = (waits.get(bench) ?? 0) < MOST_WAITS ? Math.max(0, until - Date.now()) : IMPATIENT_MS;
      const inTime = await untilAborted(signal, Promise.race([bench.settled().then(() => true), late(wait).then(() => false)])).catch(() => false);
      waits.set(bench, inTime ? 0 : (waits.get(bench) ?? 0) + 1);
    }));
    const checked = await Promise.all([...byBench.keys()].flatMap((bench) => bench.verdicts()).map(async ({ doc, reports, whole }): Promise<CheckedFile | undefined> => {
      const disk = await readDisk(doc.path, doc);
      return disk === undefined || disk.hash !== doc.hash || options.denies(doc.path) ? undefined : { path: doc.path, label: options.label(doc.path), reports, whole };
    }));
    return checked.filter((one) => one !== undefined);
  };
  return (log, signal) => look(log, signal).catch(() => []);
}

/** The newest files of each server that may be started, with what is to be open. */
function benchesFor(touched: ReadonlyMap<string, Touched>, slots: Slots, placed: Placed, blobs: BlobPort): ReadonlyMap<Bench, readonly Wanted[]> {
  const newest = [...touched.values()].reverse();
  const files = [...newest.filter(({ written }) => written).slice(0, MOST_WRITTEN), ...newest.filter(({ written }) => !written).slice(0, MOST_READ)];
  const byBench = new Map<Bench, Wanted[]>();
  for (const { path, written, before } of files) {
    const place = placed(path);
    const bench = place === undefined ? undefined : slots.start(place.slot);
    if (place === undefined || bench === undefined) continue;
    const bytes = () => (before === undefined || before === 'none' ? undefined : blobs.get(before));
    const wanted: Wanted = { path, written, languageId: place.languageId, isNew: before === 'none', before: () => { const old = bytes(); return old === undefined ? undefined : textOf(old); } };
    byBench.set(bench, [...byBench.get(bench) ?? [], wanted]);
  }
  return byBench;
}

async function askBench(bench: Bench, file: Wanted, question: LanguageQuestion, doors: AskDoors, signal: AbortSignal): Promise<LanguageAnswer> {
  const { name } = bench.server.plan;
  try {
    const doc = await untilAborted(signal, bench.visit(file));
    if (doc === undefined) return { kind: 'problem', problem: 'The file is not there, is no text, or is too large for a language server.' };
    return await askServer(bench, doc, question, doors, signal);
  } catch (error) {
    return problemOf(error, name);
  }
}

async function askAll(slots: Slots, query: string, doors: AskDoors, find: () => readonly FoundServer[], signal: AbortSignal): Promise<LanguageAnswer> {
  const ready = slots.all().filter(({ bench }) => bench?.server.isReady() === true);
  if (ready.length === 0) return { kind: 'problem', problem: `No language server is at work yet: ask about a file first (documentSymbols). ${find().length === 0 ? 'None is installed for this project.' : `There are: ${find().map(({ name }) => name).join(', ')}.`}` };
  const answers = await Promise.all(ready.map(async ({ bench, capabilities, found }) => {
    try {
      return bench === undefined ? undefined : await shown(await askSymbols(bench, query, SYMBOL_MS * 5, signal), found.name, capabilities?.encoding ?? 'utf-16', doors);
    } catch (error) {
      return problemOf(error, found.name);
    }
  }));
  const good = answers.flatMap((answer) => (answer?.kind === 'places' ? [answer] : []));
  const bad = answers.find((answer) => answer?.kind === 'problem');
  if (good.length === 0 && bad !== undefined) return bad;
  return { kind: 'places', places: good.flatMap(({ places }) => places), left: good.reduce((sum, { left }) => sum + left, 0), server: ready.map(({ found }) => found.name).join(', ') };
}

async function symbolsOf(slots: Slots, query: string, options: LanguageOptions, signal: AbortSignal): Promise<readonly Symbol[]> {
  const found = await Promise.all(slots.all().map(async ({ bench }) => (bench?.server.isReady() === true ? await askSymbols(bench, query, SYMBOL_MS, signal).catch(() => []) : [])));
  const typed = query.toLowerCase();
  const rank = ({ name }: Symbol): number => (name.toLowerCase() === typed ? 0 : name.toLowerCase().startsWith(typed) ? 1 : 2);
  return found.flat().flatMap((raw) => symbolOf(raw) ?? [])
    .filter(({ path }) => isInside(path, options) && !relative(options.cwd, path).split('/').includes('node_modules') && !options.denies(path))
    .sort((a, b) => rank(a) - rank(b) || a.name.length - b.name.length || (a.path < b.path ? -1 : 1)).slice(0, MOST_SYMBOLS);
}

/** Why there is no server for a file, and what would help. */
function whyNone(path: string, found: readonly FoundServer[], slot: Slot | undefined): string {
  const ending = extname(path);
  const server = serverFor(path, found)?.server;
  if (server === undefined) {
    const install = whatToInstall(path);
    return `There is no language server for ${ending === '' ? 'files without an ending' : `${oneLine(ending, 20)} files`} here.${install === undefined ? ' One can be named in the settings (languageServers).' : ` To get one: ${install}.`}`;
  }
  if (!server.allowed) return `The language server ${server.name} is not started: it can run what the project brings along, and the user has not trusted this folder yet, or not since its settings changed (/lsp trust).`;
  if (slot === undefined) return `${server.name} is not started for this file: it lies outside the workspace, or too many servers run already.`;
  return `The language server ${server.name} does not work: ${slot.problem ?? 'it is being started again'}. /lsp ${server.name} shows its log.`;
}

function serversOf(found: readonly FoundServer[], slots: Slots, configured: LanguageOptions['configured'] extends () => infer T ? T : never): readonly LanguageServer[] {
  const off = Object.entries(configured).filter(([, setting]) => setting === false).map(([name]): LanguageServer => ({ name, extensions: [], command: '', from: 'settings', state: 'off', files: 0 }));
  return [...found.flatMap((server): readonly LanguageServer[] => {
    const about = { name: server.name, extensions: Object.keys(server.extensions), command: [server.command, ...server.args].join(' '), from: server.from };
    const own = slots.all().filter((slot) => slot.found.name === server.name);
    if (own.length === 0) return [{ ...about, state: server.allowed ? 'idle' : 'untrusted', files: 0 }];
    return own.map((slot) => ({ ...about, state: stateOf(slot), files: slot.bench?.open ?? 0, ...detailOf(slot, own.length > 1) }));
  }), ...off];
}

function stateOf({ bench, problem }: Slot): LanguageServer['state'] {
  if (bench === undefined) return problem === undefined ? 'idle' : 'failed';
  return bench.server.isReady() ? 'ready' : 'starting';
}

function detailOf({ problem, root }: Slot, several: boolean): { readonly detail?: string } {
  const said = [...(several ? [`in ${root}`] : []), ...(problem === undefined ? [] : [problem])].join(': ');
  return said === '' ? {} : { detail: said };
}

function late(ms: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, ms).unref(); });
}

/** The work's own end, or a rejection once the signal aborts. */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (): void => { reject(new Error('interrupted')); };
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail, { once: true });
    work.then(resolve, reject).finally(() => { signal.removeEventListener('abort', fail); });
  });
}
