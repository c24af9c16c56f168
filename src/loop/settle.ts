import type { Json } from '#lib/brand.ts';
import type { ContentBlock } from '#domain/content.ts';
import type { EntryId, Event } from '#domain/entry.ts';
import { conversationOf } from '#domain/folds.ts';
import type { Reply } from '#domain/ports.ts';
import type { Call, CallId } from '#domain/tool.ts';
import { ABORTED, patience } from './abort.ts';
import { heard, keep } from './ask.ts';
import { isBlank, isThinking } from './blocks.ts';
import { answerAll, failedCall, runCalls } from './calls.ts';
import { compact } from './compact.ts';
import { repetition } from './repeats.ts';
import { type Ended, ended, INTERRUPTED, stopped, type Turn } from './turn.ts';

/** What a reply leads to: a next step with its reminders, the same again (a paused reply), or the end. */
export type Next = { readonly kind: 'step' } | { readonly kind: 'resend' } | { readonly kind: 'answered' } | Ended;

type Message = Extract<Reply, { readonly kind: 'message' }>;

const MOST_CUTS = 3;
const MOST_PAUSES = 10;
/** Only after these is a call known to be whole. */
const WHOLE: ReadonlySet<string> = new Set(['tool_use', 'end_turn', 'stop_sequence']);
const CUT_CALL = 'Not run: the reply was cut at the output limit before it was finished. Send the call again in smaller parts.';
const CUT_BY_WINDOW = 'Not run: the reply was cut because the context window was full.';
const ODD_END = 'Not run: the reply did not end properly.';

/** Keeps a reply, runs what it calls for, and says how the turn goes on. */
export async function* settle(turn: Turn, reply: Message | Extract<Reply, { readonly kind: 'interrupted' }>): AsyncGenerator<Event, Next> {
  const { session } = turn;
  if (reply.kind === 'interrupted') {
    const { content, usage, model } = reply;
    yield* keep(session, { type: 'assistant', content: content.filter(({ type }) => type === 'text'), usage, stop: 'interrupted', model });
    return INTERRUPTED;
  }
  if (reply.stop === 'refusal') return yield* settleRefusal(turn, reply);
  const { content, usage, stop, model, messageId } = reply;
  yield* keep(session, { type: 'assistant', content, usage, stop, model, ...(messageId === undefined ? {} : { messageId }) });
  const calls = callsOf(content);
  if (stop === 'pause_turn') return yield* settlePause(turn, calls);
  if (WHOLE.has(stop)) return calls.length > 0 ? yield* settleCalls(turn, calls) : yield* settleAnswer(turn, content);
  return yield* settleCut(turn, calls, stop);
}

function callsOf(content: readonly ContentBlock[]): Call[] {
  return content.flatMap((block) => (block.type === 'tool_use' ? [{ id: block.id as CallId, tool: block.name, input: block.input as Json }] : []));
}

async function* settleCalls(turn: Turn, calls: readonly Call[]): AsyncGenerator<Event, Next> {
  const { session, ports, signal } = turn;
  const end = yield* runCalls(calls, { session, ports, signal });
  if (signal.aborted) return INTERRUPTED;
  if (end.kind === 'refused') return ended(stopped(end.why));
  const said = yield* afterCalls(turn, calls);
  if (signal.aborted) return INTERRUPTED;
  if (said !== undefined) return ended(stopped(said));
  const circle = repetition(session.log, turn.watchedFrom);
  if (circle === undefined) return { kind: 'step' };
  const goOn = await mayGoOn(turn, circle);
  if (goOn === ABORTED || signal.aborted) return INTERRUPTED;
  if (!goOn) return ended(stopped(`Stopped: ${circle}.`));
  turn.watchedFrom = session.log.length;
  return { kind: 'step' };
}

/** Lets hooks speak of all calls of a reply. Gives the line with which they end the turn, if they do. */
async function* afterCalls({ session, ports: { hooks }, signal }: Turn, calls: readonly Call[]): AsyncGenerator<Event, string | undefined> {
  if (hooks === undefined) return undefined;
  const results = new Map(session.log.flatMap((entry) => (entry.type === 'toolResult' ? [[entry.callId, entry.result] as const] : [])));
  const done = calls.flatMap((call) => {
    const result = results.get(call.id);
    return result === undefined ? [] : [{ call, result }];
  });
  return yield* heard(hooks.afterCalls(done, session, signal), session, signal);
}

/** A question that cannot be asked is answered by no: nobody is there to stop the circle later. */
async function mayGoOn({ session, ports, signal }: Turn, circle: string): Promise<boolean | typeof ABORTED> {
  try {
    return await patience(signal).await(ports.gate.goOn(`${circle}. Go on?`, session, signal));
  } catch {
    return false;
  }
}

function* settleAnswer({ session }: Turn, content: readonly ContentBlock[]): Generator<Event, Next> {
  const says = content.some((block) => !isThinking(block) && !(block.type === 'text' && isBlank(block.text)));
  if (!says) yield* keep(session, { type: 'notice', text: 'The model ended its turn without a word. Say "go on" to continue.', level: 'info' });
  return { kind: 'answered' };
}

function* settlePause(turn: Turn, calls: readonly Call[]): Generator<Event, Next> {
  yield* answerAll(calls, (call) => failedCall(call, ODD_END), turn.session);
  turn.pauses += 1;
  if (turn.pauses <= MOST_PAUSES) return { kind: 'resend' };
  return ended(stopped(`The model paused ${turn.pauses} times without an answer. Say "go on" to continue.`));
}

async function* settleCut(turn: Turn, calls: readonly Call[], stop: string): AsyncGenerator<Event, Next> {
  const { session, ports, signal } = turn;
  const why = stop === 'max_tokens' ? CUT_CALL : stop === 'model_context_window_exceeded' ? CUT_BY_WINDOW : ODD_END;
  yield* answerAll(calls, (call) => failedCall(call, why), session);
  if (stop === 'max_tokens' && calls.length > 0) {
    turn.cuts += 1;
    if (turn.cuts < MOST_CUTS) return { kind: 'step' };
    return ended(stopped(`The model's calls were cut at the output limit ${MOST_CUTS} times. Ask for the work in smaller parts.`));
  }
  if (stop === 'max_tokens') {
    yield* keep(session, { type: 'notice', text: 'The answer was cut at the output limit. Say "go on" to continue.', level: 'warning' });
    return { kind: 'answered' };
  }
  if (stop !== 'model_context_window_exceeded') return ended(stopped(`The reply ended for a reason that is not known here (${stop}).`));
  const outcome = yield* compact(session, ports, signal, { trigger: 'auto', keep: '' });
  if (outcome.kind === 'interrupted') return INTERRUPTED;
  const then = outcome.kind === 'answered' ? 'The conversation was compacted. Say "go on" to continue.' : 'It could not be compacted: start anew with /clear.';
  return ended(stopped(`The answer was cut because the context window was full. ${then}`));
}

/**
 * A refused reply is not part of the conversation, and neither is what led to it, or every later request would be refused
 * too: the conversation goes back to the last answer. The entry without content is kept because a refusal may cost money.
 */
function* settleRefusal({ session }: Turn, reply: Message): Generator<Event, Next> {
  const conversation = conversationOf(session.log);
  const from = conversation.findLastIndex((entry) => entry.type === 'prompt' || entry.type === 'assistant');
  const led = conversation[from];
  const to: EntryId | undefined = led?.type === 'assistant' ? led.id : conversation[from - 1]?.id;
  yield* keep(session, { type: 'assistant', content: [], usage: reply.usage, stop: 'refusal', model: reply.model });
  if (to !== undefined) yield* keep(session, { type: 'rewind', to });
  const said = reply.detail === undefined ? '' : ` (${reply.detail})`;
  const taken = to === undefined ? '' : ' What led to it was taken out of the conversation.';
  return ended(stopped(`The model refused to answer${said}.${taken} Put it differently, or take another model with /model.`));
}
