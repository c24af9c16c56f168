import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCollector } from '#attachments/collect.ts';
import { sources } from '#attachments/sources/list.ts';
import type { Json } from '#lib/brand.ts';
import { sha256 } from '#lib/hash.ts';
import type { BlobHash } from '#domain/content.ts';
import type { Collected } from '#domain/ports.ts';
import type { ReminderBody } from '#domain/reminder.ts';
import type { Session } from '#domain/session.ts';
import type { World } from '#domain/world.ts';
import { world } from '../attachments/world.ts';
import { answer, memoryBlobs, memorySession, prompt } from '../support/logs.ts';
import { nothing } from '../support/nothing.ts';
import { SITUATIONS } from './situations.ts';

type Fault = (...args: never) => unknown;
type Ports = Readonly<Record<string, unknown>>;

const signal = new AbortController().signal;
const everyOne = sources.map(({ id }) => id);

/** A session and a world in which every source has something to say. */
function stage(): { readonly session: Session; readonly world: World } {
  const session = memorySession();
  let ports: Partial<World> = { blobs: memoryBlobs() };
  for (const { id } of sources) {
    const made = SITUATIONS[id]?.('words', 'name');
    made?.log?.(session);
    ports = { ...ports, ...made?.world, thread: 'main', outside: { ...nothing.outside, ...saying(ports.outside), ...saying(made?.world?.outside) } };
  }
  session.append(prompt('@a remember'));
  return { session, world: world(session, ports) };
}

/** Of programs outside those that have something to say. */
function saying(outside: World['outside'] | undefined): Partial<World['outside']> {
  return Object.fromEntries(Object.entries(outside ?? {}).filter(([key, view]) => view !== nothing.outside[key as keyof World['outside']]));
}

/** Ports of the world by the names of their functions, such as `memory.files` or `skills`. */
const PORTS = ['mentions.load', 'mentions.named', 'mentions.agents', 'files.load', 'pins.views', 'memory.files', 'memory.nested', 'memory.recall', 'environment', 'changes.look', 'tools.has', 'tools.deferred', 'skills', 'agents.types', 'agents.self', 'agents.members', 'agents.mail', 'tasks', 'style', 'usage', 'blobs.put', 'blobs.get', 'outside.mcp.servers', 'outside.mcp.mentioned', 'outside.editor.name', 'outside.editor.selection', 'outside.editor.openFile', 'outside.editor.written', 'outside.languages.written'] as const;
/** Nobody waits for these. */
const AT_ONCE: ReadonlySet<string> = new Set(['mentions.agents', 'environment', 'tools.has', 'tools.deferred', 'agents.self', 'agents.members', 'blobs.put', 'blobs.get', 'outside.mcp.servers', 'outside.editor.name']);

function withFault(from: World, port: string, fault: Fault): World {
  const [group = '', name, inner] = port.split('.');
  const ports = from as unknown as Ports;
  if (name === undefined) return { ...from, [group]: fault };
  const members = ports[group] as Ports;
  return { ...from, [group]: { ...members, [name]: inner === undefined ? fault : { ...members[name] as object, [inner]: fault } } };
}

/** All of them, with so many milliseconds each. */
async function collect(at: { readonly session: Session; readonly world: World }, ms = 20_000): Promise<Collected> {
  const hurried = sources.map((source) => ({ ...source, limits: { ...source.limits, ms } }));
  return createCollector({ sources: hurried, on: () => everyOne, world: () => at.world }).collect('prompt', at.session, signal);
}

const users = new Map<string, Promise<ReadonlySet<string>>>();
let well: Promise<Collected> | undefined;

/** Sources that look through a port in this situation. */
function usersOf(port: string): Promise<ReadonlySet<string>> {
  const made = users.get(port) ?? lookForUsers(port);
  users.set(port, made);
  return made;
}

async function lookForUsers(port: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const source of sources) {
    const { session, world: from } = stage();
    const real = port.split('.').reduce<unknown>((ports, name) => (ports as Ports)[name], from) as (...args: unknown[]) => unknown;
    const watched = withFault(from, port, (...args: unknown[]) => {
      found.add(source.id);
      return real(...args);
    });
    await source.speak({ ...watched, log: session.log }, { kind: 'never' }, signal);
  }
  return found;
}

const bySource = ({ reminders }: Collected): ReadonlyMap<string, ReminderBody> => new Map(reminders.map((reminder) => [reminder.source, reminder]));

/** Whoever does not look through the port says what they always say; nobody else than those who do is at fault. */
async function expectOthersUnharmed(port: string, fault: Fault, ms?: number): Promise<Collected> {
  const those = await usersOf(port);
  const always = bySource(await (well ??= collect(stage())));
  const { session, world: from } = stage();
  const ill = await collect({ session, world: withFault(from, port, fault) }, ms);
  const said = bySource(ill);
  for (const [id, reminder] of always) if (!those.has(id)) expect([port, id, said.get(id)?.parts]).toEqual([port, id, reminder.parts]);
  const mute = [...always.keys()].filter((id) => !said.has(id));
  expect(mute.filter((id) => !those.has(id))).toEqual([]);
  return ill;
}

const GARBAGE: readonly unknown[] = [undefined, null, 7, 'x', [], {}, [null], [{}], [[]], { parts: 1, files: 'x', notes: null }, { changes: null }, () => 1];

describe.each(PORTS)('where the port %s', (port) => {
  it('throws, or rejects, only those who look through it are silent, and say why', async () => {
    for (const fault of [() => { throw new Error('on fire'); }, ...(AT_ONCE.has(port) ? [] : [() => Promise.reject(new Error('on fire'))])]) {
      const { faults } = await expectOthersUnharmed(port, fault);
      for (const { where } of faults.filter(({ message }) => message.includes('on fire'))) expect([...await usersOf(port)]).toContain(where.replace('reminder ', ''));
    }
  });
  it('gives what it never should, the others say what they have to say', async () => {
    for (const value of GARBAGE) await expectOthersUnharmed(port, AT_ONCE.has(port) ? () => value : () => Promise.resolve(value));
  });
});

it('where a port never answers, only those who wait for it are silent', async () => {
  await Promise.all(PORTS.filter((port) => !AT_ONCE.has(port)).map(async (port) => {
    const { faults } = await expectOthersUnharmed(port, () => new Promise(() => undefined), 1500);
    const those = await usersOf(port);
    for (const { where } of faults.filter(({ message }) => message.startsWith('no answer'))) expect([...those]).toContain(where.replace('reminder ', ''));
  }));
}, 30_000);

const BIG = 'a line of words\n'.repeat(300_000);
const many = <T>(n: number, make: (i: number) => T): readonly T[] => Array.from({ length: n }, (_, i) => make(i));
const touches = many(20_000, (i) => ({ path: `/w/f${i}`, hash: sha256(String(i)) as BlobHash, how: 'read' as const, kept: false }));
const loaded = { parts: [{ type: 'text', text: BIG }, ...many(2000, (i) => ({ type: 'text', text: `part ${i}` }))], files: touches, notes: many(200, (i) => `note ${i}`) };
const memories = [...many(2000, (i) => ({ path: `/w/${i}.md`, scope: 'project', text: `text ${i}`, notes: [] })), { path: '/w/big.md', scope: 'project', text: BIG, notes: [] }];
const agentType = (i: number): object => ({ name: `type-${i}`, description: BIG.slice(0, 100_000), scope: 'user', prompt: 'p', disallowedTools: [], reminder: BIG });

/** What each port may give in excess. */
const FLOODS: Readonly<Record<(typeof PORTS)[number], unknown>> = {
  'mentions.load': loaded, 'mentions.named': new Set(touches.map(({ path }) => path)), 'mentions.agents': many(50_000, (i) => `type-${i}`), 'files.load': loaded,
  'pins.views': many(300, (i) => ({ id: `file:${i}`, label: `${i}`, text: i === 0 ? BIG : `pin ${i}`, media: [], hash: sha256(String(i)), files: touches.slice(i, i + 1) })),
  'memory.files': memories, 'memory.nested': memories, 'memory.recall': memories,
  environment: { directory: `/${BIG}`, extraDirectories: many(20_000, (i) => `/w/${i}`), repository: true, branch: BIG, platform: BIG, shell: BIG },
  'changes.look': { changes: touches.map((touch) => ({ ...touch, label: touch.path, kind: 'changed', patch: BIG })), skipped: 20_000, settling: false },
  'tools.has': true, 'tools.deferred': many(5000, (i) => ({ name: `tool-${i}`, summary: BIG.slice(0, 5000) })),
  skills: many(5000, (i) => ({ name: `skill-${i}`, description: BIG.slice(0, 5000), scope: 'nested', form: 'skill', from: `f${i}`, file: '/w/S.md', modelMayUse: true, userMayUse: true, bytes: 9 })),
  'agents.types': many(1000, agentType), 'agents.self': { name: BIG, type: agentType(0), named: true }, 'agents.members': many(1000, (i) => ({ name: `m${i}`, type: BIG.slice(0, 1000), title: BIG.slice(0, 1000), state: 'idle' })),
  'agents.mail': many(5000, (i) => ({ id: String(i).padStart(16, '0'), from: BIG.slice(0, 1000), to: 'lead', text: BIG.slice(0, 10_000), at: '' })),
  tasks: many(2000, (i) => ({ id: 'shell-1', kind: 'shell', title: i < 1 ? BIG : 'x', state: 'failed', exitCode: 3, file: '/t', bytes: 1e12, readBytes: 0, startedAtMs: 0, tail: i < 1 ? BIG : 'x' })),
  style: { name: BIG, body: BIG, companion: { name: BIG, text: BIG } }, usage: { used: 1e300, limit: 1, window: 1, autoCompact: true, output: 1e300, usd: 1e300, budgetUsd: 1e-300 },
  'blobs.put': { hash: BIG.slice(0, 64), bytes: 1 }, 'blobs.get': new Uint8Array(4_000_000),
  'outside.mcp.servers': many(2000, (i) => ({ name: i === 0 ? BIG : `server ${i}`, scope: 'user', transport: 'stdio', state: 'connected', instructions: i < 30 ? BIG : 'x', tools: [], resources: [], prompts: [], notes: [] })),
  'outside.mcp.mentioned': many(300, (i) => ({ server: i === 0 ? BIG : 's', uri: i === 0 ? BIG : `a://${i}`, parts: [{ type: 'text', text: i === 0 ? BIG : `part ${i}` }], notes: many(20, (n) => `note ${n}`) })),
  'outside.editor.name': BIG, 'outside.editor.selection': { path: `/w/${BIG}`, label: BIG, fromLine: 1, toLine: 300_000, text: BIG, saved: false }, 'outside.editor.openFile': { path: `/w/${BIG}`, label: BIG },
  'outside.editor.written': { answered: many(20_000, (i) => `/w/f${i}`), diagnostics: many(20_000, (i) => ({ path: `/w/f${i}`, label: i === 0 ? BIG : `f${i}`, line: i, column: 1, severity: 'error', message: i < 5 ? BIG : `m${i}`, source: 'x', code: 'y' })) },
  'outside.languages.written': many(5000, (i) => ({ path: `/w/g${i}`, label: i === 0 ? BIG : `g${i}`, whole: true, reports: many(i < 5 ? 3000 : 1, (n) => ({ path: `/w/g${i}`, line: n, column: 1, severity: 'error', fresh: true, text: 'x', message: n === 0 ? BIG.slice(0, 100_000) : `m${n}` })) })),
};

/** UTF-8 bytes that a snapshot may take in the log, whatever happens. */
const LARGEST_SNAPSHOT = 1024 * 1024;

it.each(PORTS)('where the port %s gives megabytes, each keeps to its cap', async (port) => {
  const flood = FLOODS[port];
  const { reminders } = await expectOthersUnharmed(port, AT_ONCE.has(port) ? () => flood : () => Promise.resolve(flood));
  for (const { source, parts, snapshot } of reminders) {
    const most = (sources.find(({ id }) => id === source)?.limits.tokens ?? 0) * 3 + 200;
    expect([source, Math.max(most, parts.reduce((sum, part) => sum + (part.type === 'text' ? Buffer.byteLength(part.text) : 0), 0))]).toEqual([source, most]);
    expect([source, Math.max(LARGEST_SNAPSHOT, Buffer.byteLength(JSON.stringify(snapshot)))]).toEqual([source, LARGEST_SNAPSHOT]);
  }
}, 30_000);

describe('a snapshot that is none', () => {
  const said = stage();
  it.each(sources.map((source) => [String(source.id), source] as const))('is lost to %s: it speaks whole, or is silent', async (_, source) => {
    await fc.assert(fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('prompt' as const, 'step' as const), fc.boolean(), async (value, moment, there) => {
      const session = memorySession(JSON.parse(JSON.stringify(said.session.log)) as never);
      const before = { kind: 'sent' as const, snapshot: value as Json, stepsAgo: 99, times: 1, gone: false };
      const spoken = await source.speak({ ...(there ? said.world : world(session)), log: session.log, moment }, before, signal);
      expect(['full', 'delta', 'brief', 'gone', undefined]).toContain(spoken?.reminder.form);
      session.append({ type: 'reminder', moment, source: source.id, form: 'full', parts: [], snapshot: value as Json });
      session.append(answer('x'));
      const others = await collect({ session, world: { ...said.world, log: session.log } });
      expect(others.faults.filter(({ message }) => !message.includes('a note') && !message.includes('brings'))).toEqual([]);
    }), { numRuns: 5 });
  });
});

