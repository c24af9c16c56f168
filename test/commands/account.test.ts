import { describe, expect, it } from 'vitest';
import type { ContextView, CostView } from '#domain/command.ts';
import type { Row } from '#domain/request.ts';
import { desk, drawn } from './support.ts';

const row = (label: string, group: Row['group'], origin: string, age: number, tokens: number): Row => ({ label, group, origin, age, tokens });
const ROWS: readonly Row[] = [
  row('System prompt', 'system', 'pinion', 3, 2400), row('7 tools', 'tools', 'pinion', 3, 3100), row('environment', 'reminders', 'environment', 3, 60),
  row('pins', 'pins', 'pins', 3, 4000), row('Read package.json and tell me its name, then say what it needs', 'prompts', 'user', 2, 20),
  row('Read package.json', 'tool results', 'Read', 1, 400), row('pins (delta)', 'pins', 'pins', 0, 20),
];
const VIEW: ContextView = { rows: ROWS, estimated: 10_000, measured: 9_900, error: -0.0123, window: 1_000_000, limit: 200_000, model: 'claude-opus-5-5' };

describe('/context', () => {
  const card = async (view: ContextView): Promise<Extract<Awaited<ReturnType<ReturnType<typeof desk>['run']>>, { type: 'show' }>['card']> => {
    const effect = await desk({}, { context: () => Promise.resolve(view) }).run('context');
    if (effect.type !== 'show') throw new Error('no card');
    return effect.card;
  };

  it('shows parts that add up, and every block with origin, age and tokens', async () => {
    expect(drawn(await card(VIEW), 80)).toEqual([
      '● Context  ~10k of 200k tokens (5%), window 1M, claude-opus-5-5',
      '  part         │ tokens │ share',
      '  ─────────────┼────────┼──────',
      '  pins         │     4k │   40%',
      '  tools        │   3.1k │   31%',
      '  system       │   2.4k │   24%',
      '  tool results │    400 │    4%',
      '  reminders    │     60 │    1%',
      '  prompts      │     20 │   <1%',
      '  all          │    10k │  100%',
      '',
      '  age │ tokens │ block                                                  │ from',
      '  ────┼────────┼────────────────────────────────────────────────────────┼───────',
      '    3 │   2.4k │ System prompt                                          │ pinion',
      '    3 │   3.1k │ 7 tools                                                │ pinion',
      '    3 │     60 │ environment                                            │',
      '    3 │     4k │ pins                                                   │',
      '    2 │     20 │ Read package.json and tell me its name, then say what  │ user',
      '      │        │ it needs                                               │',
      '    1 │    400 │ Read package.json                                      │',
      '  new │     20 │ pins (delta)                                           │',
      '',
      '  The last request was measured at 9.9k tokens; the estimate of it was off by',
      '  -1.2 %. Age counts the model\'s replies since a block was first sent.',
    ]);
    expect(drawn(await card(VIEW), 40)).toEqual(expect.arrayContaining(['    3 │   2.4k │ System prompt  │ pinion', '    1 │    400 │ Read           │', '      │        │ package.json   │']));
  });

  it('says what is only estimated, and bears an empty request', async () => {
    const text = drawn(await card({ ...VIEW, rows: [], estimated: 0, measured: undefined, error: undefined, limit: 0 }), 80).join('\n');
    expect(text).toMatch(/~0 of 0 tokens \(0%\)/);
    expect(text).toMatch(/all +│ +0 │ +0%/);
    expect(text).toMatch(/All numbers are estimates/);
  });
});

describe('/cost', () => {
  const opus = { model: 'claude-opus-5-5', requests: 3, usd: 0.25, input: 100, output: 2_000, cacheRead: 80_000, cacheWrite: 20_000 };
  const show = (cost: CostView): Promise<string> => desk({}, { cost: () => cost }).shown('cost');

  it('shows a table by model', async () => {
    const effect = await desk({}, { cost: () => ({ ...opus, perModel: [opus] }) }).run('cost');
    if (effect.type !== 'show') throw new Error('no card');
    expect(drawn(effect.card, 80)).toEqual([
      '● Cost: $0.25  100k tokens in (80% from the cache), 2k out',
      '  model           │ requests │ new │ from cache │ to cache │ out │  cost',
      '  ────────────────┼──────────┼─────┼────────────┼──────────┼─────┼──────',
      '  claude-opus-5-5 │        3 │ 100 │        80k │      20k │  2k │ $0.25',
    ]);
    expect(drawn(effect.card, 40).join('\n')).toMatch(/from cache: 80k/);
  });

  it('says so when nothing was asked, and when a price is not known', async () => {
    expect(await show({ usd: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, perModel: [] })).toBe('Cost: $0 (no request was made yet)');
    const strange = { ...opus, model: 'llama', usd: undefined };
    expect(await show({ ...opus, usd: undefined, perModel: [opus, strange] })).toMatch(/^Cost: \$0\.25 and more [\s\S]*No price is known for llama\.$/);
    expect(await show({ ...strange, perModel: [strange] })).toMatch(/^Cost: not known /);
  });
});
