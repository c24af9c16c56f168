import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/temp.ts';
import { type Dweller, household } from '../support/household.ts';
import { prefixFaults } from '../support/messages-server/history.ts';
import { call, say } from '../support/messages-server/reply.ts';
import { expectValid, last, serve, wordsOf } from '../support/product.ts';

const confirms = ({ asked }: Dweller): readonly string[][] => asked.flatMap((question) => (question.kind === 'confirm' ? [question.lines.slice(0, -1)] : []));

describe('imports from outside the project', () => {
  it('are asked about once, when a prompt needs them, and then told; the answer holds for later sessions', async () => {
    const outside = tempFolder({ 'team.md': 'TEAM RULES\n@./more.md', 'more.md': 'MORE RULES' });
    const server = await serve([say('one'), say('two'), say('three')]);
    const home = household({ 'AGENTS.md': `@${outside}/team.md\n` }, server);
    const first = await home.open();
    await first.context().context();
    expect(confirms(first)).toEqual([]);
    await first.turn('hello');
    expect(confirms(first)).toEqual([[`${outside}/team.md (for ${home.cwd}/AGENTS.md)`], [`${outside}/more.md (for ${home.cwd}/AGENTS.md)`]]);
    expect(wordsOf(last(server.requests))).toMatch(/TEAM RULES[^]*MORE RULES/);
    await first.turn('again');
    expect(confirms(first)).toHaveLength(2);
    first.close();
    const later = await home.open();
    await later.turn('hello');
    expect(confirms(later)).toEqual([]);
    expect(wordsOf(last(server.requests))).toContain('TEAM RULES');
    expectValid(server);
  });
  it('that the user refuses stay out for good, those that nobody answered for until the next run; both are said', async () => {
    const outside = tempFolder({ 'team.md': 'TEAM RULES' });
    const server = await serve(Array.from({ length: 5 }, () => say('ok')));
    const home = household({ 'AGENTS.md': `@${outside}/team.md\n` }, server);
    const alone = await home.open({ answer: () => undefined });
    await alone.turn('hello');
    await alone.turn('hello');
    expect(confirms(alone)).toHaveLength(1);
    expect(alone.faults()).toEqual([`reminder memory: ${home.cwd}/AGENTS.md: @${outside}/team.md: not imported, it lies outside the project, not approved by the user`]);
    alone.close();
    const refused = await home.open({ answer: () => ({ kind: 'no' }) });
    await refused.turn('hello');
    refused.close();
    const after = await home.open();
    await after.turn('hello');
    expect([confirms(refused).length, confirms(after).length]).toEqual([1, 0]);
    expect(server.requests.map(wordsOf).join()).not.toContain('TEAM RULES');
    expect(wordsOf(last(server.requests))).toContain('not approved by the user');
  });
  it('of the home directory are asked about in a folder that is not trusted', async () => {
    const server = await serve([say('ok'), say('ok')]);
    const home = household({ 'AGENTS.md': '@~/private.md\n' }, server);
    writeFileSync(join(dirname(home.home), 'private.md'), 'PRIVATE');
    const wary = await home.open({ args: { trust: false }, answer: () => undefined });
    await wary.turn('hello');
    expect(confirms(wary)).toHaveLength(1);
    expect(wordsOf(last(server.requests))).not.toContain('PRIVATE');
    wary.close();
    const trusting = await home.open();
    await trusting.turn('hello');
    expect(confirms(trusting)).toEqual([]);
    expect(wordsOf(last(server.requests))).toContain('PRIVATE');
  });
  it('are not asked about where nothing is told of them', async () => {
    const outside = tempFolder({ 'team.md': 'TEAM RULES' });
    const server = await serve([say('ok')]);
    const home = household({ 'AGENTS.md': `@${outside}/team.md\n` }, server);
    mkdirSync(home.home, { recursive: true });
    writeFileSync(join(home.home, 'settings.json'), JSON.stringify({ remindersOff: ['memory', 'nested_memory'] }));
    const dweller = await home.open();
    await dweller.turn('hello');
    expect(dweller.asked).toEqual([]);
  });
});

describe('instruction files further down', () => {
  it('come with the first file there, before the model goes on, and once', async () => {
    const server = await serve([{ content: [call('Read', { file_path: 'sub/a.ts' })] }, { content: [call('Read', { file_path: 'sub/b.ts' })] }, say('done'), say('more')]);
    const home = household({ 'sub/AGENTS.md': 'SUB RULES\n', '.claude/rules/b.md': '---\npaths: "sub/b.*"\n---\nONLY FOR B\n', 'sub/a.ts': 'a\n', 'sub/b.ts': 'b\n' }, server);
    const dweller = await home.open();
    await dweller.turn('read them');
    const [first, second, third] = server.requests.map(wordsOf);
    expect([first?.includes('SUB RULES'), second?.includes('SUB RULES'), second?.includes('ONLY FOR B'), third?.includes('ONLY FOR B')]).toEqual([false, true, false, true]);
    await dweller.turn('more');
    const words = wordsOf(last(server.requests));
    expect([words.split('SUB RULES').length, words.split('ONLY FOR B').length]).toEqual([2, 2]);
    expect(prefixFaults(server.requests[2]?.body ?? {}, server.requests[3]?.body ?? {})).toEqual([]);
    const shown = await dweller.command('/memory');
    expect(shown).toContain('sub/AGENTS.md');
    expect(shown).toContain('for sub/b.*');
  });
});

describe('kept notes', () => {
  const folderOf = (home: string): string => join(home, 'memory', readdirSync(join(home, 'memory'))[0] ?? '');

  it('are written by the model without being asked about in a mode that edits, named from then on, and recalled in a later session', async () => {
    const at: { notes?: string } = {};
    const server = await serve((_request, index) => {
      if (index === 0) return { content: [call('Write', { file_path: join(at.notes ?? '', 'deploy.md'), content: '# Deploying\nUse make stage for the staging server.\n' }, 'c1'), call('Write', { file_path: join(at.notes ?? '', 'MEMORY.md'), content: '- deploy.md: how to deploy\n' }, 'c2')] };
      return say('ok');
    });
    const home = household({ 'a.ts': 'a' }, server);
    const first = await home.open({ args: { permissionMode: 'acceptEdits' } });
    at.notes = dirname((await first.context().memory()).places.find(({ name }) => name === 'notes')?.file ?? '');
    expect(existsSync(at.notes)).toBe(false);
    await first.turn('remember how we deploy');
    expect(first.asked).toEqual([]);
    expect(readFileSync(join(folderOf(home.home), 'deploy.md'), 'utf8')).toContain('make stage');
    await first.turn('thanks');
    expect(wordsOf(last(server.requests))).not.toContain('changed on disk');
    first.close();
    const later = await home.open();
    await later.turn('What is the weather?');
    expect(wordsOf(last(server.requests))).toContain('- deploy.md: how to deploy');
    expect(wordsOf(last(server.requests))).not.toContain('make stage');
    await later.turn('deploy to the staging server, please');
    expect(wordsOf(last(server.requests))).toContain('make stage');
    later.close();
    const resumed = await home.open({ resume: true });
    writeFileSync(join(folderOf(home.home), 'deploy.md'), '# Deploying\nUse make prod for the staging server.\n');
    await resumed.turn('deploy staging server again');
    const words = wordsOf(last(server.requests));
    expect(words.split('Use make stage for').length - 1).toBe(2);
    expect(words).toContain('+Use make prod');
    expect(prefixFaults(server.requests.at(-2)?.body ?? {}, server.requests.at(-1)?.body ?? {})).toEqual([]);
    expectValid(server);
  });
  it('are asked about where the mode asks, and never lead elsewhere', async () => {
    const at: { notes?: string } = {};
    const server = await serve((_request, index) => (index === 0 ? { content: [call('Write', { file_path: join(at.notes ?? '', 'link.md'), content: 'x' }, 'c1'), call('Write', { file_path: join(at.notes ?? '', 'x.json'), content: '{}' }, 'c2')] } : say('ok')));
    const home = household({}, server);
    const dweller = await home.open({ args: { permissionMode: 'acceptEdits' }, answer: () => undefined });
    at.notes = dirname((await dweller.context().memory()).places.find(({ name }) => name === 'notes')?.file ?? '');
    mkdirSync(at.notes, { recursive: true });
    const outside = tempFolder({ 'target.md': 'before' });
    symlinkSync(join(outside, 'target.md'), join(at.notes, 'link.md'));
    await dweller.turn('write');
    expect(dweller.asked.map(({ kind }) => kind)).toEqual(['permission', 'permission']);
    expect(readFileSync(join(outside, 'target.md'), 'utf8')).toBe('before');
    expect(existsSync(join(at.notes, 'x.json'))).toBe(false);
  });
  it('are none when they are switched off, and those of another program are read', async () => {
    const server = await serve([say('ok'), say('ok')]);
    const home = household({}, server);
    const theirs = join(dirname(home.home), '.claude/projects', home.cwd.replace(/[^A-Za-z0-9]/g, '-'), 'memory');
    mkdirSync(theirs, { recursive: true });
    writeFileSync(join(theirs, 'MEMORY.md'), 'THEIR INDEX');
    writeFileSync(join(theirs, 'deploy.md'), '# Deploying to staging\nTHEIR NOTE');
    const on = await home.open();
    await on.turn('deploy to staging');
    expect(wordsOf(last(server.requests))).toMatch(/THEIR INDEX[^]*THEIR NOTE/);
    on.close();
    mkdirSync(home.home, { recursive: true });
    writeFileSync(join(home.home, 'settings.json'), JSON.stringify({ autoMemoryEnabled: false }));
    const off = await home.open();
    await off.turn('deploy to staging');
    expect(wordsOf(last(server.requests))).not.toMatch(/THEIR|MEMORY\.md/);
    expect(await off.command('/memory')).toContain('autoMemoryEnabled is false');
  });
});

describe('after a compaction', () => {
  it('the files that were read last are given again, with the instructions of their folder, all in one request', async () => {
    const server = await serve([{ content: [call('Read', { file_path: 'sub/a.ts' })] }, say('one'), say('A SUMMARY'), say('two'), { content: [call('Edit', { file_path: 'sub/a.ts', old_string: 'second state', new_string: 'third state' })] }, say('done')]);
    const home = household({ 'sub/a.ts': 'first state\n', 'sub/AGENTS.md': 'SUB RULES\n', 'AGENTS.md': 'ROOT RULES\n' }, server);
    const dweller = await home.open();
    await dweller.turn('read it');
    await dweller.command('/compact');
    home.write('sub/a.ts', 'second state\n');
    await dweller.turn('go on');
    const words = wordsOf(server.requests[3] ?? last([]));
    for (const part of ['A SUMMARY', 'ROOT RULES', 'second state']) expect(words).toContain(part);
    expect(words).not.toContain('first state');
    expect(words).not.toContain('changed on disk');
    await dweller.turn('edit it');
    expect(readFileSync(join(home.cwd, 'sub/a.ts'), 'utf8')).toBe('third state\n');
    expect(wordsOf(last(server.requests)).split('SUB RULES')).toHaveLength(2);
    expectValid(server);
  });
});
