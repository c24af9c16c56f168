import { expect, it } from 'vitest';
import type { SkillView } from '#domain/skills.ts';
import { withSkills } from '#main/skill-commands.ts';
import { desk } from './support.ts';

const view = (name: string, more: Partial<SkillView> = {}): SkillView => ({ name, description: 'Does it', scope: 'user', form: 'skill', file: `/h/${name}/SKILL.md`, modelMayUse: true, userMayUse: true, bytes: 4000, ...more });

it('/skills lists what there is, whose it is, and what is not used', async () => {
  const { shown } = desk({}, { skills: () => Promise.resolve([view('a'), view('b', { scope: 'nested', from: 'lib', description: 'x'.repeat(300) }), view('c:d', { form: 'command', scope: 'project' })]), skillNotes: () => ['x/SKILL.md: left out: it is empty'] });
  const text = await shown('skills');
  for (const words of ['2 skills, 1 command', 'yours', 'lib', 'project\'s (command)', '1k', `${'x'.repeat(99)}…`, 'x/SKILL.md: left out: it is empty']) expect(text).toContain(words);
});

it('/skills with a name tells all of one, who may use it and where it lies', async () => {
  const { shown, refused, complete } = desk({}, { skills: () => Promise.resolve([view('a', { argumentHint: '<who>', dormant: true }), view('b', { userMayUse: false, description: '' }), view('c', { userMayUse: false, modelMayUse: false })]) });
  expect(await shown('skills /a')).toMatch(/used by you \(\/a <who>\) and by the model \(once a file that it is for was touched\)[\s\S]*\/h\/a\/SKILL\.md/);
  expect(await shown('skills b')).toMatch(/does not say what it is for[\s\S]*used by the model/);
  expect(await shown('skills c')).toContain('used by nobody');
  expect(await refused('skills nope')).toBe('There is no skill nope: /skills lists them.');
  expect(await complete('skills ')).toEqual(['a', 'b', 'c']);
});

it('/skills says where they would lie when there are none', async () => {
  expect(await desk().shown('skills')).toContain('.claude/skills');
});

it('those that the user may call are slash commands, unless a built-in one has the name', async () => {
  const builtIn = desk().context.commands;
  const made = withSkills(builtIn, [view('clear'), view('new'), view('fix', { argumentHint: '<n>', scope: 'project', form: 'command' }), view('hidden', { userMayUse: false }), view('bare', { description: '', scope: 'nested', from: 'lib' }), view('long', { description: 'y'.repeat(500) })]).slice(builtIn.length);
  expect(made.map(({ id, summary, usage }) => [id, summary, usage])).toEqual([
    ['fix', 'Does it (command of this project)', '<n>'], ['bare', 'skill of lib', undefined], ['long', `${'y'.repeat(99)}… (your skill)`, undefined],
  ]);
  expect(await made[0]?.run('12 x', desk().context)).toEqual({ type: 'invoke', skill: 'fix', args: '12 x' });
});
