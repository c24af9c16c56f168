import type { EntryBody, EntryId } from '#domain/entry.ts';
import type { Entry } from '#domain/entry.ts';
import { entryOf } from '#domain/folds.ts';
import type { Reply } from '#domain/ports.ts';
import type { ModelRequest } from '#domain/request.ts';
import { isThinking } from './blocks.ts';

/** What may be done about a failed request before it is sent once more. */
export type Repair =
  | { readonly kind: 'compact' }
  | { readonly kind: 'append'; readonly bodies: readonly EntryBody[]; readonly said: string };

type Failed = Extract<Reply, { readonly kind: 'failed' }>;

/** The one repair for a class of refusal; undefined where nothing would change, so that sending again would be in vain. */
export function repairOf(reply: Failed, request: ModelRequest, log: readonly Entry[]): Repair | undefined {
  switch (reply.why) {
    case 'tooLong': return { kind: 'compact' };
    case 'signature': return stripped(reply, request);
    case 'image': return withoutMedia(reply, request, log);
    default: return undefined;
  }
}

function stripped(reply: Failed, { messages }: ModelRequest): Repair | undefined {
  const thinks = messages.some(({ content }) => typeof content !== 'string' && content.some(isThinking));
  if (!thinks) return undefined;
  return { kind: 'append', bodies: [{ type: 'strip', reason: reply.message }], said: 'The model\'s earlier thinking no longer fits this conversation and is left out.' };
}

function withoutMedia({ at }: Failed, { origins }: ModelRequest, log: readonly Entry[]): Repair | undefined {
  const origin = at === undefined ? undefined : origins[at.message]?.[at.block];
  const targets = (origin?.entries ?? []).filter((id) => holdsMedia(id, log));
  if (targets.length === 0) return undefined;
  return {
    kind: 'append',
    bodies: targets.map((target): EntryBody => ({ type: 'exclude', target, what: 'media' })),
    said: 'The model does not take one of the pictures or PDFs; it is left out.',
  };
}

function holdsMedia(id: EntryId, log: readonly Entry[]): boolean {
  const entry = entryOf(log, id);
  if (entry?.type === 'prompt') return (entry.media ?? []).length > 0;
  const parts = entry?.type === 'toolResult' ? entry.result.content : entry?.type === 'reminder' ? entry.parts : [];
  return parts.some(({ type }) => type === 'media');
}
