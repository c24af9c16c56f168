import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Json } from '#lib/brand.ts';
import type { CallId } from '#domain/tool.ts';
import { coversCall } from '#gate/calls.ts';
import { readRules } from '#gate/rules.ts';
import { decodeEntry } from '#session/decode.ts';
import { plansFolder } from '#main/plans.ts';
import { newSession, resumeSession, sessionFile } from '#session/open.ts';
import { homeOf, sessionFolder } from '#session/home.ts';
import { household, type Household } from '../support/household.ts';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import { last, serve, until, wordsOf } from '../support/product.ts';
import { tempFolder } from '../support/temp.ts';

const json = (value: unknown): string => JSON.stringify(value);

function own(home: Household, name: string, text: string): void {
  mkdirSync(dirname(join(home.home, name)), { recursive: true });
  writeFileSync(join(home.home, name), text);
}

describe('the settings of a repository, trusted', () => {
  const modeless = { modeless: true } as const;
  it.each(['/tmp/elsewhere', '~', '~/.ssh', '../beside', 'a/../../beside', '..'])('cannot have plans written to %s, nor notes', async (place) => {
    const server = await serve([say('ok')]);
    const home = household({ '.pinion/settings.json': json({ plansDirectory: place, autoMemoryDirectory: place }) }, server);
    const { house } = await home.open(modeless);
    expect(house.configuration.settings()).not.toHaveProperty('plansDirectory');
    expect(house.configuration.settings()).not.toHaveProperty('autoMemoryDirectory');
    expect(house.modes.plansFolder()).toBe(house.place.home.plans);
  });

  it('may keep plans in a folder of its own, but none that leads out or decides what runs or is told', () => {
    const elsewhere = tempFolder();
    const project = tempFolder({ 'docs/x': '', '.claude/rules/a.md': '' }, { out: elsewhere, 'deep/out': '../..' });
    const at = (setting: string): string => plansFolder(setting, { project, userHome: '/h', own: '/own' });
    expect(['docs', 'docs/new/plans', '.pinion/plans', '.claude/plans/x', '.'].map(at)).toEqual(['docs', 'docs/new/plans', '.pinion/plans', '.claude/plans/x', '.'].map((name) => join(project, name)));
    for (const place of ['out', 'out/plans', 'deep/out/x', '.claude/rules', '.claude/commands', '.pinion/skills/x', '.agents/skills', '.git/hooks', '.github/workflows', '.husky', '.CLAUDE/rules']) expect(at(place), place).toBe('/own');
  });

  it('may lower the user\'s budget, never raise it', async () => {
    const server = await serve([say('ok')]);
    for (const [theirs, holds] of [[1000, 5], [2, 2]] as const) {
      const home = household({ '.pinion/settings.local.json': json({ budgetUsd: theirs }) }, server);
      own(home, 'settings.json', json({ budgetUsd: 5 }));
      expect((await home.open(modeless)).house.configuration.settings().budgetUsd).toBe(holds);
    }
    const alone = household({ '.pinion/settings.json': json({ budgetUsd: 7 }) }, server);
    expect((await alone.open(modeless)).house.configuration.settings().budgetUsd).toBe(7);
  });

  it('allow nothing through a link to a file that the model may change without a question', async () => {
    const server = await serve([say('ok')]);
    const home = household({ 'notes/settings.json': json({ permissions: { allow: ['Bash'], deny: ['Read(secret)'] }, env: { A: '1' } }) }, server);
    mkdirSync(join(home.cwd, '.claude'));
    symlinkSync('../notes/settings.json', join(home.cwd, '.claude/settings.json'));
    const { house: { configuration } } = await home.open(modeless);
    expect(configuration.isTrusted()).toBe(true);
    expect(configuration.rules()).toMatchObject({ allow: [], deny: [{ rule: 'Read(secret)' }] });
    expect(configuration.settings().env).toEqual({});
    expect(configuration.warnings()).toEqual([expect.stringContaining('is a link to a file that may be changed without a question')]);
  });
});

describe('an untrusted folder', () => {
  it('has no say in style, persona, plans, budget, kinds or mode, and no skill, agent or style of its own', async () => {
    const server = await serve([say('ok')]);
    const home = household({
      '.pinion/settings.json': json({ outputStyle: 'theirs', companion: { name: 'Eve', text: 'says evil things' }, plansDirectory: 'plans', budgetUsd: 9, remindersOff: ['memory'], remindersOn: ['token_usage'], autoMemoryEnabled: false, permissions: { defaultMode: 'auto' }, disableAutoMode: true }),
      '.claude/output-styles/theirs.md': '---\nname: theirs\n---\nspeak evilly', '.claude/agents/theirs.md': '---\nname: theirs\ndescription: evil agent\nreminder: evil reminder\n---\nx',
      '.claude/skills/theirs/SKILL.md': '---\ndescription: evil skill\n---\nbody', '.claude/commands/theirs.md': 'evil command', 'sub/.claude/skills/deep/SKILL.md': '---\ndescription: evil nested\n---\nx', 'sub/a.ts': 'x',
    }, server);
    const dweller = await home.open({ modeless: true, args: { trust: false } });
    await dweller.turn('Look at @sub/a.ts, @agent-theirs');
    expect(JSON.stringify(last(server.requests).body)).not.toMatch(/evil/i);
    expect(dweller.house.configuration.settings()).toMatchObject({ remindersOff: [], remindersOn: [], autoMemory: true, disableAutoMode: false });
    expect(dweller.house.modes.plansFolder()).toBe(dweller.house.place.home.plans);
    expect(dweller.house.mode(dweller.conversation.session)).toBe('default');
    await expect(dweller.command('/theirs')).rejects.toThrow();
  });

  it('that was added as a working folder brings no agents and no skills along', async () => {
    const server = await serve([say('ok')]);
    const added = tempFolder({ '.git/HEAD': 'ref: refs/heads/main\n', '.claude/agents/theirs.md': '---\nname: theirs\ndescription: evil agent\n---\nx', '.claude/skills/theirs/SKILL.md': '---\ndescription: evil skill\n---\nbody' });
    const dweller = await household({}, server).open({ args: { addDir: [added] } });
    await dweller.turn('go');
    expect(JSON.stringify(last(server.requests).body)).not.toMatch(/evil/);
  });
});

describe('links of a trusted folder', () => {
  it('to agents and styles outside of it are left out', async () => {
    const server = await serve([say('ok')]);
    const elsewhere = tempFolder({ 'agents/a.md': '---\nname: outside\ndescription: outside agent\n---\nx', 'b.md': '---\nname: outside-too\ndescription: outside agent\n---\nx', 'styles/s.md': '---\nname: outside\n---\noutside style' });
    const home = household({ '.pinion/agents/good.md': '---\nname: good\ndescription: a good one\n---\nx', '.pinion/settings.json': json({ outputStyle: 'outside' }) }, server);
    mkdirSync(join(home.cwd, '.claude'));
    symlinkSync(join(elsewhere, 'agents'), join(home.cwd, '.claude/agents'));
    symlinkSync(join(elsewhere, 'b.md'), join(home.cwd, '.pinion/agents/b.md'));
    symlinkSync(join(elsewhere, 'styles'), join(home.cwd, '.claude/output-styles'));
    const dweller = await home.open();
    await dweller.turn('go');
    expect(wordsOf(last(server.requests))).toContain('- good: a good one');
    expect(wordsOf(last(server.requests))).not.toContain('outside');
    expect(dweller.house.agents.problems()).toHaveLength(2);
  });

  it('make no skill of what the model wrote that grants it a right', async () => {
    const mine = '---\ndescription: mine\nallowed-tools: Bash(touch:*)\n---\nNow !`touch first`';
    const server = await serve([{ content: [call('Write', { file_path: 'prompts/mine/SKILL.md', content: mine })] }, { content: [call('Skill', { skill: 'mine' })] }, { content: [call('Bash', { command: 'touch second', description: 'x' })] }, say('done')]);
    const home = household({ 'prompts/x': '' }, server);
    mkdirSync(join(home.cwd, '.claude'));
    symlinkSync('../prompts', join(home.cwd, '.claude/skills'));
    const dweller = await home.open({ args: { permissionMode: 'default' }, answer: (question) => (question.kind === 'permission' && question.call.tool === 'Write' ? { kind: 'yes' } : { kind: 'no', instead: 'no' }) });
    await dweller.turn('go');
    expect(dweller.asked.map((question) => (question.kind === 'permission' ? question.call.input : question.kind))).toMatchObject([{ file_path: 'prompts/mine/SKILL.md' }, { command: 'touch first' }, { command: 'touch second' }]);
    expect(wordsOf(last(server.requests))).toContain('allowed-tools has no effect');
    expect(readdirSync(home.cwd).toSorted()).toEqual(['.claude', 'prompts']);
  });
});

it('what a skill grants to a sub-agent ends with its turn', async () => {
  const replies = (turn: number): ScriptedReply => [
    { content: [call('Skill', { skill: 'make' })] }, { content: [call('Bash', { command: 'touch made', description: 'x' })] }, say('done'),
    { content: [call('Bash', { command: 'touch again', description: 'x' })] }, say('could not'),
  ][turn] ?? say('end');
  const counts = { lead: 0, sub: 0 };
  const server = await serve(({ body }) => {
    if (JSON.stringify(body['system']).includes('You are a sub-agent')) return replies(counts.sub++);
    counts.lead += 1;
    return counts.lead === 1 ? { content: [call('Task', { subagent_type: 'general', description: 'x', prompt: 'go', name: 'bob' })] } : say('ok');
  });
  const home = household({}, server);
  own(home, 'skills/make/SKILL.md', '---\ndescription: makes\nallowed-tools: Bash(touch:*)\n---\nTouch.');
  const dweller = await home.open({ args: { permissionMode: 'default' }, answer: () => ({ kind: 'no', instead: 'no' }) });
  const quiet = (): Promise<void> => until(() => dweller.house.agents.live(dweller.conversation.session).length === 0);
  await dweller.turn('go');
  await quiet();
  expect(existsSync(join(home.cwd, 'made'))).toBe(true);
  expect(dweller.asked).toEqual([]);
  await dweller.house.agents.send('bob', 'again', dweller.conversation.session);
  await quiet();
  expect(dweller.asked).toMatchObject([{ kind: 'permission', who: 'bob (general)', call: { input: { command: 'touch again' } } }]);
  expect(existsSync(join(home.cwd, 'again'))).toBe(false);
});

it('a log whose own id climbs names no folder', () => {
  const home = homeOf({ PINION_HOME: tempFolder() });
  const place = { home, cwd: '/some/where' };
  const first = newSession(place);
  first.session.append({ type: 'prompt', text: 'one' });
  first.close();
  const hostile = readFileSync(first.file, 'utf8').replace(first.session.id, '../../../evil');
  const file = join(sessionFolder(home, place.cwd), 'abc.jsonl');
  writeFileSync(file, hostile);
  const again = resumeSession(file, place);
  expect(again.session.id).toBe('abc');
  again.close();
  expect(sessionFile(place, '../abc')).toBeUndefined();
});

describe('a log that was tampered with', () => {
  const task = (more: object): string => json({ id: `x${Math.random()}`, at: '2026-01-01T00:00:00.000Z', type: 'task', task: { id: 'agent-1', kind: 'agent', title: 't', state: 'done', file: '/f', ...more } });

  it('has no task, plan or prompt with which a fold could fail or a file be misnamed', () => {
    expect(decodeEntry(task({ name: 'bob', agent: 'general', result: 'r', exitCode: 0 }))).toBeDefined();
    for (const more of [{ id: '../../x' }, { id: '' }, { id: 7 }, { name: 7 }, { agent: null }, { result: ['x'] }, { kind: 'other' }, { state: 'odd' }, { file: 1 }, { exitCode: '0' }]) expect(decodeEntry(task(more)), json(more)).toBeUndefined();
    const one = (fields: object) => decodeEntry(json({ id: '1', at: '2026-01-01T00:00:00.000Z', ...fields }));
    expect(one({ type: 'plan', file: '/p', text: 'x', state: 'signed' })).toBeUndefined();
    expect(one({ type: 'prompt', text: 'x', skill: 'x' })).toBeUndefined();
    expect(one({ type: 'prompt', text: 'x', skill: { name: 1 } })).toBeUndefined();
    expect(one({ type: 'prompt', text: 'x', skill: { name: 'a', mentions: 'x' } })).toBeDefined();
  });

  it('wakes no teammate whose own log lies elsewhere', async () => {
    const server = await serve([say('ok')]);
    const dweller = await household({}, server).open();
    const outside = join(tempFolder({ 'notes.jsonl': 'mine\n' }), 'notes.jsonl');
    await dweller.turn('go');
    dweller.conversation.append([{ type: 'task', task: { id: 'agent-1', kind: 'agent', title: 't', state: 'done', file: outside, name: 'bob', agent: 'general' } }]);
    expect(await dweller.house.agents.send('bob', 'wake up', dweller.conversation.session)).toEqual({ problem: expect.stringContaining('does not lie with the others') });
    expect(readFileSync(outside, 'utf8')).toBe('mine\n');
  });
});

it('rules about sub-agents and skills hold in every spelling of a name', () => {
  const covers = (rule: string, tool: string, input: Json): boolean => readRules([{ rule, root: '/', scope: 'user' }], 'deny').rules.some((one) => coversCall(one, 'deny', { id: 'c' as CallId, tool, input }));
  for (const rule of ['Task(Caf\u00e9)', 'Agent(cafe\u0301)', 'agent(CAF\u00c9)', 'Task(caf*)', 'Task', 'Agent']) {
    for (const name of ['caf\u00e9', 'Cafe\u0301', ' CAF\u00c9 ']) expect(covers(rule, 'Task', { subagent_type: name }), `${rule} ${name}`).toBe(true);
  }
  for (const rule of ['Skill(re\u0301vise)', 'Skill(r\u00e9vise)', 'Skill(r\u00e9vise:*)', 'skill']) {
    for (const input of [{ skill: 'r\u00e9vise' }, { skill: '/re\u0301vise', args: 'all of it' }, { skill: ' r\u00e9vise ' }]) expect(covers(rule, 'Skill', input), `${rule} ${json(input)}`).toBe(true);
  }
  expect(covers('Task(explore)', 'Task', { subagent_type: 'explorer' })).toBe(false);
  expect(covers('Skill(revise)', 'Skill', { skill: 'reviser' })).toBe(false);
});
