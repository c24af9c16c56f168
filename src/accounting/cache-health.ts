import { defineFold } from '#lib/fold.ts';
import type { Usage } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { promptTokens } from './prices.ts';

/** Why a prompt was not read from the cache though it had been there; the names are those of the status line's JSON. */
export type MissCause = 'system_prompt_changed' | 'tools_changed' | 'model_changed' | 'messages_rewritten' | 'ttl_expired_5m' | 'ttl_expired_1h' | 'unknown';

/** How the prompt cache did in a conversation. Times in milliseconds since the epoch. */
export interface CacheHealth {
  readonly requests: number;
  /** Whether any prompt was written to the cache or read from it. */
  readonly observed: boolean;
  readonly life: '5m' | '1h';
  /** When what the last request read or wrote goes cold; undefined where it did neither. */
  readonly expiresAtMs: number | undefined;
  /** Tokens over all requests. */
  readonly read: number;
  readonly written: number;
  readonly uncached: number;
  /** Tokens that were lost from the cache: against expectation, and because the conversation was changed on purpose. */
  readonly misses: number;
  readonly rebuilds: number;
  readonly missTokens: number;
  readonly lastMiss: { readonly atMs: number; readonly causes: readonly MissCause[] } | undefined;
  /** Tokens of the last prompt. */
  readonly prompt: number;
}

interface State extends CacheHealth {
  /** What the next request can read. */
  readonly cached: number;
  readonly model: string | undefined;
  readonly head: Extract<Entry, { type: 'head' }> | undefined;
  /** What has changed since the last request. */
  readonly changed: readonly MissCause[];
}

const BEGINNING: State = {
  requests: 0, observed: false, life: '5m', expiresAtMs: undefined, read: 0, written: 0, uncached: 0, misses: 0, rebuilds: 0, missTokens: 0, lastMiss: undefined, prompt: 0,
  cached: 0, model: undefined, head: undefined, changed: [],
};
/** A drop of fewer tokens, or by less than a twentieth, is the grain of the cache. */
const LEAST_MISS = 2000;
const GRAIN = 0.95;
const LIFE_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const;

/** Over the replies of one log. */
export const cacheHealthOf: (log: readonly Entry[]) => CacheHealth = defineFold<Entry, State>(BEGINNING, (now, entry) => {
  switch (entry.type) {
    case 'head': return { ...now, head: entry, changed: [...now.changed, ...changesOf(now.head, entry)] };
    case 'compaction': case 'exclude': case 'restore': case 'rewind': case 'strip': return { ...now, changed: [...now.changed, 'messages_rewritten'] };
    case 'assistant': return promptTokens(entry.usage) === 0 ? now : answered(now, entry.usage, entry.model, Date.parse(entry.at));
    default: return now;
  }
});

function changesOf(before: State['head'], after: NonNullable<State['head']>): readonly MissCause[] {
  if (before === undefined) return [];
  return [
    ...(before.model === after.model ? [] : ['model_changed'] as const),
    ...(JSON.stringify(before.system) === JSON.stringify(after.system) ? [] : ['system_prompt_changed'] as const),
    ...(JSON.stringify(before.tools) === JSON.stringify(after.tools) ? [] : ['tools_changed'] as const),
  ];
}

function answered(now: State, usage: Usage, model: string, atMs: number): State {
  const touched = usage.cacheRead + usage.cacheWrite > 0;
  const life = usage.cacheWrite > 0 ? (usage.cacheWrite1h > 0 ? '1h' : '5m') : now.life;
  const lost = now.cached - usage.cacheRead;
  const missed = now.cached > 0 && usage.cacheRead < now.cached * GRAIN && lost >= LEAST_MISS;
  const deliberate = missed && now.changed.length > 0 && now.changed.every((cause) => cause === 'messages_rewritten');
  const expired = now.expiresAtMs !== undefined && atMs > now.expiresAtMs ? [`ttl_expired_${now.life}` as const] : [];
  const changed = now.model !== undefined && now.model !== model && !now.changed.includes('model_changed') ? ['model_changed' as const, ...now.changed] : now.changed;
  const causes: readonly MissCause[] = [...new Set([...changed, ...expired])];
  return {
    ...now, life, model, changed: [], requests: now.requests + 1, observed: now.observed || touched,
    expiresAtMs: touched ? atMs + LIFE_MS[life] : undefined,
    read: now.read + usage.cacheRead, written: now.written + usage.cacheWrite, uncached: now.uncached + usage.input,
    misses: now.misses + (missed && !deliberate ? 1 : 0), rebuilds: now.rebuilds + (deliberate ? 1 : 0), missTokens: now.missTokens + (missed && !deliberate ? lost : 0),
    lastMiss: missed && !deliberate ? { atMs, causes: causes.length === 0 ? ['unknown'] : causes } : now.lastMiss,
    prompt: promptTokens(usage), cached: usage.cacheRead + usage.cacheWrite,
  };
}
