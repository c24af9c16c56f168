import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContentBlock, StopReason } from '#domain/content.ts';
import type { Entry, EntryBody, EntryId, HeadBody } from '#domain/entry.ts';
import { undeliveredOf } from '#domain/folds.ts';
import type { Collected, Ports, Reply } from '#domain/ports.ts';
import type { Moment, ReminderBody } from '#domain/reminder.ts';
import type { ModelRequest } from '#domain/request.ts';
import type { Session } from '#domain/session.ts';
import { compact } from '#loop/compact.ts';
import { project } from '#loop/project.ts';
import { query } from '#loop/query.ts';
import { checkRequest, flatten } from '../support/checker.ts';
import { BREAKS, call, memoryBlobs, memorySession, picture, reminder } from '../support/logs.ts';
import { extend, prefixOf, sign } from '../support/messages-server/binding.ts';
import { checkRequest as refusalOf } from '../support/messages-server/check.ts';
import { deliverQueue, toolText, USAGE } from './ports.ts';

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

interface ReplyPlan { readonly calls: number; readonly thinks: boolean; readonly says: boolean; readonly stop: StopReason; readonly fails: boolean }
interface TurnPlan {
  readonly replies: readonly ReplyPlan[];
  /** Number of the event at which the user interrupts; above the number of events: never. */
  readonly interrupt: number;
  readonly queue: boolean;
  readonly before: 'nothing' | 'exclude' | 'media' | 'restore' | 'rewind' | 'compact' | 'model' | 'shell';
  readonly pick: number;
}

const replyPlan: fc.Arbitrary<ReplyPlan> = fc.record({
  calls: fc.constantFrom(0, 0, 1, 2, 3), thinks: fc.boolean(), says: fc.boolean(), fails: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  stop: fc.constantFrom<StopReason>('end_turn', 'end_turn', 'end_turn', 'end_turn', 'max_tokens', 'refusal', 'something_new'),
});
const turnPlan: fc.Arbitrary<TurnPlan> = fc.record({
  replies: fc.array(replyPlan, { minLength: 1, maxLength: 4 }), interrupt: fc.integer({ min: 0, max: 40 }), queue: fc.boolean(), pick: fc.nat(99),
  before: fc.constantFrom<TurnPlan['before']>('nothing', 'nothing', 'nothing', 'exclude', 'media', 'restore', 'rewind', 'compact', 'model', 'shell'),
});

/** A session in memory with a model that refuses what the API refuses, thinking out of its place above all. */
function world(faults: string[]) {
  const blobs = memoryBlobs();
  const session = memorySession();
  const sent: { request: ModelRequest; length: number }[] = [];
  let plans: ReplyPlan[] = [];
  let ids = 0;
  let notes = 0;
  let system = 'You help.';
  let refusals = 0;
  const head = (): HeadBody => ({ type: 'head', system: [{ type: 'text', text: system }], tools: [{ name: 'Read', input_schema: { type: 'object' } }], model: 'claude-opus-5-5' });

  const bodyOf = ({ model, system: text, tools, messages }: ModelRequest) => ({ model, max_tokens: 1000, system: text, tools, messages, stream: true });

  function check(request: ModelRequest): 'signature' | undefined {
    faults.push(...checkRequest(request));
    const refusal = refusalOf(bodyOf(request));
    if (refusal?.message.includes('Invalid `signature`') === true) {
      refusals += 1;
      return 'signature';
    }
    if (refusal !== undefined) faults.push(refusal.message);
    const before = sent.at(-1);
    if (before !== undefined && !session.log.slice(before.length).some(({ type }) => BREAKS.has(type))) {
      const [old, now] = [flatten(before.request), flatten(request)];
      old.forEach((block, at) => { if (block !== now[at]) faults.push(`block ${at} changed: ${block} became ${now[at]}`); });
    }
    sent.push({ request, length: session.log.length });
    return undefined;
  }

  function replyTo(request: ModelRequest, plan: ReplyPlan): Reply {
    const body = bodyOf(request);
    const content: ContentBlock[] = [];
    let prefix = prefixOf(body);
    const add = (block: ContentBlock): void => {
      content.push(block);
      prefix = extend(prefix, 'assistant', block as unknown as Record<string, unknown>);
    };
    const think = (thinking: string): void => { add({ type: 'thinking', thinking, signature: sign(request.model, prefix, { type: 'thinking', thinking }) }); };
    if (plan.thinks) think(`thought ${ids}`);
    if (plan.says) add({ type: 'text', text: `answer ${ids}` });
    for (let n = 0; n < plan.calls; n += 1) {
      ids += 1;
      if (plan.thinks && n > 0) think(`more ${ids}`);
      add(call(`toolu_${ids}`, n === 2 ? 'Nope' : 'Read', { n: ids }));
    }
    return { kind: 'message', content, usage: USAGE, stop: plan.calls > 0 && plan.stop === 'end_turn' ? 'tool_use' : plan.stop, model: request.model };
  }

  const collect = (moment: Moment, at: Session): Collected => {
    notes += 1;
    const said = notes % 3 === 0 ? [] : [reminder(moment, `note ${notes}`, notes % 4 === 0 ? { media: [picture(blobs, `n${notes}.png`, PNG)] } : {}) as ReminderBody];
    return { reminders: [...said, ...deliverQueue(moment, at).reminders], faults: [] };
  };

  const ports: Ports = {
    model: {
      async *stream(request, signal) {
        const refused = check(request);
        if (refused !== undefined) return { kind: 'failed', why: refused, message: refused };
        yield { type: 'text', text: 'ans' };
        if (signal.aborted) return { kind: 'interrupted', content: [{ type: 'text', text: 'ans' }], usage: USAGE, model: request.model };
        const plan = plans.shift() ?? { calls: 0, thinks: true, says: true, stop: 'end_turn', fails: false };
        return plan.fails ? { kind: 'failed', why: 'overloaded', message: 'overloaded' } : replyTo(request, plan);
      },
      fit: async () => ({ tokens: 10, limit: 1000, fits: true }),
      facts: () => ({ id: 'm', label: 'M', window: 200_000, maxOutput: 1000, images: true, pdf: true, efforts: [], thinking: 'adaptive', minimumCacheable: 512, known: true }),
    },
    tools: {
      definitions: () => head().tools,
      effect: ({ tool }) => (tool === 'Read' ? 'reads' : undefined),
      preview: async () => ({ title: 'Read', body: [] }),
      async *run({ id }) {
        yield 'reading';
        if (id.endsWith('7')) throw new Error('unreadable');
        const outcome = toolText(`contents ${id}`);
        return id.endsWith('4') ? { result: { ...outcome.result, content: [picture(blobs, `${id}.png`, PNG)] } } : outcome;
      },
    },
    reminders: { collect: async (moment, at) => collect(moment, at) },
    gate: { ask: async ({ id }) => (id.endsWith('9') ? { kind: 'refuse', by: 'user', reason: '', endTurn: true } : { kind: 'allow' }), goOn: async () => true },
    world: { now: () => new Date(0), blobs, head },
  };

  async function before({ before: what, pick }: TurnPlan): Promise<void> {
    const target: EntryId = session.log[pick % Math.max(1, session.log.length)]?.id ?? ('none' as EntryId);
    const bodies: Partial<Record<TurnPlan['before'], EntryBody>> = {
      exclude: { type: 'exclude', target, what: 'entry' }, media: { type: 'exclude', target, what: 'media' }, restore: { type: 'restore', target },
      rewind: { type: 'rewind', to: target }, shell: { type: 'shell', command: 'ls', output: `out ${pick}`, exitCode: 0 },
    };
    const body = bodies[what];
    if (body !== undefined) session.append(body);
    if (what === 'model') system = `${system} And again.`;
    if (what !== 'compact') return;
    plans = [{ calls: 0, thinks: false, says: true, stop: 'end_turn', fails: false }];
    for await (const _ of compact(session, ports, new AbortController().signal, { trigger: 'manual', keep: '' }));
  }

  async function turn(plan: TurnPlan, number: number): Promise<void> {
    await before(plan);
    plans = [...plan.replies];
    const controller = new AbortController();
    const run = query(session, { text: `prompt ${number}` }, ports, controller.signal, { maxSteps: 4 });
    let events = 0;
    for (let next = await run.next(); next.done !== true; next = await run.next()) {
      if (events === plan.interrupt) controller.abort();
      if (events === 3 && plan.queue) session.append({ type: 'queued', text: `queued ${number}` });
      events += 1;
    }
  }

  return { session, ports, turn, refusals: () => refusals };
}

describe('any run of turns', () => {
  it('sends only what the API takes, each request a beginning of the next, thinking where it was made', async () => {
    await fc.assert(fc.asyncProperty(fc.array(turnPlan, { minLength: 1, maxLength: 6 }), async (turns) => {
      const faults: string[] = [];
      const at = world(faults);
      let changes = 0;
      for (const [number, plan] of turns.entries()) {
        await at.turn(plan, number);
        changes += plan.before === 'model' ? 1 : 0;
      }
      await at.turn({ replies: [], interrupt: 999, queue: false, before: 'nothing', pick: 0 }, 99);
      expect(faults).toEqual([]);
      // Only a changed system text may cost thinking its place.
      expect(at.refusals()).toBeLessThanOrEqual(changes);
      expect(undeliveredOf(at.session.log)).toEqual([]);
      expect(resultsPerCall(at.session.log)).toEqual([]);
      const replayed = JSON.parse(JSON.stringify(at.session.log)) as Entry[];
      expect(project(replayed, at.ports.world.blobs)).toEqual(project(at.session.log, at.ports.world.blobs));
    }), { numRuns: 100 });
  }, 60_000);
});

/** Calls of kept answers that have not exactly one result in the log. */
function resultsPerCall(log: readonly Entry[]): string[] {
  const results = log.flatMap((entry) => (entry.type === 'toolResult' ? [String(entry.callId)] : []));
  const called = log.flatMap((entry) => (entry.type === 'assistant' ? entry.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])) : []));
  return called.filter((id) => results.filter((result) => result === id).length !== 1);
}
