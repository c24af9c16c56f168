import type { ContentBlock } from '#domain/content.ts';
import type { BlockPlace, CacheMarks, ModelRequest } from '#domain/request.ts';

/** A read looks back so many blocks from a mark; a request that adds more needs a mark where the last one ended. */
const LOOK_BACK = 15;
/** What was written for five minutes, or an hour, may be gone a little before: the time counts from the request's start. */
const SHORT_MS = 4.5 * 60_000;
const HOUR_MS = 57 * 60_000;
const MOST_MARKS = 4;

export interface MarkOptions {
  /** `auto`: five minutes, and an hour for what a pause of the user's is likely to follow. Otherwise the same for all. */
  readonly life: 'auto' | '5m' | '1h';
  /** Milliseconds since the last reply; undefined before the first. */
  readonly sinceReplyMs: number | undefined;
}

/**
 * Where the prompt cache is to be written: end of the system text; end of the head part (the summary and what followed it
 * at once); the last anchor, and the end of the last answered request, each when more than fifteen blocks were added since; the
 * last block. At most four places, none on thinking or blank text. On a prompt that is too short to be cached a mark does nothing.
 *
 * A write for an hour costs 2 instead of 1.25, but of the newest bytes only, and keeps all that stands before them for an hour
 * as well. So an anchor, a mark for an hour, is set where most is read and little is new: in the second request of a
 * conversation, and in each that brings a prompt, since people pause between turns. After a pause one turn's steps are written
 * again at most. The system text and the tools, which other sessions begin with too, are always kept for an hour.
 */
export function cacheMarks(request: ModelRequest, { life, sinceReplyMs }: MarkOptions = { life: '5m', sinceReplyMs: undefined }): CacheMarks {
  const places = request.messages.flatMap(({ content }, message) => (typeof content === 'string' ? [] : content.map((block, at) => ({ block, place: { message, block: at } }))));
  const lastMarkable = (before: number): BlockPlace | undefined => places.slice(0, Math.max(0, before)).findLast(({ block }) => takesMark(block))?.place;
  const far = (end: number): boolean => end > 0 && places.length - end > LOOK_BACK;
  const answered = Math.min(request.answered, places.length);
  const anchors = life === 'auto' ? anchorsIn(request) : [];
  const last = anchors.findLast((end) => end < places.length) ?? 0;
  const warm = sinceReplyMs !== undefined && sinceReplyMs < (last > 0 ? HOUR_MS : SHORT_MS);
  const hourUpTo = life === '1h' || (warm && anchors.at(-1) === places.length) ? lastMarkable(places.length) : warm ? lastMarkable(last) : undefined;
  const wanted = [
    lastMarkable(places.length),
    ...(far(answered) ? [lastMarkable(answered)] : []),
    ...(warm && far(last) ? [lastMarkable(last)] : []),
    lastMarkable(places.filter(({ place }) => place.message < request.headEnd).length),
  ];
  const blocks = wanted.filter((place) => place !== undefined).filter((place, at, all) => all.findIndex((other) => same(other, place)) === at);
  const system = request.system.length > 0 && blocks.length < MOST_MARKS;
  return {
    system: system && (life === '5m' ? '5m' : '1h'),
    blocks: blocks.sort((a, b) => a.message - b.message || a.block - b.block),
    ...(hourUpTo !== undefined && { hourUpTo }),
  };
}

/** How many blocks stand up to the end of each request that is to be an anchor. */
function anchorsIn({ messages, origins }: ModelRequest): readonly number[] {
  const second = messages.findIndex(({ role }) => role === 'assistant') + 1;
  let blocks = 0;
  return messages.flatMap(({ content }, message) => {
    blocks += typeof content === 'string' ? 0 : content.length;
    const speaks = origins[message]?.some(({ what }) => what === 'prompt' || what === 'queued') === true;
    return second > 0 && (message === second || (message > second && speaks)) ? [blocks] : [];
  });
}

function takesMark(block: ContentBlock): boolean {
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return false;
  return block.type === 'text' ? block.text.trim() !== '' : MARKABLE.has(block.type);
}

const MARKABLE: ReadonlySet<string> = new Set(['image', 'document', 'tool_use', 'tool_result']);

function same(a: BlockPlace, b: BlockPlace): boolean {
  return a.message === b.message && a.block === b.block;
}
