// The loop alone, on doors of one's own: a model that is a function, one tool, no permissions, no reminders, nothing on disk.
import { createSession, query, type Ports, type Reply } from 'pinion';

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
const replies: Reply[] = [
  { kind: 'message', content: [{ type: 'tool_use', id: 'call_1', name: 'Clock', input: {} }], stop: 'tool_use', usage, model: 'mine' },
  { kind: 'message', content: [{ type: 'text', text: 'It is noon.' }], stop: 'end_turn', usage, model: 'mine' },
];
const clock = { name: 'Clock', description: 'Tells the time.', input_schema: { type: 'object' as const } };

const ports: Ports = {
  model: {
    facts: () => ({ id: 'mine', label: 'Mine', window: 100_000, maxOutput: 1000, images: false, pdf: false, efforts: [], thinking: 'none', minimumCacheable: 0, known: true }),
    fit: async () => ({ tokens: 10, limit: 100_000, fits: true }),
    async *stream() { return replies.shift() ?? { kind: 'failed', why: 'server', message: 'there is no more' }; },
  },
  tools: {
    definitions: () => [clock], effect: () => 'reads', preview: async () => ({ title: 'Clock', body: [] }),
    async *run() { return { result: { kind: 'ok', content: [{ type: 'text', text: '12:00' }], card: { title: 'Clock', body: [] } } }; },
  },
  gate: { ask: async () => ({ kind: 'allow' }), goOn: async () => false },
  reminders: { collect: async () => ({ reminders: [], faults: [] }) },
  world: { now: () => new Date(), blobs: { put: () => undefined, get: () => undefined }, head: () => ({ type: 'head', model: 'mine', tools: [clock], system: [{ type: 'text', text: 'You tell the time.' }] }) },
};

const session = createSession();
const run = query(session, { text: 'What time is it?' }, ports, new AbortController().signal, { maxSteps: 5 });
let next = await run.next();
while (next.done !== true) next = await run.next();
console.log(next.value.kind, session.log.map(({ type }) => type).join(' '));
