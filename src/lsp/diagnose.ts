import { setTimeout as pause } from 'node:timers/promises';
import type { Doc } from './document.ts';
import type { Capabilities } from './protocol.ts';
import { reportsIn, type Said } from './reports.ts';
import { isFields } from './protocol.ts';
import type { Server } from './server.ts';

/** Milliseconds of silence after which what a server said unasked counts, and after which it counts as all. */
const QUIET_MS = 250;
const QUIET_WHOLE_MS = 1500;
/** A server that names no version may have meant the text of before: what it said before it had seen the new one counts only after so long. */
const LATE_MS = 1500;
const PULL_MS = 15_000;
const PULLS = 3;
const LOOK_MS = 40;
/** The server is at work on something else, or the text has changed meanwhile: ask again. */
const AGAIN: ReadonlySet<unknown> = new Set([-32801, -32802]);

export interface Answer {
  readonly items: readonly Said[];
  /** Whether it is all that will come. */
  readonly whole: boolean;
}

/** Asks for what is said of a file as the server has it; undefined when there is no answer, or the text changed meanwhile. */
export async function pullDiagnostics(server: Server, doc: Doc, capabilities: Capabilities): Promise<Answer | undefined> {
  const { version, text } = doc;
  for (let tries = 0; tries < PULLS && server.isReady(); tries += 1) {
    try {
      const report = await server.request('textDocument/diagnostic', { textDocument: { uri: doc.uri } }, PULL_MS);
      if (doc.version !== version || !isFields(report) || report['kind'] !== 'full') return undefined;
      const pulled = reportsIn(report['items'], doc.path, text, capabilities.encoding);
      const pushed = doc.pushed?.version === version ? doc.pushed.items.filter((one) => !pulled.some((other) => same(one, other))) : [];
      return { items: [...pulled, ...pushed], whole: true };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && AGAIN.has(error.code)) || doc.version !== version) return undefined;
      await pause(LOOK_MS);
    }
  }
  return undefined;
}

function same(a: Said, b: Said): boolean {
  return a.line === b.line && a.column === b.column && a.message === b.message;
}

/** What was said unasked, if it is of the text as the server has it now. */
export function pushedAnswer(doc: Doc, nowMs: number): Answer | undefined {
  const { pushed } = doc;
  if (pushed === undefined || (pushed.version !== undefined && pushed.version !== doc.version)) return undefined;
  const quiet = nowMs - pushed.atMs;
  if (pushed.version !== undefined) return quiet < QUIET_MS ? undefined : { items: pushed.items, whole: true };
  if (pushed.atMs < doc.sentAtMs || doc.heardAtMs === undefined || quiet < QUIET_MS) return undefined;
  if (pushed.atMs < doc.heardAtMs && nowMs - doc.heardAtMs < LATE_MS) return undefined;
  return { items: pushed.items, whole: quiet >= QUIET_WHOLE_MS };
}

/** Something cheap that a server answers in its turn: after it, it has seen what was sent before. */
export async function knock(server: Server, doc: Doc, capabilities: Capabilities): Promise<void> {
  if (doc.heardAtMs !== undefined) return;
  const { version } = doc;
  const textDocument = { uri: doc.uri };
  const asked = capabilities.has('documentSymbolProvider') ? server.request('textDocument/documentSymbol', { textDocument }, PULL_MS)
    : capabilities.has('hoverProvider') ? server.request('textDocument/hover', { textDocument, position: { line: 0, character: 0 } }, PULL_MS)
      : pause(LATE_MS);
  await Promise.resolve(asked).catch(() => undefined);
  if (doc.version === version) doc.heardAtMs ??= Date.now();
}

/** Waits until what was said unasked can be taken, `whole` or not; undefined when it is not in time. */
export async function awaitPushed(server: Server, doc: Doc, capabilities: Capabilities, until: { readonly ms: number; readonly whole: boolean }): Promise<Answer | undefined> {
  const { version } = doc;
  const knocked = knock(server, doc, capabilities);
  const end = Date.now() + until.ms;
  for (;;) {
    const now = Date.now();
    const answer = pushedAnswer(doc, now);
    if (answer !== undefined && (answer.whole || !until.whole)) return answer;
    if (now >= end || !server.isReady() || doc.version !== version) return answer;
    await Promise.race([pause(LOOK_MS), knocked.then(() => pause(LOOK_MS))]);
  }
}
