import { messageOf } from '#lib/errors.ts';
import { firstNames } from '#lib/names.ts';
import type { Card } from '#domain/card.ts';
import type { EntryBody, Event } from '#domain/entry.ts';
import type { Ports, ToolOutcome, Verdict } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Call, ToolEffect, ToolResult } from '#domain/tool.ts';
import { abandon, ABORTED, GRACE_MS, patience } from './abort.ts';
import { keep } from './ask.ts';
import { isBlank } from './blocks.ts';
import { merge } from './merge.ts';

/** What the calls of a reply lead to: the turn goes on, unless the user refused without a word. */
export type CallsEnd = { readonly kind: 'done' } | { readonly kind: 'refused'; readonly why: string };

interface Work {
  readonly session: Session;
  readonly ports: Ports;
  readonly signal: AbortSignal;
}

type Decision =
  | { readonly kind: 'run'; readonly call: Call }
  /** `stop`: the turn ends, with this line for the user. */
  | { readonly kind: 'result'; readonly result: ToolResult; readonly stop?: string; readonly entries?: readonly EntryBody[] };

const NOT_RUN = 'Not run: the user interrupted before this call began.';

/**
 * Runs the calls of one reply: neighbouring reads in parallel, all others one by one, in order. The gate is asked before
 * each. Whatever happens, each call has exactly one result in the log afterwards, in the order of the calls.
 */
export async function* runCalls(calls: readonly Call[], work: Work): AsyncGenerator<Event, CallsEnd> {
  let refused: string | undefined;
  for (const batch of batchesOf(calls, work.ports)) {
    if (refused === undefined) refused = yield* runBatch(batch, work);
    else yield* answerAll(batch, notWanted, work.session);
  }
  return refused === undefined ? { kind: 'done' } : { kind: 'refused', why: refused };
}

/** Gives each call a result that says why none of them was run. */
export function* answerAll(calls: readonly Call[], resultFor: (call: Call) => ToolResult, session: Session): Generator<Event> {
  for (const call of calls) yield* keepResult(call, { result: resultFor(call) }, session);
}

export function failedCall(call: Call, why: string): ToolResult {
  return madeResult('failed', why, plainCard(call, why));
}

function notWanted(call: Call): ToolResult {
  return madeResult('refused', 'Not run: the user refused an earlier call of this reply.', plainCard(call, 'not run'));
}

/** Decides call by call, then runs what was allowed. Returns a line for the user where they ended the turn. */
async function* runBatch(batch: readonly Call[], work: Work): AsyncGenerator<Event, string | undefined> {
  const outcomes = new Map<Call, ToolOutcome>();
  const running: { readonly call: Call; readonly as: Call }[] = [];
  let stop: string | undefined;
  for (const call of batch) {
    const decision: Decision = stop === undefined ? yield* decide(call, work) : { kind: 'result', result: notWanted(call) };
    if (decision.kind === 'run') running.push({ call, as: decision.call });
    else outcomes.set(call, decision);
    if (decision.kind === 'result') stop ??= decision.stop;
  }
  let written = 0;
  const write = function* (): Generator<Event> {
    for (let next = batch[written]; next !== undefined; next = batch[written]) {
      const outcome = outcomes.get(next);
      if (outcome === undefined) return;
      written += 1;
      yield* keepResult(next, outcome, work.session);
    }
  };
  yield* write();
  for await (const { from, event, result } of merge(running.map(({ as }) => runOne(as, work)))) {
    if (event !== undefined) yield event;
    const call = running[from]?.call;
    if (result === undefined || call === undefined) continue;
    outcomes.set(call, result);
    stop ??= result.endTurn;
    yield* write();
  }
  return stop;
}

function* keepResult(call: Call, { result, entries }: ToolOutcome, session: Session): Generator<Event> {
  yield* keep(session, { type: 'toolResult', callId: call.id, tool: call.tool, result });
  yield* keepAll(entries, session);
}

function* keepAll(bodies: readonly EntryBody[] | undefined, session: Session): Generator<Event> {
  for (const body of bodies ?? []) yield* keep(session, body);
}

async function* decide(call: Call, { session, ports, signal }: Work): AsyncGenerator<Event, Decision> {
  if (signal.aborted) return { kind: 'result', result: madeResult('interrupted', NOT_RUN, plainCard(call, 'interrupted')) };
  if (effectOf(call, ports) === undefined) return { kind: 'result', result: unknownTool(call, ports) };
  let verdict: Verdict | typeof ABORTED;
  try {
    verdict = await patience(signal).await(ports.gate.ask(call, session, signal));
  } catch (thrown) {
    return { kind: 'result', result: failedCall(call, `Not run: the permission check failed (${messageOf(thrown)}).`) };
  }
  if (verdict === ABORTED || signal.aborted) return { kind: 'result', result: madeResult('interrupted', NOT_RUN, plainCard(call, 'interrupted')) };
  if (verdict.kind === 'allow') {
    yield* keepAll(verdict.entries, session);
    return { kind: 'run', call: verdict.call ?? call };
  }
  const card = await previewOf(call, { session, ports, signal });
  return {
    kind: 'result', result: { ...madeResult('refused', refusalText(verdict), { ...card, tone: 'bad', detail: refusedWith(verdict) }), refusedBy: verdict.by },
    ...(verdict.endTurn === true && { stop: verdict.stop ?? `You refused ${call.tool}. Say what to do instead.` }), ...(verdict.entries !== undefined && { entries: verdict.entries }),
  };
}

/** What the person sees: their own words, or the rule; a plain no needs no more. */
function refusedWith({ by, reason, endTurn }: Extract<Verdict, { readonly kind: 'refuse' }>): string {
  return (endTurn === true && by === 'user') || isBlank(reason) ? 'refused' : `refused: ${reason}`;
}

function refusalText({ by, reason }: Extract<Verdict, { readonly kind: 'refuse' }>): string {
  if (by !== 'user') return isBlank(reason) ? 'Not run: the call is not allowed.' : reason;
  return isBlank(reason) ? 'The user refused this call.' : `The user refused this call and said: ${reason}`;
}

async function* runOne(call: Call, work: Work): AsyncGenerator<Event, ToolOutcome> {
  const { session, ports, signal } = work;
  const card = await previewOf(call, work);
  if (signal.aborted) return { result: madeResult('interrupted', NOT_RUN, card) };
  yield { type: 'toolStarted', call, card };
  const run = ports.tools.run(call, session, signal);
  const wait = patience(signal, GRACE_MS);
  try {
    for (;;) {
      const next = await wait.await(run.next());
      if (next === ABORTED) return { result: madeResult('interrupted', '', { ...card, tone: 'bad', detail: 'interrupted' }) };
      if (next.done === true) return next.value;
      yield { type: 'toolProgress', callId: call.id, text: next.value };
    }
  } catch (thrown) {
    return { result: madeResult('failed', `The tool failed: ${messageOf(thrown)}`, { ...card, tone: 'bad', detail: messageOf(thrown) }) };
  } finally {
    abandon(run);
  }
}

async function previewOf(call: Call, { session, ports, signal }: Work): Promise<Card> {
  try {
    const card = await patience(signal).await(ports.tools.preview(call, session));
    return card === ABORTED ? plainCard(call) : card;
  } catch {
    return plainCard(call);
  }
}

function effectOf(call: Call, ports: Ports): ToolEffect | undefined {
  try {
    return ports.tools.effect(call);
  } catch {
    // A call that cannot be looked at is no read: it runs alone, and the tool says what is wrong with it.
    return 'executes';
  }
}

function unknownTool(call: Call, ports: Ports): ToolResult {
  const names = ports.tools.definitions().map(({ name }) => name).join(', ');
  const more = firstNames((ports.tools.deferred?.() ?? []).map(({ definition }) => definition.name));
  return failedCall(call, `There is no tool named "${call.tool}". The tools are: ${names || 'none'}.${more === '' ? '' : ` To be loaded with ToolSearch: ${more}.`}`);
}

function batchesOf(calls: readonly Call[], ports: Ports): Call[][] {
  const batches: Call[][] = [];
  let reading = false;
  for (const call of calls) {
    const reads = effectOf(call, ports) === 'reads';
    const last = batches.at(-1);
    if (reads && reading && last !== undefined) last.push(call);
    else batches.push([call]);
    reading = reads;
  }
  return batches;
}

function madeResult(kind: ToolResult['kind'], text: string, card: Card): ToolResult {
  return { kind, content: isBlank(text) ? [] : [{ type: 'text', text }], card };
}

function plainCard(call: Call, detail?: string): Card {
  return { title: call.tool, tone: 'bad', ...(detail === undefined ? {} : { detail }), body: [] };
}
