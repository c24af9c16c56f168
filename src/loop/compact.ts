import { NO_USAGE, type Usage } from '#domain/content.ts';
import type { CompactionBody, Entry, EntryId, EntryOf, Event } from '#domain/entry.ts';
import { compactionOf, conversationOf } from '#domain/folds.ts';
import type { Fit, Outcome, Ports, Reply } from '#domain/ports.ts';
import type { ModelRequest } from '#domain/request.ts';
import type { Session } from '#domain/session.ts';
import { ABORTED, patience } from './abort.ts';
import { ask, heard, keep } from './ask.ts';
import { isBlank } from './blocks.ts';
import instructions from './compact.md';
import { digestOf } from './digest.ts';
import { elided, SAVINGS } from './elide.ts';
import { project } from './project.ts';

export interface CompactOptions {
  readonly trigger: CompactionBody['trigger'];
  /** What the user asked to be kept above all, in their words; empty for nothing in particular. */
  readonly keep: string;
}

interface Summary {
  readonly text: string;
  readonly usage: Usage;
  readonly model: string;
}

/**
 * Replaces the conversation so far by a summary: the last request, byte for byte, with one more message that asks for it.
 * What does not fit is left out, oldest tool results first; a conversation that no model takes is summarised without one.
 * Writes one `compaction` entry at the end, or nothing at all when it fails or is interrupted.
 */
export async function* compact(session: Session, ports: Ports, signal: AbortSignal, options: CompactOptions): AsyncGenerator<Event, Outcome> {
  if (!hasConversation(session.log)) return { kind: 'stopped', message: 'There is nothing to compact yet.' };
  const trigger = options.trigger === 'manual' ? 'manual' : 'auto';
  if (ports.hooks !== undefined) {
    const stop = yield* heard(ports.hooks.beforeCompact(trigger, options.keep, session, signal), session, signal);
    if (stop !== undefined) return { kind: 'stopped', by: 'hook', message: stop };
    if (signal.aborted) return { kind: 'interrupted' };
  }
  yield { type: 'doing', what: 'compacting' };
  const before = await weigh(project(session.log, ports.world.blobs), ports, signal);
  if (before === ABORTED) return { kind: 'interrupted' };
  const summary = yield* summarise(session, ports, signal, options);
  if ('kind' in summary) return summary;
  const openPrompt = openPromptOf(session.log);
  yield* keep(session, {
    type: 'compaction', summary: summary.text, trigger: options.trigger, usage: summary.usage, model: summary.model, tokensBefore: before.tokens,
    ...(openPrompt === undefined ? {} : { openPrompt }),
  });
  if (ports.hooks !== undefined) yield* heard(ports.hooks.afterCompact(trigger, summary.text, session, signal), session, signal);
  return { kind: 'answered' };
}

/** Whether there is anything besides one unanswered prompt that a summary could stand for. */
export function hasConversation(log: readonly Entry[]): boolean {
  const conversation = conversationOf(log);
  return conversation.some(({ type }) => type === 'assistant') || conversation.filter(({ type }) => type === 'prompt').length > 1;
}

/** The user's words that no finished answer has followed yet: the last prompt, or queued words that were delivered without one. */
export function openPromptOf(log: readonly Entry[]): EntryId | undefined {
  const conversation = conversationOf(log);
  const end = conversation.findLastIndex(endsTurn);
  const since = conversation.slice(end + 1);
  const prompt = since.findLast(({ type }) => type === 'prompt')?.id ?? since.map((entry) => deliveredBy(entry, log)).findLast((id) => id !== undefined);
  return prompt ?? (end === -1 ? compactionOf(log)?.openPrompt : undefined);
}

function deliveredBy(entry: Entry, log: readonly Entry[]): EntryId | undefined {
  if (entry.type !== 'reminder' || (entry.userTexts ?? []).length === 0) return undefined;
  return log.find(({ id, type }) => type === 'queued' && id === entry.snapshot)?.id;
}

function endsTurn(entry: Entry): boolean {
  return entry.type === 'assistant' && entry.stop !== 'pause_turn' && !entry.content.some(({ type }) => type === 'tool_use')
    || entry.type === 'toolResult' && entry.result.kind === 'interrupted';
}

async function* summarise(session: Session, ports: Ports, signal: AbortSignal, options: CompactOptions): AsyncGenerator<Event, Summary | Outcome> {
  const { blobs } = ports.world;
  const whole = project([...session.log, requestFor(options.keep, ports)], blobs);
  let without = { media: false, thinking: false };
  for (let pass = options.trigger === 'salvage' ? 1 : 0; pass < SAVINGS.length;) {
    const savings = SAVINGS[pass];
    if (savings === undefined) break;
    const plain = savings.media || !without.media ? savings : { ...savings, media: true, thinking: true };
    const request = elided(whole, without.thinking ? { ...plain, thinking: true } : plain);
    const fit = await weigh(request, ports, signal);
    if (fit === ABORTED) return { kind: 'interrupted' };
    if (fit.unaffordable !== undefined) return { kind: 'outOfBudget', message: fit.unaffordable };
    if (fit.tokens > roomFor(ports)) {
      pass += 1;
      continue;
    }
    const reply = yield* quietly(ask(request, ports.model, signal));
    if (reply.kind === 'message') return summaryOf(reply);
    if (reply.kind === 'interrupted') return { kind: 'interrupted' };
    if (reply.why === 'tooLong') pass += 1;
    else if (reply.why === 'signature' && !without.thinking) without = { ...without, thinking: true };
    else if (reply.why === 'image' && !without.media) without = { media: true, thinking: true };
    else return { kind: 'failed', why: reply.why, message: `The conversation could not be compacted: ${reply.message}` };
  }
  return { text: digestOf(session.log), usage: NO_USAGE, model: whole.model };
}

/** Asked like a prompt, so that the request is the last one with one more message, or one more block in its last message. */
function requestFor(kept: string, ports: Ports): EntryOf<'prompt'> {
  const wish = isBlank(kept) ? '' : `\n\nThe user asks that this be kept above all: ${kept.trim()}`;
  return { type: 'prompt', id: 'compaction' as EntryId, at: ports.world.now().toISOString(), text: `${instructions.trim()}${wish}` };
}

/** Tokens that a request for a summary may have, so that the summary itself has room. */
function roomFor(ports: Ports): number {
  const { window } = ports.model.facts();
  return window - Math.min(16_000, Math.floor(window / 8));
}

/** Without an estimate, the provider decides what fits. */
async function weigh(request: ModelRequest, ports: Ports, signal: AbortSignal): Promise<Fit | typeof ABORTED> {
  try {
    return await patience(signal).await(ports.model.fit(request));
  } catch {
    return { tokens: 0, limit: ports.model.facts().window, fits: true };
  }
}

/** Of the summary's making only waits and faults are shown; its text is no answer to anybody. */
async function* quietly(asking: AsyncGenerator<Event, Reply>): AsyncGenerator<Event, Reply> {
  for (;;) {
    const next = await asking.next();
    if (next.done === true) return next.value;
    if (next.value.type === 'waiting' || next.value.type === 'fault') yield next.value;
  }
}

function summaryOf(reply: Extract<Reply, { readonly kind: 'message' }>): Summary | Outcome {
  const text = reply.content.flatMap((block) => (block.type === 'text' && !isBlank(block.text) ? [block.text.trim()] : [])).join('\n\n');
  if (reply.stop === 'refusal' || text === '') {
    return { kind: 'failed', why: 'invalid', message: 'The conversation could not be compacted: the model gave no summary. Try again, or start anew with /clear.' };
  }
  return { text, usage: reply.usage, model: reply.model };
}
