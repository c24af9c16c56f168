import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { PathPort } from '#domain/documents.ts';
import type { Diagnostic, EditorDiagnostics } from '#domain/editor.ts';
import type { Entry } from '#domain/entry.ts';
import { readable } from './selection.ts';
import type { EditorLink } from './link.ts';
import { diagnosticsIn, isFields } from './messages.ts';

/** Milliseconds that a tool waits for what the editor says of a file before it is changed. */
const BEFORE_MS = 300;
const ASK_MS = 600;
/** An editor needs a moment until it has seen a file and checked it. */
const SETTLE_MS = 700;
/** An editor that let a tool wait in vain is not asked again for so long. */
const SILENCE_MS = 30_000;
const MOST_FILES = 50;

interface Watched {
  /** How often each problem was there before the first of our writes. */
  readonly before: ReadonlyMap<string, number>;
  /** Milliseconds since the epoch of the last write, and whether the editor has said since that it has checked. */
  writtenAt: number;
  checked: boolean;
}

/** What an editor says of the files that our tools write, measured from what it said before. Known for this process only. */
export interface Checks {
  /** Asks what there is to say of a file that is about to be written. Never throws. */
  before(path: string, signal: AbortSignal): Promise<void>;
  /** The file was written, perhaps. */
  after(path: string): void;
  /** The editor says that it has checked these files; empty: some. */
  checked(paths: readonly string[]): void;
  now(log: readonly Entry[], signal: AbortSignal): Promise<EditorDiagnostics>;
  /** Another editor: what the last one said is no measure. */
  forget(): void;
}

export function createChecks(link: EditorLink, paths: PathPort, cwd: string): Checks {
  const watched = new Map<string, Watched>();
  let wake = (): void => undefined;
  let silentUntil = 0;
  /** Whether the editor says when it has checked files: not all do. */
  let says = false;
  const news = (): Promise<void> => new Promise((resolve) => { wake = resolve; });
  return {
    async before(path, signal) {
      const began = Date.now();
      if (watched.has(path) || watched.size >= MOST_FILES * 10 || began < silentUntil) return;
      const found = await diagnosticsOf(link, path, BEFORE_MS, signal);
      if (found === undefined && Date.now() - began >= BEFORE_MS) silentUntil = Date.now() + SILENCE_MS;
      if (found !== undefined) watched.set(path, { before: tally(found), writtenAt: 0, checked: false });
    },
    after(path) {
      const known = watched.get(path);
      if (known !== undefined) Object.assign(known, { writtenAt: Date.now(), checked: false });
    },
    checked(list) {
      says = true;
      for (const [path, known] of watched) if (list.length === 0 || list.includes(path)) known.checked = true;
      wake();
    },
    async now(log, signal) {
      const written = writtenIn(log);
      const asked = [...watched].filter(([path, { writtenAt }]) => writtenAt > 0 && written.has(path)).slice(-MOST_FILES);
      if (says) await settled(asked.map(([, known]) => known), news, signal);
      const answers = await Promise.all(asked.filter(([, known]) => isSettled(known)).map(([path, { before }]) => fresh(link, path, before, { paths, cwd, signal })));
      return { diagnostics: answers.flatMap((answer) => answer?.news ?? []), before: answers.flatMap((answer) => answer?.old ?? []), answered: answers.flatMap((answer) => answer?.path ?? []) };
    },
    forget() {
      watched.clear();
      [silentUntil, says] = [0, false];
    },
  };
}

function writtenIn(log: readonly Entry[]): ReadonlySet<string> {
  return new Set(log.flatMap((entry) => (entry.type === 'toolResult' ? entry.result.files ?? [] : [])).filter(({ how }) => how === 'write' || how === 'heard').map(({ path }) => path));
}

function isSettled({ checked, writtenAt }: Watched): boolean {
  return checked || Date.now() >= writtenAt + SETTLE_MS;
}

/** Until the editor has checked all of them, or has had its time to. */
async function settled(files: readonly Watched[], news: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (;;) {
    const wait = Math.max(0, ...files.filter((file) => !isSettled(file)).map(({ writtenAt }) => writtenAt + SETTLE_MS - Date.now()));
    if (wait === 0) return;
    const timer = new AbortController();
    await Promise.race([news(), sleep(wait, undefined, { signal: AbortSignal.any([signal, timer.signal]) }).catch(() => undefined)]);
    timer.abort();
    signal.throwIfAborted();
  }
}

interface Around {
  readonly paths: PathPort;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/** Undefined where the editor does not answer, or holds another text than the disk does. */
async function fresh(link: EditorLink, path: string, before: ReadonlyMap<string, number>, { paths, cwd, signal }: Around): Promise<{ readonly path: string; readonly news: EditorDiagnostics['diagnostics']; readonly old: EditorDiagnostics['diagnostics'] } | undefined> {
  const [found, dirty, at] = await Promise.all([diagnosticsOf(link, path, ASK_MS, signal), isDirty(link, path, signal), readable(path, paths, cwd)]);
  if (found === undefined || dirty || at === undefined) return undefined;
  const left = new Map(before);
  const named = found.map((one) => ({ ...one, path, label: at.label }));
  const isNew = named.map((one) => {
    const times = left.get(keyOf(one)) ?? 0;
    left.set(keyOf(one), times - 1);
    return times <= 0;
  });
  return { path, news: named.filter((_, i) => isNew[i]), old: named.filter((_, i) => !isNew[i]) };
}

/** Not by its place: lines move when something is written above them. */
function keyOf({ severity, source = '', code = '', message }: Diagnostic): string {
  return JSON.stringify([severity, source, code, message]);
}

function tally(all: readonly Diagnostic[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1);
  return counts;
}

async function diagnosticsOf(link: EditorLink, path: string, ms: number, signal: AbortSignal): Promise<readonly Diagnostic[] | undefined> {
  const [text] = (await link.ask('getDiagnostics', { uri: pathToFileURL(path).href }, ms, signal))?.texts ?? [];
  return text === undefined ? undefined : diagnosticsIn(text)?.filter((one) => one.path === path);
}

async function isDirty(link: EditorLink, path: string, signal: AbortSignal): Promise<boolean> {
  const [text] = (await link.ask('checkDocumentDirty', { filePath: path }, ASK_MS, signal))?.texts ?? [];
  try {
    const value = JSON.parse(text ?? '{}') as unknown;
    return isFields(value) && value['isDirty'] === true;
  } catch {
    return false;
  }
}
