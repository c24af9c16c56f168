import { describe, expect, it } from 'vitest';
import { factsOf, knownModels } from '#accounting/models.ts';
import { commands } from '#commands/list.ts';
import { DEMO_MODEL } from '#domain/model.ts';
import { desk, summary } from './support.ts';

describe('/model', () => {
  it('knows ids, the names of lines and labels', async () => {
    const { run } = desk({}, { model: factsOf('claude-haiku-5-5') });
    expect(await run('model claude-opus-5')).toEqual({ type: 'model', id: 'claude-opus-5' });
    expect(await run('model opus')).toEqual({ type: 'model', id: 'claude-opus-5-5' });
    expect(await run('model Sonnet')).toEqual({ type: 'model', id: 'claude-sonnet-5-5' });
    expect(await run('model opus 4.8')).toEqual({ type: 'model', id: 'claude-opus-4-8' });
    expect(await run('model demo')).toEqual({ type: 'model', id: DEMO_MODEL });
  });

  it('takes a slip for one, and a strange name as it is', async () => {
    const { run, refused } = desk();
    expect(await refused('model claude-opsu-5')).toBe('No model claude-opsu-5 is known. Did you mean claude-opus-5? Start with --model claude-opsu-5 to use it all the same.');
    expect(await run('model llama3:70b')).toEqual({ type: 'model', id: 'llama3:70b' });
    expect(await refused('model my own model')).toBe('"my own model" can be no model\'s id. /model lists them.');
  });

  it('asks on the screen, lists in print, and leaves the present one alone', async () => {
    expect(await desk().run('model')).toEqual({ type: 'model' });
    const text = await desk({}, { surface: 'print' }).shown('model');
    expect(text).toMatch(/^Model: claude-opus-5-5\n/);
    for (const { id } of knownModels()) expect(text).toContain(id);
    expect(await desk().shown('model opus')).toBe('Model: claude-opus-5-5 (it answers already)');
  });
});

describe('/resume', () => {
  const sessions = (): Promise<readonly ReturnType<typeof summary>[]> => Promise.resolve(['ab12', 'ab34', 'ab3456', 'cd00', '0f000000-aaaa'].map(summary));

  it('finds a session by the beginning of its id', async () => {
    const { run, refused, complete } = desk({}, { sessions });
    expect(await run('resume')).toEqual({ type: 'resume' });
    expect(await run('resume cd')).toEqual({ type: 'resume', id: 'cd00' });
    expect(await run('resume CD00')).toEqual({ type: 'resume', id: 'cd00' });
    expect(await run('resume ab34')).toEqual({ type: 'resume', id: 'ab34' });
    expect(await refused('resume ab')).toBe('3 sessions begin with ab. Give more of the id.');
    expect(await refused('resume ee')).toBe('No session begins with ee. Choose one with /resume.');
    expect(await refused('resume 0f000000-aaaa')).toBe('That is the session that you are in.');
    expect(await complete('resume ')).toEqual(['ab12', 'ab34', 'ab3456', 'cd00']);
  });
});

describe('short ones', () => {
  it('say what is wanted', async () => {
    const { run, refused } = desk();
    expect(await run('compact  the plan ')).toEqual({ type: 'compact', keep: 'the plan' });
    expect(await run('clear')).toEqual({ type: 'clear', all: false });
    expect(await run('new --all')).toEqual({ type: 'clear', all: true });
    expect(await refused('clear pins')).toMatch(/^It is \/clear, or \/clear --all/);
    expect(await run('login')).toEqual({ type: 'login' });
    expect(await refused('login sk-ant-123')).toMatch(/^Do not write a key on the line/);
    expect(await run('logout')).toEqual({ type: 'logout' });
    expect(await run('quit')).toEqual({ type: 'exit' });
  });

  it('/plan turns round, or does what it is told', async () => {
    const { run } = desk();
    expect(await run('plan')).toEqual({ type: 'mode', mode: 'plan' });
    expect(await desk({}, { mode: 'plan' }).run('plan')).toEqual({ type: 'mode', mode: 'default' });
    expect(await run('plan on')).toEqual({ type: 'mode', mode: 'plan' });
    expect(await run('plan off')).toEqual({ type: 'mode', mode: 'default' });
  });

  it('/help lists commands and keys, and explains one', async () => {
    const { shown, refused } = desk();
    const text = await shown('help');
    expect(text).toMatch(/^\/pin {5,}Keep a file/m);
    expect(text).toMatch(/^Ctrl-C {2,}interrupt$/m);
    expect(await shown('? /todo')).toMatch(/^\/todo \[add <text> \| done/);
    expect(await shown('help new')).toMatch(/^\/clear \[--all\]\n\n.*Also: \/new\.$/m);
    expect(await refused('help pni')).toBe('There is no command /pni. Did you mean /help pin?');
    expect(await desk({}, { keys: [] }).shown('help')).not.toMatch(/^Keys /m);
  });

  it('/help is in groups, each thing in one line; how lines are edited is told by /help keys', async () => {
    const keys = [{ keys: 'Ctrl-C', what: 'interrupt' }, { keys: 'Alt-B', what: 'a word back', editing: true }];
    const own = { id: 'tidy', summary: 'Tidy up; then rest (your skill)', run: () => ({ type: 'exit' } as const) };
    const { shown } = desk({}, { keys, commands: [...commands, own] });
    const text = await shown('help');
    expect([...text.matchAll(/^(In view|At work|Model and money|Session|Skills and more|Keys)\b/gm)].map(([, head]) => head)).toEqual(['In view', 'At work', 'Model and money', 'Session', 'Skills and more', 'Keys']);
    expect(text).toMatch(/^\/unpin .*\n/m);
    expect(text).toMatch(/^\/pin +Keep a file, folder, note or command output in view$/m);
    expect(text).toMatch(/^\/tidy +Tidy up; then rest \(your skill\)$/m);
    expect(text).not.toContain('a word back');
    expect(await shown('help pin')).toContain('alone: list the pins');
    expect(await shown('help keys')).toMatch(/^Ctrl-C +interrupt\n[\s\S]*^Alt-B +a word back$/m);
  });
});
