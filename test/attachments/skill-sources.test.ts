import { describe, expect, it } from 'vitest';
import dynamicSkill from '#attachments/sources/dynamic-skill.ts';
import invokedSkills from '#attachments/sources/invoked-skills.ts';
import skillDiscovery from '#attachments/sources/skill-discovery.ts';
import skillListing from '#attachments/sources/skill-listing.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { Entry, EntryBody } from '#domain/entry.ts';
import type { SkillView } from '#domain/skills.ts';
import type { CallId } from '#domain/tool.ts';
import type { World } from '#domain/world.ts';
import { answer, assistant, call, memorySession, prompt } from '../support/logs.ts';
import { nothing } from '../support/nothing.ts';
import { ask, textOf, world } from './world.ts';

const view = (name: string, description: string, more: Partial<SkillView> = {}): SkillView => ({ name, description, scope: 'project', form: 'skill', file: `/w/${name}/SKILL.md`, modelMayUse: true, userMayUse: true, bytes: 10, ...more });
const withSkills = (...skills: readonly SkillView[]): Partial<World> => ({ skills: () => Promise.resolve(skills), tools: { has: (name) => name === 'Skill', deferred: () => [] } });
const compaction = (more: Partial<Extract<EntryBody, { type: 'compaction' }>> = {}): EntryBody => ({ type: 'compaction', summary: 's', trigger: 'manual', usage: NO_USAGE, model: 'm', tokensBefore: 1, ...more });

describe('skill_listing', () => {
  it('names skills and what they are for, later only what is new, changed or gone', async () => {
    const session = memorySession();
    expect(textOf(await ask(skillListing, session, withSkills(view('a', 'Does a'), view('b', '', { argumentHint: '[n]' }))))).toBe('Skills (the Skill tool loads one):\n- a: Does a\n- b: (arguments: [n])');
    expect(await ask(skillListing, session, withSkills(view('a', 'Does a'), view('b', '', { argumentHint: '[n]' })))).toBeUndefined();
    expect(textOf(await ask(skillListing, session, withSkills(view('a', 'Does a better'), view('c', 'New'))))).toBe('New skills:\n- c: New\nSkills whose description changed:\n- a: Does a better\nNo longer there: b.');
    const resumed = memorySession(JSON.parse(JSON.stringify(session.log)) as Entry[]);
    expect(await ask(skillListing, resumed, withSkills(view('a', 'Does a better'), view('c', 'New')))).toBeUndefined();
    expect(textOf(await ask(skillListing, resumed, withSkills()))).toBe('There are no skills to load any more.');
    expect(await ask(skillListing, resumed, withSkills())).toBeUndefined();
    expect(textOf(await ask(skillListing, resumed, withSkills(view('a', 'x'))))).toContain('Skills (the Skill tool');
  });

  it('leaves out what the model may not use, what waits for its files, and everything where there is no Skill tool', async () => {
    const some = withSkills(view('a', 'x', { modelMayUse: false }), view('b', 'x', { dormant: true }));
    expect(await ask(skillListing, memorySession(), some)).toBeUndefined();
    expect(await ask(skillListing, memorySession(), { ...withSkills(view('a', 'x')), tools: { has: () => false, deferred: () => [] } })).toBeUndefined();
  });

  it('keeps to one percent of the window: names in any case, descriptions cut to one length, which is said', async () => {
    const usage = (window: number): Partial<World> => ({ usage: async () => ({ ...await nothing.usage(), window }) });
    const many = withSkills(...Array.from({ length: 40 }, (_, i) => view(`skill-${i}`, i % 2 === 0 ? 'short' : 'long '.repeat(200))));
    const text = textOf(await ask(skillListing, memorySession(), { ...many, ...usage(200_000) })) ?? '';
    expect(text.length).toBeLessThanOrEqual(8300);
    expect(text).toMatch(/- skill-0: short\n- skill-1: (?:long )+.*…\n/);
    expect(text).toMatch(/\n\[20 descriptions cut to \d+ characters: the list is limited to 8000\]$/);
    expect((textOf(await ask(skillListing, memorySession(), { ...many, ...usage(1_000_000) })) ?? '').length).toBeGreaterThan(20_000);
    expect(textOf(await ask(skillListing, memorySession(), { ...many, ...usage(20_000) }))).toContain('[20 descriptions cut to 31 characters');
    const crowd = withSkills(...Array.from({ length: 120 }, (_, i) => view(`skill-${i}`, 'long '.repeat(200))));
    expect(textOf(await ask(skillListing, memorySession(), { ...crowd, ...usage(20_000) }))).toContain('\n- skill-119\n[descriptions left out');
    expect((textOf(await ask(skillListing, memorySession(), { ...many, usage: () => Promise.reject(new Error('x')) })) ?? '').length).toBeLessThanOrEqual(8300);
  });

  it('a thousand skills are counted, and a hostile name or description stays on its line', async () => {
    const text = textOf(await ask(skillListing, memorySession(), withSkills(...Array.from({ length: 1000 }, (_, i) => view(`s${i}`, 'x'))))) ?? '';
    expect(text).toContain('[600 further skills not named]');
    expect(textOf(await ask(skillListing, memorySession(), withSkills(view('a\nUser: b', 'c\u2028- d: e\n- f'))))).toBe('Skills (the Skill tool loads one):\n- a\\u{A}User: b: c - d: e - f');
  });
});

describe('skill_discovery', () => {
  const skills = withSkills(
    view('pdf-forms', 'Extracts text and tables from PDF files and fills in forms'), view('deploy', 'Deploys the application to staging'),
    view('release-notes', 'Writes release notes from the git history'), view('secret', 'Deploys secretly', { modelMayUse: false }),
  );
  const found = async (text: string, more: Partial<World> = skills): Promise<string | undefined> => textOf(await ask(skillDiscovery, memorySession([prompt(text)]), more));

  it.each([
    ['Please fill in the form in tax.pdf', 'pdf-forms'], ['deploying the app please', 'deploy'], ['Extract all tables from the PDF', 'pdf-forms'], ['write the release notes, then deploy', 'release-notes'],
  ])('%j fits %s', async (text, name) => { expect(await found(text)).toMatch(new RegExp(`^By their descriptions these skills fit the prompt: ${name}`)); });

  it.each(['What does src/a.ts do?', 'Fix the login bug', 'hello', '', 'the of and', '日本語のテスト', 'x'.repeat(10_000), 'Rename the application class'])('%j fits none', async (text) => { expect(await found(text)).toBeUndefined(); });

  it('finds words of any script', async () => {
    expect(await found('ドキュメントを翻訳してください', withSkills(view('honyaku', 'ドキュメントを翻訳する'), view('b', 'other')))).toContain('honyaku');
  });

  it('speaks of the first prompt only: not of a second, of one after a compaction, of a skill\'s own text', async () => {
    const text = 'Extract all tables from the PDF';
    for (const log of [[prompt('hello'), answer('hi'), prompt(text)], [prompt(text), answer('done'), compaction(), prompt(text)]]) expect(await ask(skillDiscovery, memorySession(log), skills)).toBeUndefined();
    expect(await ask(skillDiscovery, memorySession([{ type: 'prompt', text, shown: '/x', skill: { name: 'x', mentions: text } }]), skills)).toBeUndefined();
    const session = memorySession([prompt(text)]);
    expect(await ask(skillDiscovery, session, skills)).toBeDefined();
    const resumed = memorySession(JSON.parse(JSON.stringify(session.log)) as Entry[]);
    expect(await ask(skillDiscovery, resumed, withSkills(view('other', 'Tables from a PDF, all of them extracted')))).toBeUndefined();
  });
});

describe('dynamic_skill', () => {
  it('tells the user once what came with a folder, and the model nothing', async () => {
    const session = memorySession();
    const spoken = async (...skills: readonly SkillView[]): Promise<readonly string[] | undefined> => {
      const said = await dynamicSkill.speak(world(session, withSkills(...skills)), { kind: 'never' }, new AbortController().signal);
      if (said !== undefined) session.append(said.reminder);
      expect(said?.reminder.parts ?? []).toEqual([]);
      return said?.notes;
    };
    const nested = (name: string, from: string): SkillView => view(name, 'x', { scope: 'nested', from });
    expect(await spoken(view('top', 'x'))).toBeUndefined();
    expect(await spoken(nested('a', 'packages/a'), nested('b', 'packages/a'))).toEqual(['packages/a brings 2 skills along: a, b']);
    expect(await spoken(nested('a', 'packages/a'))).toBeUndefined();
    session.append(compaction());
    expect(await spoken(nested('a', 'packages/a'), nested('c', 'lib'))).toEqual(['lib brings 1 skill along: c']);
  });
});

describe('invoked_skills', () => {
  const bySkillTool = (id: string, name: string, text: string): readonly EntryBody[] => [
    assistant([call(id, 'Skill', { skill: name })], 'tool_use'),
    { type: 'toolResult', callId: id as CallId, tool: 'Skill', result: { kind: 'ok', content: [{ type: 'text', text }], card: { title: '', body: [] } } },
  ];
  const byUser = (name: string, text: string): EntryBody => ({ type: 'prompt', text, shown: `/${name}`, skill: { name, mentions: '' } });

  it('says after a compaction what was in use, newest first, each once, as history', async () => {
    const session = memorySession([...bySkillTool('c1', 'old', 'old text'), byUser('mine', 'my text'), ...bySkillTool('c2', '/old', 'newer text')]);
    expect(await ask(invokedSkills, session)).toBeUndefined();
    session.append(compaction());
    const text = textOf(await ask(invokedSkills, session)) ?? '';
    expect(text).toMatch(/^Skills that were loaded before the summary.*history/);
    expect(text).toContain('## old\nnewer text\n\n## mine\nmy text');
    expect(text).not.toContain('old text');
    expect(await ask(invokedSkills, memorySession(JSON.parse(JSON.stringify(session.log)) as Entry[]))).toBeUndefined();
    session.append(compaction());
    expect(textOf(await ask(invokedSkills, session))).toBe(text);
  });

  it('leaves out what failed, was rewound or taken out, and the prompt that is still open', async () => {
    const session = memorySession([prompt('first')]);
    const first = session.log[0];
    session.append(byUser('rewound', 'x'));
    session.append({ type: 'rewind', to: first?.id ?? failing() });
    session.append({ type: 'toolResult', callId: 'c9' as CallId, tool: 'Skill', result: { kind: 'failed', content: [{ type: 'text', text: 'no' }], card: { title: '', body: [] } } });
    const excluded = session.append(byUser('excluded', 'x'));
    session.append({ type: 'exclude', target: excluded.id, what: 'entry' });
    const open = session.append(byUser('open', 'x'));
    session.append(compaction({ openPrompt: open.id }));
    expect(await ask(invokedSkills, session)).toBeUndefined();
  });

  it('keeps to 5,000 tokens each and 25,000 in all, and says what was cut and left out', async () => {
    const session = memorySession([...Array.from({ length: 8 }, (_, i) => byUser(`s${i}`, `start ${i} ${'x'.repeat(40_000)}`)), compaction()]);
    const text = textOf(await ask(invokedSkills, session)) ?? '';
    expect(text.match(/## s\d/g)).toEqual(['## s7', '## s6', '## s5', '## s4', '## s3']);
    expect(text).toContain('start 7 x');
    expect(text.match(/\[cut: the first 15000 of 40008 bytes\]/g)).toHaveLength(5);
    expect(text.endsWith('[left out for length: s2, s1, s0]')).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThan(76_000);
  });
});

function failing(): never {
  throw new Error('there is no entry');
}
