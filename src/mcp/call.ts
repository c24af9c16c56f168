import * as z from 'zod';
import type { Session } from '#domain/session.ts';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { cutToLength } from '#lib/text.ts';
import type { Server } from './server.ts';
import { recordOf } from './lists.ts';
import { wasUnheard } from './lost.ts';

export interface CallRequest {
  readonly original: string;
  readonly input: Json;
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export type CallEnd =
  | { readonly kind: 'ok' | 'failed'; readonly result: unknown }
  /** Nothing came back. One line: why. */
  | { readonly kind: 'problem'; readonly why: string }
  | { readonly kind: 'interrupted' };

/** How long a call waits for a server that is being connected again. */
const WAIT_MS = 10_000;
const LONGEST_PROGRESS = 300;
/** A server that keeps saying how far it is has this many times the time. */
const MOST_TIMES = 6;
/** Between two words on how far a call is. */
const PROGRESS_MS = 100;
/** Until a connection that is gone is known to be. */
const LOST_MS = 1000;
const NEVER_MS = 2_000_000_000;

const anything = z.record(z.string(), z.unknown());

/** Calls a tool: yields how far it is, returns what came back. Never throws. An abort is told to the server. */
export async function* callTool(server: Server, request: CallRequest): AsyncGenerator<string, CallEnd> {
  const first = yield* callOnce(server, request);
  if (first.kind !== 'unheard') return first;
  await first.gone;
  const second = yield* callOnce(server, request);
  return second.kind === 'unheard' ? { kind: 'problem', why: second.why } : second;
}

/** The server is gone, or does not know us any more, and has heard nothing of the call. */
interface Unheard {
  readonly kind: 'unheard';
  readonly why: string;
  /** Resolves once the connection is known to be gone. */
  readonly gone: Promise<unknown>;
}

async function* callOnce(server: Server, request: CallRequest): AsyncGenerator<string, CallEnd | Unheard> {
  const { name } = server.configured;
  if (server.link === undefined && server.state === 'connecting') {
    yield `waits for the server ${name}`;
    await server.settled(AbortSignal.any([request.signal, AbortSignal.timeout(Math.min(WAIT_MS, request.timeoutMs))]));
  }
  const { link } = server;
  if (request.signal.aborted) return { kind: 'interrupted' };
  if (link === undefined || server.state !== 'connected') return { kind: 'problem', why: `The server ${name} is not connected${server.detail === undefined ? '' : ` (${server.detail})`}.` };
  const clock = createClock(request.timeoutMs);
  const progress = createMailbox();
  server.underway.push({ session: request.session, pause: clock.pause, resume: clock.resume });
  const mine = server.underway.at(-1);
  const running = link.client.request({ method: 'tools/call', params: { name: request.original, arguments: request.input as Record<string, unknown> } }, anything, {
    signal: AbortSignal.any([request.signal, clock.signal]), timeout: NEVER_MS,
    onprogress: (report) => {
      clock.again();
      progress.put(progressLine(report));
    },
  }).then(
    (result): CallEnd | Unheard => ({ kind: result['isError'] === true ? 'failed' : 'ok', result }),
    (error: unknown): CallEnd | Unheard => {
      if (request.signal.aborted) return { kind: 'interrupted' };
      const why = clock.passed() ?? `The server ${name} answered with an error: ${cutToLength(messageOf(error), 2000)}`;
      return wasUnheard(error) ? { kind: 'unheard', why, gone: Promise.race([link.closed.then(() => new Promise(setImmediate)), aborted(AbortSignal.any([request.signal, AbortSignal.timeout(LOST_MS)]))]) } : { kind: 'problem', why };
    },
  );
  try {
    for (;;) {
      const next = await Promise.race([running, progress.next()]);
      if (typeof next !== 'string') return next;
      yield next;
    }
  } finally {
    clock.stop();
    server.underway.splice(server.underway.findIndex((one) => one === mine), 1);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => { if (signal.aborted) resolve(); else signal.addEventListener('abort', () => { resolve(); }, { once: true }); });
}

function progressLine(report: unknown): string {
  const { progress, total, message } = recordOf(report);
  const share = typeof progress === 'number' && typeof total === 'number' && total > 0 ? `${Math.min(100, Math.max(0, Math.round((progress / total) * 100)))} %` : typeof progress === 'number' ? `${progress}` : '';
  return cutToLength([share, typeof message === 'string' ? oneLine(message, LONGEST_PROGRESS) : ''].filter((part) => part !== '').join(': '), LONGEST_PROGRESS);
}

/** The newest message only, and not too often: who is slow to ask has missed the others. */
function createMailbox() {
  let waiting: string | undefined;
  let given = 0;
  let wake = (): void => undefined;
  return {
    put(text: string) {
      waiting = text;
      wake();
    },
    async next(): Promise<string> {
      while (waiting === undefined) await new Promise<void>((resolve) => { wake = resolve; });
      const early = given + PROGRESS_MS - performance.now();
      if (early > 0) await new Promise((resolve) => { setTimeout(resolve, early).unref(); });
      given = performance.now();
      const text = waiting;
      waiting = undefined;
      return text;
    },
  };
}

/** Aborts after so long without a sign; stands still while the person is asked. */
function createClock(ms: number) {
  const controller = new AbortController();
  const began = Date.now();
  let paused = 0;
  let why: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const run = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      why = `No answer within ${ms / 1000} s. The server was told to stop; what it has done by then is not known.`;
      controller.abort(new Error(why));
    }, Math.min(ms, NEVER_MS));
  };
  run();
  return {
    signal: controller.signal,
    passed: () => why,
    again() { if (paused === 0 && Date.now() - began < MOST_TIMES * ms) run(); },
    pause() {
      paused += 1;
      clearTimeout(timer);
    },
    resume() {
      paused -= 1;
      if (paused === 0 && !controller.signal.aborted) run();
    },
    stop() {
      clearTimeout(timer);
      paused = Number.POSITIVE_INFINITY;
    },
  };
}
