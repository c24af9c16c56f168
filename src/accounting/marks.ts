import type { ContentBlock } from '#domain/content.ts';
import type { CacheMarks, ModelRequest } from '#domain/request.ts';

/** A read looks back so many blocks from a mark; a request that adds more needs a mark where the last one ended. */
const LOOK_BACK = 15;

interface Place {
  readonly message: number;
  readonly block: number;
}

/**
 * Where the prompt cache is to be written: end of the system text; end of the head part (the summary and what followed it
 * at once); the last block; and the last block of the last answered request when more than fifteen were added since. At
 * most four places, none on thinking or blank text. On a prompt that is too short to be cached a mark does nothing.
 */
export function cacheMarks(request: ModelRequest): CacheMarks {
  const places = request.messages.flatMap(({ content }, message) => (typeof content === 'string' ? [] : content.map((block, at) => ({ block, place: { message, block: at } }))));
  const lastMarkable = (before: number): Place | undefined => places.slice(0, Math.max(0, before)).findLast(({ block }) => takesMark(block))?.place;
  const ofHead = places.filter(({ place }) => place.message < request.headEnd).length;
  const answered = Math.min(request.answered, places.length);
  const wanted = [
    ...(ofHead > 0 ? [lastMarkable(ofHead)] : []),
    ...(answered > 0 && places.length - answered > LOOK_BACK ? [lastMarkable(answered)] : []),
    lastMarkable(places.length),
  ];
  const blocks = wanted.filter((place) => place !== undefined).filter((place, at, all) => all.findIndex((other) => same(other, place)) === at);
  return { system: request.system.length > 0, blocks: blocks.sort((a, b) => a.message - b.message || a.block - b.block) };
}

function takesMark(block: ContentBlock): boolean {
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return false;
  return block.type === 'text' ? block.text.trim() !== '' : MARKABLE.has(block.type);
}

const MARKABLE: ReadonlySet<string> = new Set(['image', 'document', 'tool_use', 'tool_result']);

function same(a: Place, b: Place): boolean {
  return a.message === b.message && a.block === b.block;
}
