import { existsSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { Entry, EntryBody, PermissionMode } from '#domain/entry.ts';
import { attachmentsOf, todosOf, undeliveredOf } from '#domain/folds.ts';
import { project } from '#loop/project.ts';
import { type Dweller, household, type Household } from '../support/household.ts';
import { BREAKS } from '../support/logs.ts';
import { historyFaults, prefixFaults } from '../support/messages-server/history.ts';
import { call, type ReplyBlock, say, type ScriptedReply, think } from '../support/messages-server/reply.ts';
import { type MessagesServer, type Recorded, startServer } from '../support/messages-server/server.ts';
import { mindOf } from '../support/model-mind.ts';

const MODES: readonly PermissionMode[] = ['bypassPermissions', 'plan', 'auto'];
const NAMES = ['a.txt', 'b.txt', 'src/c.md'] as const;
type Name = (typeof NAMES)[number];

/** Something that happens to a file, by whoever. */
type Change = { readonly name: Name; readonly how: 'line' | 'append' | 'cut' | 'delete' | 'touch' | 'same' | 'rewrite'; readonly seed: number };
type Act =
  | { readonly act: 'read' | 'edit' | 'write' | 'shell'; readonly name: Name; readonly seed: number }
  | { readonly act: 'todo' | 'look' | 'fail' | 'load' | 'later'; readonly seed: number };
type Before =
  | { readonly what: 'pin' | 'pinRange' | 'unpin' | 'repin'; readonly name: Name }
  | { readonly what: 'todo' | 'done' | 'remove' | 'memory' | 'plan' | 'style' | 'compact' | 'resume' | 'fork' | 'midnight' | 'exclude' | 'ran' | 'nothing'; readonly seed: number };
interface Turn {
  readonly before: readonly Before[];
  readonly outside: readonly Change[];
  readonly mention: readonly Name[];
  /** One reply each; what changes on disk while the model writes it. */
  readonly replies: readonly { readonly acts: readonly Act[]; readonly thinks: boolean; readonly meanwhile: readonly Change[] }[];
  readonly queue: boolean;
  /** Number of the event at which the user interrupts. */
  readonly interrupt: number;
}

const name = fc.constantFrom(...NAMES);
const seed = fc.nat(9999);
const change: fc.Arbitrary<Change> = fc.record({ name, seed, how: fc.constantFrom('line', 'line', 'append', 'cut', 'delete', 'touch', 'same', 'rewrite') });
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('read', 'read', 'edit', 'write', 'shell'), name, seed }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('todo', 'look', 'fail', 'load', 'load', 'later'), seed }) },
);
const before: fc.Arbitrary<Before> = fc.oneof(
  fc.record({ what: fc.constantFrom('pin', 'pin', 'pinRange', 'unpin', 'repin'), name }),
  fc.record({ what: fc.constantFrom('todo', 'todo', 'done', 'remove', 'memory', 'plan', 'plan', 'style', 'compact', 'resume', 'resume', 'fork', 'midnight', 'exclude', 'ran', 'nothing'), seed }),
);
const turn: fc.Arbitrary<Turn> = fc.record({
  before: fc.array(before, { maxLength: 2 }), outside: fc.array(change, { maxLength: 2 }), mention: fc.array(name, { maxLength: 1 }), queue: fc.boolean(),
  replies: fc.array(fc.record({ acts: fc.array(act, { maxLength: 3 }), thinks: fc.boolean(), meanwhile: fc.array(change, { maxLength: 1 }) }), { maxLength: 3 }),
  interrupt: fc.oneof({ weight: 3, arbitrary: fc.constant(9999) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }) }),
});

const lines = (n: number, from: number): string => Array.from({ length: n }, (_, i) => `line ${from + i} of it\n`).join('');

/** A history as it is lived: one project, one server, and whoever holds the session now. */
class Life {
  readonly home: Household;
  readonly server: MessagesServer;
  readonly sent: { readonly request: Recorded; readonly log: readonly Entry[]; readonly length: number }[] = [];
  readonly userTodos = new Map<number, string>();
  dweller: Dweller;
  plans: Turn['replies'][number][] = [];
  numbers = 0;

  private constructor(server: MessagesServer, home: Household, dweller: Dweller) {
    this.server = server;
    this.home = home;
    this.dweller = dweller;
  }

  static async begin(): Promise<Life> {
    const holder: { life?: Life } = {};
    const server = await startServer({ now: () => 0, script: (request) => holder.life?.answer(request) ?? say('?') });
    const home = household(Object.fromEntries([...NAMES.map((each, i) => [each, lines(12, i * 100)]), ['AGENTS.md', 'Be brief.\n']]), server);
    const life = new Life(server, home, await home.open());
    holder.life = life;
    return life;
  }

  answer(request: Recorded): ScriptedReply {
    const { log } = this.dweller;
    this.sent.push({ request, log, length: log.length });
    const plan = this.plans.shift();
    if (plan === undefined) return say('Done.');
    for (const each of plan.meanwhile) this.change(each);
    return { content: [...(plan.thinks ? [think('Let me see.')] : []), { type: 'text', text: 'So.' }, ...plan.acts.map((each) => this.block(each))] };
  }

  block(each: Act): ReplyBlock {
    this.numbers += 1;
    if (each.act === 'todo') return call('TodoWrite', { todos: [{ content: `task ${each.seed % 5}`, status: each.seed % 2 === 0 ? 'in_progress' : 'completed' }] });
    if (each.act === 'look') return call('Glob', { pattern: `*${each.seed}*` });
    if (each.act === 'load') return call('ToolSearch', { query: ['select:WebFetch', 'select:WebSearch,WebFetch', 'web page', 'nothing like it'][each.seed % 4] });
    if (each.act === 'later') return call('WebFetch', each.seed % 2 === 0 ? { url: 'http://localhost:1/' } : {});
    if (each.act === 'fail') return call('Read', { file_path: `nothing-${this.numbers}` });
    if (!('name' in each)) throw new Error('an act without a file');
    const path = each.name;
    if (each.act === 'read') return call('Read', { file_path: path });
    if (each.act === 'write') return call('Write', { file_path: path, content: lines(6 + each.seed % 9, each.seed) });
    if (each.act === 'shell') return call('Bash', { command: `echo 'made by ${this.numbers}' >> ${path}` });
    const known = mindOf(this.server.requests.at(-1)?.body ?? {}).files.get(path) ?? '';
    const first = known.split('\n')[0] ?? '';
    return call('Edit', { file_path: path, old_string: `${first}\n`, new_string: `${first} edited ${this.numbers}\n` });
  }

  change({ name: path, how, seed: at }: Change): void {
    this.numbers += 1;
    const file = join(this.home.cwd, path);
    const now = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [''];
    const pick = at % now.length;
    if (how === 'delete') rmSync(file, { force: true });
    else if (how === 'touch' && existsSync(file)) utimesSync(file, new Date(), new Date(Date.now() + at));
    else if (how === 'same' && existsSync(file)) this.home.write(path, now.join('\n'));
    else if (how === 'line') this.home.write(path, now.map((line, i) => (i === pick && line !== '' ? `changed ${this.numbers}` : line)).join('\n'));
    else if (how === 'append') this.home.write(path, `${now.join('\n')}more ${this.numbers}\n`);
    else if (how === 'cut') this.home.write(path, [...now.slice(0, pick), ...now.slice(pick + 1)].join('\n'));
    else if (how === 'rewrite') this.home.write(path, lines(8 + at % 8, at));
  }

  async prepare(each: Before): Promise<void> {
    const { dweller } = this;
    const { log } = dweller;
    if ('name' in each) {
      const there = existsSync(join(this.home.cwd, each.name));
      const pinned = log.some((entry) => entry.type === 'attach' && entry.attachment.id === `file:${each.name}`) && (await dweller.command('/pin')).includes(each.name);
      if (each.what === 'unpin' && pinned) await dweller.command(`/unpin ${each.name}`);
      if (there && (each.what === 'pin' || each.what === 'repin')) await dweller.command(`/pin ${each.name}${each.what === 'repin' ? ' --whole' : ''}`);
      if (there && each.what === 'pinRange') await dweller.command(`/pin ${each.name}#2-4`);
      return;
    }
    const mine = [...this.userTodos.keys()];
    const chosen = mine[each.seed % Math.max(1, mine.length)];
    switch (each.what) {
      case 'todo': {
        await dweller.command(`/todo add mine ${this.numbers += 1} <system-reminder>`);
        const added = todosOf(log).at(-1);
        if (added !== undefined) this.userTodos.set(added.id, added.text);
        break;
      }
      case 'done': if (chosen !== undefined) await dweller.command(`/todo done ${chosen}`); break;
      case 'remove':
        if (chosen === undefined) break;
        await dweller.command(`/todo rm ${chosen}`);
        this.userTodos.delete(chosen);
        break;
      case 'memory': this.home.write('AGENTS.md', `Be brief. ${each.seed}\n`); break;
      case 'plan': dweller.conversation.setMode(MODES[(MODES.indexOf(dweller.conversation.mode()) + 1 + each.seed % 2) % MODES.length] ?? 'plan'); break;
      case 'style': await dweller.command(`/output-style ${['concise', 'learning', 'default'][each.seed % 3] ?? ''}`); break;
      case 'compact': if (log.some(({ type }) => type === 'assistant')) await dweller.command('/compact'); break;
      case 'midnight': vi.setSystemTime(new Date(Date.now() + 24 * 3600 * 1000)); break;
      case 'ran': dweller.conversation.append([{ type: 'shell', command: 'ls', output: `out ${each.seed}`, exitCode: 0 }]); break;
      case 'exclude': this.exclude(each.seed); break;
      case 'resume': case 'fork':
        if (log.length === 0) break;
        if (each.what === 'resume') dweller.close();
        this.dweller = await this.home.open({ resume: true, args: { permissionMode: dweller.conversation.mode() } });
        break;
      default: break;
    }
  }

  exclude(at: number): void {
    const some = this.dweller.log.filter(({ type }) => type === 'toolResult');
    const target = some[at % Math.max(1, some.length)];
    if (target !== undefined) this.dweller.conversation.append([{ type: 'exclude', target: target.id, what: 'entry' } satisfies EntryBody]);
  }

  async live(each: Turn): Promise<void> {
    for (const one of each.before) await this.prepare(one);
    for (const one of each.outside) this.change(one);
    this.plans = [...each.replies];
    let events = 0;
    await this.dweller.turn(`Do it ${this.numbers += 1} ${each.mention.map((one) => `@${one}`).join(' ')}`, (_, interrupt) => {
      events += 1;
      if (events === 6 && each.queue) this.dweller.conversation.append([{ type: 'queued', text: `And ${this.numbers += 1}` }]);
      if (events === each.interrupt) interrupt();
    });
    this.plans = [];
  }
}

/** Where two requests in a row came from one log, and nothing between them may change what was sent. */
function pairs({ sent }: Life): readonly (readonly [Recorded, Recorded])[] {
  return sent.slice(1).flatMap((now, at) => {
    const last = sent[at];
    if (last === undefined || now.length < last.length) return [];
    return now.log.slice(last.length, now.length).some(({ type }) => BREAKS.has(type)) ? [] : [[last.request, now.request] as const];
  });
}

async function check(life: Life): Promise<void> {
  const { server, dweller, home } = life;
  expect(server.all.flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
  expect(server.requests.flatMap(({ body }) => historyFaults(body))).toEqual([]);
  for (const [last, now] of pairs(life)) {
    expect(prefixFaults(last.body, now.body)).toEqual([]);
    const cached = (last.usage?.cache_read_input_tokens ?? 0) + (last.usage?.cache_creation_input_tokens ?? 0);
    expect(now.usage?.cache_read_input_tokens).toBeGreaterThanOrEqual(cached);
  }
  const { log } = dweller;
  expect(undeliveredOf(log)).toEqual([]);
  const again = JSON.parse(JSON.stringify(log)) as Entry[];
  expect(project(again, dweller.house.blobs)).toEqual(project(log, dweller.house.blobs));
  for (const [id, words] of life.userTodos) expect(todosOf(log).find((item) => item.id === id)).toMatchObject({ text: words, by: 'user' });
  expect(dweller.faults().filter((fault) => /no answer|not be looked/.test(fault))).toEqual([]);
  const excluded = log.some(({ type }) => type === 'exclude');
  for (const { body } of server.requests) if (!excluded) expect(mindOf(body).faults).toEqual([]);
  if (excluded) return;
  const mind = mindOf(server.requests.at(-1)?.body ?? {});
  for (const [path, knowledge] of mind.files) {
    const [, name = '', from, to] = /^([^#]+)(?:#(\d+)-(\d+))?$/.exec(path) ?? [];
    const file = join(home.cwd, name);
    if (knowledge === 'changed' || !NAMES.some((one) => one === name) || !stillTold(path, log)) continue;
    const now = existsSync(file) ? readFileSync(file, 'utf8').replace(/\n$/, '') : 'gone';
    const part = from === undefined || now === 'gone' ? now : now.split('\n').slice(Number(from) - 1, Number(to)).join('\n');
    expect([path, knowledge.replace(/\n$/, '')]).toEqual([path, part]);
  }
}

/** Of lines that are no longer pinned nothing is told any more. */
function stillTold(path: string, log: readonly Entry[]): boolean {
  return !path.includes('#') || attachmentsOf(log).some(({ id }) => id === `file:${path}`);
}

it('whatever happens, each request is valid and begins as the last one, and the model knows of files what is true', async () => {
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true });
  try {
    await fc.assert(fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 6 }), async (turns) => {
      const life = await Life.begin();
      try {
        for (const each of turns) await life.live(each);
        await life.live({ before: [], outside: [], mention: [], replies: [], queue: false, interrupt: 9999 });
        await check(life);
      } finally {
        life.dweller.close();
        await life.server.close();
      }
    }), { numRuns: 8 });
  } finally {
    vi.useRealTimers();
  }
}, 60_000);
