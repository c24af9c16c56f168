import { sha256 } from '#lib/hash.ts';

/** A request as far as the cache looks at it; whatever else it holds does not matter. */
export interface CacheableRequest {
  readonly model: string;
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly messages: unknown;
  readonly thinking?: unknown;
  readonly output_config?: unknown;
  readonly tool_choice?: unknown;
  /** The automatic mark: the last block that may bear one is marked. */
  readonly cache_control?: unknown;
}

/** The prompt's tokens in the API's own names; the prompt's total is the sum of the first three. */
export interface CacheUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: { readonly ephemeral_5m_input_tokens: number; readonly ephemeral_1h_input_tokens: number };
}

export interface PromptCache {
  /** Looks the request up, keeps what its marks say, and tells what was read and written. Call it once for each answered request. */
  use(request: CacheableRequest): CacheUsage;
}

export interface PromptCacheOptions {
  /** Tokens below which a prefix is not cached, for a model. Default: 512 for every model. */
  readonly minimum?: (model: string) => number;
  /** Milliseconds since the epoch. Default: the clock. */
  readonly now?: () => number;
}

type Lifetime = '5m' | '1h';

/** One block of the prompt in the order in which the cache hashes it. */
interface Piece {
  readonly level: 'tools' | 'system' | 'messages';
  readonly bytes: string;
  readonly tokens: number;
  readonly mark: Lifetime | undefined;
  readonly markable: boolean;
}

interface Kept {
  readonly lifetime: Lifetime;
  expires: number;
}

export const MAX_CACHE_MARKS = 4;
/** A read looks at the marked block and the 19 before it. */
const LOOK_BACK = 20;
const DEFAULT_MINIMUM = 512;
const CHARS_PER_TOKEN = 3.5;
const IMAGE_TOKENS = 1_600;
const DOCUMENT_TOKENS = 3_000;
const LIFETIME_MS: Record<Lifetime, number> = { '5m': 5 * 60_000, '1h': 60 * 60_000 };

/** A prompt cache that behaves as the API's: exact prefixes of tools, system and messages, written only at marks. */
export function createPromptCache({ minimum = () => DEFAULT_MINIMUM, now = Date.now }: PromptCacheOptions = {}): PromptCache {
  const kept = new Map<string, Kept>();
  return {
    use(request) {
      const time = now();
      for (const [hash, { expires }] of kept) if (expires <= time) kept.delete(hash);
      const pieces = piecesOf(request);
      const hashes = hashesOf(request, pieces);
      const sums = sumsOf(pieces);
      const marks = pieces.flatMap(({ mark }, at) => (mark === undefined ? [] : [{ at, lifetime: mark }])).slice(0, MAX_CACHE_MARKS);
      const read = readAt(kept, hashes, marks.map(({ at }) => at), time);
      const limit = minimum(request.model);
      return tally(sums, read, marks.filter(({ at }) => (sums[at] ?? 0) >= limit), ({ at, lifetime }) => {
        const hash = hashes[at];
        if (hash !== undefined) kept.set(hash, { lifetime, expires: time + LIFETIME_MS[lifetime] });
      });
    },
  };
}

/** Tokens of a whole request, by the same rough count that the cache uses. */
export function countTokens(request: CacheableRequest): number {
  return sumsOf(piecesOf(request)).at(-1) ?? 0;
}

/** Tokens of one text, by the same rough count that the cache uses. */
export function tokensOfText(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** Index of the longest prefix that is kept, or -1. A hit lives on from now. */
function readAt(kept: Map<string, Kept>, hashes: readonly string[], marks: readonly number[], time: number): number {
  for (const mark of [...marks].reverse()) {
    for (let at = mark; at >= 0 && at > mark - LOOK_BACK; at -= 1) {
      const hit = kept.get(hashes[at] ?? '');
      if (hit === undefined) continue;
      hit.expires = time + LIFETIME_MS[hit.lifetime];
      return at;
    }
  }
  return -1;
}

function tally(sums: readonly number[], read: number, marks: readonly { at: number; lifetime: Lifetime }[], keep: (mark: { at: number; lifetime: Lifetime }) => void): CacheUsage {
  const total = sums.at(-1) ?? 0;
  const readTokens = sums[read] ?? 0;
  const written = { '5m': 0, '1h': 0 };
  let upTo = readTokens;
  for (const mark of marks) {
    if (mark.at <= read) continue;
    const sum = sums[mark.at] ?? 0;
    written[mark.lifetime] += sum - upTo;
    upTo = sum;
    keep(mark);
  }
  return {
    input_tokens: total - upTo,
    cache_creation_input_tokens: upTo - readTokens,
    cache_read_input_tokens: readTokens,
    cache_creation: { ephemeral_5m_input_tokens: written['5m'], ephemeral_1h_input_tokens: written['1h'] },
  };
}

function sumsOf(pieces: readonly Piece[]): readonly number[] {
  let sum = 0;
  return pieces.map(({ tokens }) => (sum += tokens));
}

/** What is rendered into the prompt besides the blocks loses the messages' part only, as the API's table says. */
function hashesOf(request: CacheableRequest, pieces: readonly Piece[]): readonly string[] {
  const { thinking, output_config: output, tool_choice: choice } = request;
  const salt = JSON.stringify([thinking ?? null, output ?? null, choice ?? null]);
  let hash = sha256(request.model);
  let level: Piece['level'] = 'tools';
  return pieces.map((piece) => {
    const entersMessages = piece.level === 'messages' && level !== 'messages';
    level = piece.level;
    hash = sha256(`${hash}\n${entersMessages ? salt : ''}\n${piece.bytes}`);
    return hash;
  });
}

function piecesOf(request: CacheableRequest): readonly Piece[] {
  const all = listOf(request.tools).map(recordOf);
  const deferred = new Map(all.filter(isDeferred).map((tool) => [tool['name'], tool]));
  const tools = all.filter((tool) => !isDeferred(tool)).map((tool) => pieceOf('tools', '', tool));
  const system = blocksOf(request.system).map((block) => pieceOf('system', '', block));
  const messages = listOf(request.messages).flatMap((message) => {
    const { role, content } = recordOf(message);
    return blocksOf(content).map((block) => pieceOf('messages', String(role), withDefinitions(recordOf(block), deferred)));
  });
  const pieces = [...tools, ...system, ...messages];
  const automatic = lifetimeOf(request.cache_control);
  const last = automatic === undefined ? -1 : pieces.findLastIndex(({ markable }) => markable);
  return pieces.map((piece, at) => (at === last ? { ...piece, mark: piece.mark ?? automatic } : piece));
}

function isDeferred(tool: Readonly<Record<string, unknown>>): boolean {
  return tool['defer_loading'] === true;
}

/** A tool that is loaded on demand is no part of the prompt but where a result refers to it. */
function withDefinitions(block: Readonly<Record<string, unknown>>, deferred: ReadonlyMap<unknown, unknown>): Readonly<Record<string, unknown>> {
  const { type, content } = block;
  if (type !== 'tool_result' || !Array.isArray(content) || deferred.size === 0) return block;
  return { ...block, content: content.map((part: unknown) => {
    const { type: kind, tool_name: name } = recordOf(part);
    return kind === 'tool_reference' ? { ...recordOf(part), definition: deferred.get(name) ?? null } : part;
  }) };
}

function pieceOf(level: Piece['level'], role: string, block: unknown): Piece {
  const { cache_control: mark, ...rest } = recordOf(block);
  const bytes = `${level}:${role}:${JSON.stringify(withoutMarks(rest))}`;
  const type = rest['type'];
  return {
    level,
    bytes,
    tokens: tokensOfBlock(rest),
    mark: lifetimeOf(mark),
    markable: type !== 'thinking' && type !== 'redacted_thinking' && !(type === 'text' && rest['text'] === ''),
  };
}

function tokensOfBlock(block: Readonly<Record<string, unknown>>): number {
  if (block['type'] === 'image') return IMAGE_TOKENS;
  if (block['type'] === 'document') return DOCUMENT_TOKENS;
  if (block['type'] !== 'tool_result' || !Array.isArray(block['content'])) return tokensOfText(JSON.stringify(block));
  const { content, ...rest } = block;
  return tokensOfText(JSON.stringify(rest)) + listOf(content).reduce<number>((sum, part) => sum + tokensOfBlock(recordOf(part)), 0);
}

/** Marks inside a tool result's own blocks are no part of its bytes either. */
function withoutMarks(block: Readonly<Record<string, unknown>>): unknown {
  const { content } = block;
  if (!Array.isArray(content)) return block;
  return { ...block, content: content.map((part: unknown) => {
    const { cache_control: _, ...rest } = recordOf(part);
    return rest;
  }) };
}

function lifetimeOf(mark: unknown): Lifetime | undefined {
  if (mark === undefined || mark === null) return undefined;
  return recordOf(mark)['ttl'] === '1h' ? '1h' : '5m';
}

function blocksOf(content: unknown): readonly unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
