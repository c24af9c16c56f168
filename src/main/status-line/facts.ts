import { basename, dirname } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { defineFold } from '#lib/fold.ts';
import type { Usage } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { cwdOf, headOf } from '#domain/folds.ts';
import type { Session } from '#domain/session.ts';
import { cacheHealthOf } from '#accounting/cache-health.ts';
import { costOf } from '#accounting/cost.ts';
import { promptTokens } from '#accounting/prices.ts';
import { VERSION } from '#cli/version.ts';
import type { House } from '#main/house.ts';

/** Entries that may come while a reply is on its way: they are not what it waited for. */
const BESIDE: ReadonlySet<Entry['type']> = new Set(['queued', 'unqueued', 'attach', 'detach', 'command', 'notice', 'spent', 'task', 'taskRead', 'option', 'shell', 'mode', 'hookContext']);

/** What a log tells of replies and edits. */
interface Work {
  /** Milliseconds from what was sent to the reply, over all replies. */
  readonly apiMs: number;
  readonly sentAtMs: number;
  readonly last: Usage | undefined;
  readonly added: number;
  readonly removed: number;
  readonly prompt: string | undefined;
}

const workOf = defineFold<Entry, Work>({ apiMs: 0, sentAtMs: 0, last: undefined, added: 0, removed: 0, prompt: undefined }, (now, entry) => {
  const atMs = Date.parse(entry.at);
  const sentAtMs = BESIDE.has(entry.type) ? now.sentAtMs : atMs;
  const next = { ...now, sentAtMs };
  switch (entry.type) {
    case 'prompt': return { ...next, prompt: entry.id };
    case 'assistant': return { ...waited(next, now, atMs), ...(promptTokens(entry.usage) > 0 && { last: entry.usage }) };
    // What the next request weighs is not measured yet.
    case 'compaction': return { ...waited(next, now, atMs), last: undefined };
    case 'toolResult': return edited(next, entry);
    default: return next;
  }
});

function waited(next: Work, before: Work, atMs: number): Work {
  return { ...next, apiMs: before.apiMs + (before.sentAtMs === 0 ? 0 : Math.max(0, atMs - before.sentAtMs)) };
}

/** Lines of the diffs that edits showed. */
function edited(now: Work, { result }: Extract<Entry, { type: 'toolResult' }>): Work {
  if (result.kind !== 'ok' || !(result.files ?? []).some(({ how }) => how === 'write')) return now;
  const lines = result.card.body.flatMap((block) => (block.type === 'diff' ? block.patch.split('\n') : []));
  return { ...now, added: now.added + lines.filter((line) => line.startsWith('+')).length, removed: now.removed + lines.filter((line) => line.startsWith('-')).length };
}

/** What a status line command is given on its standard input: names and meanings are those that other shells' scripts read. */
export async function statusLineInput(house: House, conversation: { readonly session: Session; readonly file: string }, nowMs = Date.now()): Promise<Json> {
  const { desk, place, configuration, modes } = house;
  const { session, file } = conversation;
  const { log } = session;
  const facts = desk.facts();
  const { apiMs, last, added, removed, prompt } = workOf(log);
  const effort = headOf(log)?.effort ?? configuration.settings().effort ?? facts.defaultEffort;
  const cwd = cwdOf(log) ?? place.cwd;
  const worktree = worktreeOf(house);
  const cache = cacheBlock(log, nowMs);
  return {
    hook_event_name: 'Status', session_id: session.id, transcript_path: file, cwd, version: VERSION,
    ...(prompt !== undefined && { prompt_id: prompt }),
    model: { id: facts.id, display_name: facts.label },
    workspace: { current_dir: cwd, project_dir: configuration.project, added_dirs: configuration.roots().filter((root) => root !== place.cwd), ...(worktree !== undefined && { git_worktree: worktree }) },
    output_style: { name: (await modes.style(session))?.name ?? 'default' },
    cost: {
      total_cost_usd: costOf(log).usd ?? 0, total_duration_ms: Math.max(0, Math.round(nowMs - performance.timeOrigin)), total_api_duration_ms: apiMs,
      total_lines_added: added, total_lines_removed: removed,
    },
    context_window: windowBlock(last, facts.window),
    exceeds_200k_tokens: last !== undefined && promptTokens(last) > 200_000,
    ...(effort !== undefined && { effort: { level: effort } }),
    thinking: { enabled: facts.thinking !== 'none' }, fast_mode: false,
    ...(cache !== undefined && { prompt_cache: cache }),
  };
}

/** Shares of the window go by the prompt alone: output is no part of it yet. */
function windowBlock(last: Usage | undefined, window: number): Json {
  const prompt = last === undefined ? 0 : promptTokens(last);
  const used = window === 0 ? 0 : Math.min(100, Math.round((prompt / window) * 100));
  return {
    total_input_tokens: prompt, total_output_tokens: last?.output ?? 0, context_window_size: window,
    used_percentage: last === undefined ? null : used, remaining_percentage: last === undefined ? null : 100 - used,
    current_usage: last === undefined ? null : { input_tokens: last.input, output_tokens: last.output, cache_creation_input_tokens: last.cacheWrite, cache_read_input_tokens: last.cacheRead },
  };
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

function cacheBlock(log: readonly Entry[], nowMs: number): Json | undefined {
  const health = cacheHealthOf(log);
  if (health.requests === 0) return undefined;
  const all = health.read + health.written + health.uncached;
  return {
    warm: health.expiresAtMs !== undefined && health.expiresAtMs > nowMs, caching_observed: health.observed, ttl: health.life,
    ...(health.expiresAtMs !== undefined && { expires_at: seconds(health.expiresAtMs) }),
    requests: health.requests, hit_ratio: all === 0 ? null : health.read / all, misses: health.misses, expected_rebuilds: health.rebuilds,
    cache_write_tokens: health.written, miss_recache_tokens: health.missTokens, recache_tokens_if_cold: health.prompt,
    ...(health.lastMiss !== undefined && { last_miss_at: seconds(health.lastMiss.atMs), last_miss_cause: { causes: health.lastMiss.causes } }),
  };
}

/** When the cache of a conversation goes cold (ms since the epoch). */
export function coldAt(log: readonly Entry[]): number | undefined {
  return cacheHealthOf(log).expiresAtMs;
}

/** The name of the linked work tree that this is, if it is one. */
function worktreeOf({ place }: House): string | undefined {
  const directory = place.repository?.gitDirectory;
  return directory !== undefined && basename(dirname(directory)) === 'worktrees' ? basename(directory) : undefined;
}
