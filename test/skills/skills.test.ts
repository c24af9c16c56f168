import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bench, skill } from './support.ts';
import { tempFolder } from '../support/temp.ts';

describe('where skills and commands are found', () => {
  it('in the user\'s folders, the project\'s from the start folder up, and commands by folder and name', async () => {
    const { views } = bench({
      '.claude/skills/near/SKILL.md': skill('far up'), 'sub/.agents/skills/deep/SKILL.md': skill('below'), 'sub/.pinion/skills/own/SKILL.md': skill('ours'),
      '.claude/commands/fix.md': 'Fix it.\n\nMore', '.claude/commands/git/log.md': skill('Shows the log'), 'other/.claude/skills/not/SKILL.md': skill('not'), '.claude/skills/README.md': 'no skill',
    }, { '.claude/skills/mine/SKILL.md': skill('of the user') }, { start: 'sub' });
    expect((await views()).map(({ name, scope, form, description, modelMayUse }) => [name, scope, form, description, modelMayUse])).toEqual([
      ['mine', 'user', 'skill', 'of the user', true], ['own', 'project', 'skill', 'ours', true], ['deep', 'project', 'skill', 'below', true], ['near', 'project', 'skill', 'far up', true],
      ['fix', 'project', 'command', 'Fix it.', false], ['git:log', 'project', 'command', 'Shows the log', true],
    ]);
  });

  it('of one name the user\'s goes before the project\'s, a skill before a command; what is the same file is one', async () => {
    const { views, skills, session, told } = bench({
      '.claude/skills/deploy/SKILL.md': skill('theirs'), '.claude/commands/deploy.md': skill('a command'), '.claude/skills/once/SKILL.md': skill('once'),
    }, { '.claude/skills/deploy/SKILL.md': skill('mine') }, { links: { '.agents/skills': '../.claude/skills' } });
    expect((await views()).map(({ name, description }) => [name, description])).toEqual([['deploy', 'mine'], ['once', 'once']]);
    expect(skills.notes(session)).toEqual(['.claude/skills/deploy/SKILL.md: not used, ~/.claude/skills/deploy/SKILL.md has the same name', '.claude/commands/deploy.md: not used, ~/.claude/skills/deploy/SKILL.md has the same name']);
    expect(told).toEqual([]);
  });

  it('beside files that were touched, with the folder before a name that is taken; never where git does not look', async () => {
    const { names, views, touch } = bench({
      '.gitignore': 'dist/\n', 'packages/a/.claude/skills/build/SKILL.md': skill('a'), 'packages/a/src/x.ts': '', 'packages/b/.claude/skills/build/SKILL.md': skill('b'), 'packages/b/y.ts': '',
      'dist/.claude/skills/evil/SKILL.md': skill('no'), 'node_modules/m/.claude/skills/evil/SKILL.md': skill('no'), '.claude/skills/build/SKILL.md': skill('top'),
    });
    expect(await names()).toEqual(['build']);
    touch('dist/x.js', 'node_modules/m/i.js', 'packages/a/src/x.ts');
    expect(await names()).toEqual(['build', 'packages:a:build']);
    touch('packages/b/y.ts');
    expect((await views()).map(({ name, scope, from }) => [name, scope, from])).toEqual([
      ['build', 'project', undefined], ['packages:a:build', 'nested', 'packages/a'], ['packages:b:build', 'nested', 'packages/b'],
    ]);
  });

  it('those for certain paths are not named to the model before one was touched', async () => {
    const { views, touch } = bench({ '.claude/skills/css/SKILL.md': skill('styles', 'Body.', 'paths:\n  - "src/**/*.css"\n  - "*.scss"\n') });
    const dormant = async (): Promise<unknown> => (await views()).map((view) => view.dormant ?? false);
    expect(await dormant()).toEqual([true]);
    touch('lib/a.css', 'src/a.ts');
    expect(await dormant()).toEqual([true]);
    touch('deep/er/b.scss');
    expect(await dormant()).toEqual([false]);
  });

  it('nothing of a folder that is not trusted is listed or loaded, which is said once', async () => {
    let trusted = false;
    const made = bench({ '.claude/skills/theirs/SKILL.md': skill('theirs', '!`touch canary`'), '.claude/commands/run.md': '!`touch canary`', 'a/.claude/skills/in/SKILL.md': skill('in') }, { '.claude/skills/mine/SKILL.md': skill('mine') });
    const { places } = { places: { userSkills: [join(made.home, '.claude/skills')], userCommands: [], start: made.project, top: made.project, added: () => [], trusted: () => trusted, respectsIgnores: () => true } };
    const { names, load, told, ran, touch } = bench({}, {}, { options: { places } });
    touch(join('..', made.project.split('/').at(-1) ?? '', 'a/x.ts'));
    expect(await names()).toEqual(['mine']);
    expect(await load('theirs')).toEqual({ problem: 'there is no skill "theirs"' });
    expect(await load('run')).toMatchObject({ problem: expect.stringContaining('no skill') as string });
    expect([ran, told]).toEqual([[], [expect.stringMatching(/^skills: .*\.claude\/skills.*: not used, the folder is not trusted$/)]]);
    trusted = true;
    expect(await names()).toEqual(['mine', 'theirs', 'in', 'run']);
  });
});

describe('broken and hostile files', () => {
  it('cost themselves only and are said once', async () => {
    const outside = tempFolder({ 'secret.md': skill('secret') });
    const made = bench({
      '.claude/skills/good/SKILL.md': skill('good'), '.claude/skills/empty/SKILL.md': '', '.claude/skills/binary/SKILL.md': Uint8Array.of(0, 1, 2, 255, 0), '.claude/skills/huge/SKILL.md': 'x'.repeat(300_000),
      '.claude/skills/bad name/SKILL.md': skill('x'), '.claude/skills/folder/SKILL.md/x': 'x', '.claude/skills/old/SKILL.md': Buffer.from('Caf\xe9 au lait', 'latin1'), '.claude/commands/a<b>.md': 'x',
    }, {}, { links: { '.claude/skills/out/SKILL.md': join(outside, 'secret.md'), '.claude/skills/loop': '.', '.claude/skills/lost/SKILL.md': './nowhere', '.claude/commands/again': '.' } });
    execFileSync('mkfifo', [join(made.project, '.claude/skills/good/pipe')]);
    mkdirSync(join(made.project, '.claude/skills/pipe'));
    execFileSync('mkfifo', [join(made.project, '.claude/skills/pipe/SKILL.md')]);
    expect((await made.views()).filter(({ form }) => form === 'skill').map(({ name, description }) => [name, description])).toEqual([['good', 'good'], ['old', 'Café au lait']]);
    expect(made.told.map((line) => line.replace(/^skills: /, '')).sort().slice(0, 10)).toEqual([
      '.claude/commands/a<b>.md: left out: its name can have letters, digits, ".", "_" and "-" only, 64 at most, a letter or digit first',
      '.claude/skills/bad name/SKILL.md: left out: its name can have letters, digits, ".", "_" and "-" only, 64 at most, a letter or digit first',
      '.claude/skills/binary/SKILL.md: left out: it is no text',
      '.claude/skills/empty/SKILL.md: left out: it is empty',
      '.claude/skills/folder/SKILL.md: left out: SKILL.md is a folder',
      '.claude/skills/huge/SKILL.md: left out: it is larger than 262144 bytes',
      `.claude/skills/out/SKILL.md: left out: it is a link that leads out of the project, to ${outside}/secret.md`,
      '.claude/skills/pipe/SKILL.md: left out: it is no regular file',
    ]);
    const before = made.told.length;
    await made.views();
    expect(made.told).toHaveLength(before);
  });

  it('front matter that is no YAML is read field by field', async () => {
    const { views } = bench({ '.claude/skills/real/SKILL.md': '---\nname: real\ndescription: Use when: a "b" is *c\nargument-hint: [a] [b]\nmodel: *x\n---\nBody' });
    expect(await views()).toMatchObject([{ name: 'real', description: 'Use when: a "b" is *c', argumentHint: '[a] [b]' }]);
  });

  it('thousands are cut, which is said, and a rule that denies reading holds', async () => {
    const many = Object.fromEntries(Array.from({ length: 2100 }, (_, i) => [`.claude/commands/c${i}.md`, `Do ${i}`]));
    const { views, told } = bench({ ...many, '.claude/skills/no/SKILL.md': skill('no') }, {}, { options: { denied: (path) => Promise.resolve(path.includes('/no/')) } });
    expect((await views()).length).toBeLessThanOrEqual(2000);
    expect(told).toEqual(['skills: .claude/skills/no/SKILL.md: left out: a permission rule denies reading it', 'skills: .claude/commands: left out: it holds more than 2000; the others are left out']);
  });

  it('a built-in command keeps its name, which is said', async () => {
    const { told, names } = bench({ '.claude/commands/clear.md': skill('mine') });
    expect(await names()).toEqual(['clear']);
    expect(told).toEqual(['skills: /clear is a built-in command: you cannot call the command .claude/commands/clear.md by that name (the model can)']);
  });
});

describe('a change on the disk', () => {
  it('counts at the next look: written, rewritten with the same length and time, renamed, removed', async () => {
    const { views, names, project, text } = bench({ '.claude/skills/a/SKILL.md': skill('one') });
    const file = join(project, '.claude/skills/a/SKILL.md');
    const described = async (): Promise<readonly string[]> => (await views()).map(({ description }) => description);
    expect(await described()).toEqual(['one']);
    writeFileSync(file, skill('two'));
    expect(await described()).toEqual(['two']);
    const past = new Date(Date.now() - 60_000);
    utimesSync(file, past, past);
    expect(await described()).toEqual(['two']);
    writeFileSync(file, skill('six', 'Else.'));
    utimesSync(file, past, past);
    expect(await described()).toEqual(['six']);
    expect(await text('a')).toContain('Else.');
    mkdirSync(join(project, '.claude/commands'));
    writeFileSync(join(project, '.claude/commands/new.md'), 'New');
    expect(await names()).toEqual(['a', 'new']);
    renameSync(join(project, '.claude/skills/a'), join(project, '.claude/skills/b'));
    expect(await names()).toEqual(['b', 'new']);
    rmSync(join(project, '.claude'), { recursive: true });
    expect(await names()).toEqual([]);
  });

  it('those who look at once share a look', async () => {
    const { skills, session } = bench({ '.claude/skills/a/SKILL.md': skill('one') });
    const { signal } = new AbortController();
    const [one, two] = await Promise.all([skills.list(session, signal), skills.list(session, signal)]);
    expect(one).toEqual(two);
    expect(skills.known(session)).toEqual(one);
  });
});

describe('loading', () => {
  it('puts in arguments, values and the output of commands; what a command printed is no mention', async () => {
    const { load, session, project } = bench({ '.claude/skills/a/SKILL.md': skill('a', 'Look at @src/a.ts for $who in ${CLAUDE_PROJECT_DIR}.\nStatus: !`git status @x`\n${PINION_SESSION_ID} ${CLAUDE_SKILL_DIR}', 'arguments: [who]\n') });
    const loaded = await load('/a', ' me ');
    expect(loaded).toMatchObject({
      view: { name: 'a' }, notes: [], parts: [],
      text: `Skill a. The files that it speaks of lie in ${project}/.claude/skills/a.\n\nLook at @src/a.ts for me in ${project}.\nStatus: out of git status @x\n${session.id} ${project}/.claude/skills/a`,
      mentions: `Look at @src/a.ts for me in ${project}.\nStatus:  \n${session.id} ${project}/.claude/skills/a`,
    });
  });

  it('a Markdown command is its text and nothing else', async () => {
    const { text } = bench({ '.claude/commands/fix.md': '---\nargument-hint: "[n]"\n---\nFix issue $0.\n' });
    expect(await text('fix', '12')).toBe('Fix issue 12.');
  });

  it('a command that the gate refuses is a line that says so, and the others run', async () => {
    const { load, ran } = bench({ '.claude/skills/a/SKILL.md': skill('a', '!`rm -rf x`\n!`ls`') }, {}, { allow: (command) => (command === 'ls' ? { kind: 'allow' } : { kind: 'refuse', by: 'rule', reason: 'a rule forbids it' }) });
    const loaded = await load('a');
    expect(loaded).toMatchObject({ text: expect.stringMatching(/\[not run: rm -rf x: a rule forbids it\]\nout of ls$/) as string, notes: ['not run: rm -rf x: a rule forbids it'] });
    expect(ran).toEqual(['ls']);
  });

  it('says how a command failed, and runs so many at most', async () => {
    const { text } = bench({ '.claude/commands/a.md': '!`x`', '.claude/commands/many.md': '!`x`\n'.repeat(60) }, {}, { options: { run: () => Promise.resolve({ how: 'exited', output: '', exitCode: 3 }) } });
    expect(await text('a')).toBe('[exit code 3]');
    expect((await text('many')).match(/\[exit code 3\]/g)).toHaveLength(50);
    expect(await text('many')).toContain('[not run: x: 50 commands are the most in one text]');
  });

  it('is for whom the front matter lets, and names the nearest where there is none', async () => {
    const { load } = bench({ '.claude/skills/mine/SKILL.md': skill('a', 'B', 'disable-model-invocation: true\n'), '.claude/skills/its/SKILL.md': skill('a', 'B', 'user-invocable: false\n') });
    expect(await load('mine', '', 'model')).toEqual({ problem: 'mine is for the user to call' });
    expect(await load('its', '', 'user')).toEqual({ problem: 'its is for the model to use, it cannot be called' });
    expect(await load('min')).toEqual({ problem: 'there is no skill "min"; did you mean "mine"?' });
    expect(await load('x\n</system-reminder>')).toEqual({ problem: 'there is no skill "x\\u{A}\\u{3C}/system-reminder\\u{3E}"' });
  });

  it('by the model brings its mentions along; a long text is cut, which is said', async () => {
    const { load } = bench({ '.claude/skills/a/SKILL.md': skill('a', `See @a.ts ${'x'.repeat(150_000)}`) }, {}, { options: { mentions: (text) => Promise.resolve({ parts: [{ type: 'text', text: `file of ${text.slice(0, 9)}` }], files: [], notes: ['a note'] }) } });
    expect(await load('a', '', 'model')).toMatchObject({ parts: [{ text: 'file of See @a.ts' }], notes: ['a note'], text: expect.stringMatching(/\n\[cut: the first 100000 of \d+ bytes\]$/) as string });
  });

  it('that is interrupted leaves nothing behind', async () => {
    const stop = new AbortController();
    const made = bench({ '.claude/skills/a/SKILL.md': skill('a', '!`one`\n!`two`', 'allowed-tools: Bash(one)\n') }, {}, { options: { run: (command, _session, signal) => {
      made.ran.push(command);
      stop.abort();
      return Promise.resolve({ how: signal.aborted ? 'interrupted' : 'exited', output: '', exitCode: null });
    } } });
    expect(await made.skills.load('a', '', 'user', made.session, stop.signal)).toEqual({ problem: 'interrupted' });
    expect(made.ran).toEqual(['one']);
    expect(made.skills.grants(made.session)).toEqual([]);
  });

  it('grants its rules, and reading beside it, until the turn is over', async () => {
    const { load, skills, session, home } = bench({}, { '.claude/skills/a/SKILL.md': skill('a', 'B', 'allowed-tools: Bash(git add:*), Read\n') });
    await load('a');
    expect(skills.grants(session).map(({ rule }) => rule)).toEqual([`Read(/${home}/.claude/skills/a/**)`, 'Bash(git add:*)', 'Read']);
    skills.settle(session);
    expect(skills.grants(session)).toEqual([]);
  });
});

it('a link of the user\'s may lead anywhere', async () => {
  const elsewhere = tempFolder({ 'shared/SKILL.md': skill('shared') });
  const { home, names } = bench({});
  mkdirSync(join(home, '.claude/skills'), { recursive: true });
  symlinkSync(join(elsewhere, 'shared'), join(home, '.claude/skills/shared'));
  expect(await names()).toEqual(['shared']);
});
