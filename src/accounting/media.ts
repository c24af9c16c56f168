import type { ContentBlock, MediaPart, Part } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { pictureTier } from './models.ts';

/** A picture is cut into squares of so many pixels, each a token. */
const PATCH = 28;
const PAGE_TEXT = 2000;
/** A page without a known count is taken to have so many bytes. */
const PAGE_BYTES = 60_000;

/** Tokens of a picture or PDF for a model: by pixels and pages, never by the length of its base64. Unknown sizes count as the largest. */
export function mediaTokens(part: Pick<MediaPart, 'mime' | 'width' | 'height' | 'pages'> & { readonly blob: { readonly bytes: number } }, model: string): number {
  if (part.mime !== 'application/pdf') return pictureTokens(part.width, part.height, model);
  const pages = part.pages ?? Math.max(1, Math.ceil(part.blob.bytes / PAGE_BYTES));
  return pages * (PAGE_TEXT + Math.min(1568, pictureTier(model).tokens));
}

function pictureTokens(width: number | undefined, height: number | undefined, model: string): number {
  const tier = pictureTier(model);
  if (width === undefined || height === undefined || !(width > 0) || !(height > 0)) return tier.tokens;
  const scale = Math.min(1, tier.edge / Math.max(width, height));
  return Math.min(tier.tokens, Math.ceil(width * scale / PATCH) * Math.ceil(height * scale / PATCH));
}

/** Pictures and PDFs that an entry brought along. */
export function mediaIn(entry: Entry | undefined): readonly MediaPart[] {
  if (entry?.type === 'prompt') return entry.media ?? [];
  const parts: readonly Part[] = entry?.type === 'toolResult' ? entry.result.content : entry?.type === 'reminder' ? entry.parts : [];
  return parts.filter((part): part is MediaPart => part.type === 'media');
}

/** Which of the parts a block shows, told by type and length: a request holds bytes, but no pixels. */
export function partOf(block: ContentBlock, parts: readonly MediaPart[]): MediaPart | undefined {
  if ((block.type !== 'image' && block.type !== 'document') || block.source.type !== 'base64') return undefined;
  const { media_type: mime, data } = block.source;
  return parts.find((part) => part.mime === mime && Math.ceil(part.blob.bytes / 3) * 4 === data.length);
}
