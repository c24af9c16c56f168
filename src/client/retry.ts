import type { Trouble } from './errors.ts';
import { inWords } from './watch.ts';

/** How long the client keeps trying. Times in milliseconds. */
export interface RetryPolicy {
  /** Most times that a request is sent again. */
  readonly tries: number;
  /** Counted from the first failure; no wait goes beyond it. */
  readonly budgetMs: number;
  /** First wait; doubles each time up to the cap. */
  readonly baseMs: number;
  readonly capMs: number;
  /** The same for a server that is overloaded. */
  readonly overloadedBaseMs: number;
  readonly overloadedCapMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { tries: 10, budgetMs: 10 * 60_000, baseMs: 500, capMs: 8_000, overloadedBaseMs: 2_000, overloadedCapMs: 30_000 };

export type Next =
  | { readonly kind: 'wait'; readonly ms: number; readonly attempt: number }
  /** `added`: what to tell beside the trouble itself. */
  | { readonly kind: 'stop'; readonly added: string };

export interface Retry {
  next(trouble: Trouble): Next;
  /** How often in a row the server was overloaded. */
  readonly overloads: number;
}

/** The one owner of retries for one request. */
export function createRetry(policy: RetryPolicy, now: () => number = Date.now): Retry {
  let sent = 0;
  let since: number | undefined;
  let overloads = 0;
  return {
    get overloads() { return overloads; },
    next(trouble) {
      overloads = trouble.why === 'overloaded' ? overloads + 1 : 0;
      const header = trouble.headers?.get('x-should-retry');
      if (trouble.retry === 'no' || header === 'false') return { kind: 'stop', added: '' };
      const time = now();
      since ??= time;
      if (sent >= policy.tries) return { kind: 'stop', added: sent === 0 ? '' : ` Gave up after ${sent + 1} attempts.` };
      const left = since + policy.budgetMs - time;
      if (left <= 0) return { kind: 'stop', added: ` Gave up after ${inWords(policy.budgetMs)}.` };
      const asked = retryAfterMs(trouble.headers, time);
      if (asked !== undefined && asked > left) return { kind: 'stop', added: ` The server asks to wait ${inWords(asked)}, which is too long to wait here.` };
      const back = backOff(policy, trouble.retry, sent);
      sent += 1;
      return { kind: 'wait', attempt: sent, ms: Math.round(Math.min(Math.max(asked ?? back, Math.min(back, 100)), left)) };
    },
  };
}

/** Doubling with jitter of a quarter up or down, so that many clients do not come back at once. */
function backOff(policy: RetryPolicy, kind: 'soon' | 'later', sent: number): number {
  const [base, cap] = kind === 'later' ? [policy.overloadedBaseMs, policy.overloadedCapMs] : [policy.baseMs, policy.capMs];
  return Math.min(cap, base * 2 ** sent) * (0.75 + Math.random() / 2);
}

/** What `retry-after-ms` or `retry-after` (seconds or an HTTP date) ask for; undefined for anything else, such as `-5` or `abc`. */
export function retryAfterMs(headers: Headers | undefined, now: number): number | undefined {
  const ms = numberIn(headers?.get('retry-after-ms'));
  if (ms !== undefined) return ms;
  const value = headers?.get('retry-after')?.trim();
  const seconds = numberIn(value);
  if (seconds !== undefined) return seconds * 1_000;
  if (value === undefined || !/^[A-Z][a-z]{2,8}, ?\d{2}[ -][A-Z][a-z]{2}/.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberIn(value: string | null | undefined): number | undefined {
  return value !== null && value !== undefined && /^[0-9]+(\.[0-9]+)?$/.test(value.trim()) ? Number(value) : undefined;
}

/** Resolves after the time; at once when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) { done(); return; }
    const end = (): void => { clearTimeout(timer); signal.removeEventListener('abort', end); done(); };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
