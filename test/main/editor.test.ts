import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Answer, Question } from '#domain/ports.ts';
import type { PathLookup } from '#domain/documents.ts';
import type { Arguments } from '#cli/arguments.ts';
import { mentionFor, wishOf } from '#main/wire-editor.ts';
import { startEditor, type EditorOptions } from '../support/editor.ts';
import { eventually } from '../support/eventually.ts';
import { household } from '../support/household.ts';
import { call, say } from '../support/messages-server/reply.ts';
import type { ServerOptions } from '../support/messages-server/server.ts';
import { expectValid, last, serve, wordsOf } from '../support/product.ts';
import { tempFolder } from '../support/temp.ts';

const LAMP = 'one\ntwo\nthree\n';
const never = (_question: Question, signal: AbortSignal): Promise<Answer | undefined> => new Promise((resolve) => { signal.addEventListener('abort', () => { resolve(undefined); }, { once: true }); });

interface Wanted {
  readonly script: NonNullable<ServerOptions['script']>;
  readonly answer?: (question: Question, signal: AbortSignal) => Answer | undefined | Promise<Answer | undefined>;
  readonly settings?: object;
  readonly args?: Partial<Arguments>;
  readonly editor?: Partial<EditorOptions>;
}

/** A house with an editor beside it, in which each change is asked about. */
async function furnished({ script, answer = never, settings = {}, args = {}, editor: more = {} }: Wanted) {
  const server = await serve(script);
  const config = tempFolder();
  const home = household({ 'lamp.ts': LAMP, 'secret.env': 'KEY=1\n' }, server, { CLAUDE_CONFIG_DIR: config });
  mkdirSync(home.home, { recursive: true });
  writeFileSync(join(home.home, 'settings.json'), JSON.stringify(settings));
  const editor = await startEditor({ locks: join(config, 'ide'), folders: [home.cwd], ...more });
  const dweller = await home.open({ modeless: true, answer, args: { print: false, ide: true, ...args } });
  dweller.house.editor.start();
  await dweller.house.editor.ready();
  const lamp = join(home.cwd, 'lamp.ts');
  const shown = async () => {
    await eventually(() => { expect(editor.diffs.length).toBeGreaterThan(0); });
    return last(editor.diffs);
  };
  return { ...home, ...dweller, dweller, server, editor, lamp, shown, text: () => readFileSync(lamp, 'utf8') };
}

const READ = { content: [call('Read', { file_path: 'lamp.ts' })] };
const EDIT = { content: [call('Edit', { file_path: 'lamp.ts', old_string: 'two', new_string: '2' })] };

describe('what is marked in the editor', () => {
  it('goes along with the prompt once, and stands in /context', async () => {
    const { editor, lamp, dweller, server } = await furnished({ script: [say('a'), say('b')] });
    editor.select(lamp, 2, 3, 'two\nthree');
    await eventually(async () => { expect(await dweller.house.editor.selection(new AbortController().signal)).toBeDefined(); });
    expect((await dweller.context().context()).coming?.map(({ label }) => label).join('\n')).toContain('ide_selection');
    await dweller.turn('what is this?');
    await dweller.turn('and now?');
    const words = wordsOf(last(server.requests));
    expect(words.match(/The user has marked lines 2–3 of lamp\.ts in Neovim\./g)).toHaveLength(1);
    expect(words).toContain('     2\ttwo\n     3\tthree');
    expect(words).not.toContain('open in Neovim');
    expectValid(server);
  });

  it('is not told of a file that a rule keeps from being read, nor where it is switched off', async () => {
    const { editor, cwd, lamp, dweller, server } = await furnished({ script: [say('a'), say('b')], settings: { permissions: { deny: ['Read(*.env)'] }, remindersOff: ['ide_selection'] } });
    editor.select(join(cwd, 'secret.env'), 1, 1, 'KEY=1');
    await new Promise((resolve) => { setTimeout(resolve, 50); });
    await dweller.turn('one');
    editor.select(lamp, 2, 2, 'two');
    await new Promise((resolve) => { setTimeout(resolve, 50); });
    await dweller.turn('two');
    const words = wordsOf(last(server.requests));
    expect(words).not.toMatch(/secret\.env|marked/);
    expect(words).toContain('The user has lamp.ts open in Neovim.');
  });
});

describe('a change that is asked about', () => {
  it('is written when it is saved in the editor, whose tab goes afterwards: the file is looked at anew then', async () => {
    let [path, seen] = ['', ''];
    const close = (): readonly string[] => {
      seen = readFileSync(path, 'utf8');
      return ['TAB_CLOSED'];
    };
    const { shown, dweller, text, log, server, lamp } = await furnished({ script: [READ, EDIT, say('done')], editor: { tools: { close_tab: close } } });
    path = lamp;
    const turn = dweller.turn('change it');
    const diff = await shown();
    expect(diff.contents).toBe('one\n2\nthree\n');
    diff.save();
    expect(await turn).toEqual({ kind: 'answered' });
    expect(text()).toBe('one\n2\nthree\n');
    await eventually(() => { expect(seen).toBe('one\n2\nthree\n'); });
    expect(log.findLast((entry) => entry.type === 'toolResult')).toMatchObject({ result: { kind: 'ok', card: { detail: '+1 −1' } } });
    expectValid(server);
  });

  it('that the user changed there is written as they made it; the model is told what differs, and may edit on', async () => {
    const more = { content: [call('Edit', { file_path: 'lamp.ts', old_string: 'ZWEI', new_string: 'deux' })] };
    const { shown, dweller, text, log, server, editor } = await furnished({ script: [READ, EDIT, more, say('done')] });
    const turn = dweller.turn('change it');
    (await shown()).save('one\nZWEI\nthree\n');
    await eventually(() => { expect(editor.diffs).toHaveLength(2); });
    last(editor.diffs).save();
    expect(await turn).toEqual({ kind: 'answered' });
    expect(text()).toBe('one\ndeux\nthree\n');
    const results = log.flatMap((entry) => (entry.type === 'toolResult' ? [entry.result] : []));
    expect(results[1]).toMatchObject({ kind: 'ok', card: { title: 'Edit lamp.ts', detail: '+1 −1, changed by you' }, files: [{ how: 'write' }] });
    expect(wordsOf(last(server.requests))).toContain('The user changed this change before they agreed to it. lamp.ts was written as they want it. How it differs from what you proposed:\n@@ -1,3 +1,3 @@\n one\n-2\n+ZWEI\n three');
    expectValid(server);
  });

  it('of a new file too', async () => {
    const { shown, dweller, cwd } = await furnished({ script: [{ content: [call('Write', { file_path: 'new/a.txt', content: 'hello\n' })] }, say('done')] });
    const turn = dweller.turn('write it');
    const diff = await shown();
    expect(diff).toMatchObject({ path: join(cwd, 'new', 'a.txt'), contents: 'hello\n' });
    diff.save('goodbye\n');
    await turn;
    expect(readFileSync(join(cwd, 'new', 'a.txt'), 'utf8')).toBe('goodbye\n');
  });

  it('of a file that was changed on disk meanwhile is not written', async () => {
    const { shown, dweller, text, lamp, log } = await furnished({ script: [READ, EDIT, say('hm')] });
    const turn = dweller.turn('change it');
    const diff = await shown();
    writeFileSync(lamp, 'somebody else\n');
    diff.save('one\nZWEI\nthree\n');
    await turn;
    expect(text()).toBe('somebody else\n');
    expect(JSON.stringify(log.findLast((entry) => entry.type === 'toolResult')?.result.content)).toContain('was changed on disk while the user was looking');
  });

  it('closed there is refused, and the turn ends as after a no in the terminal', async () => {
    const { shown, dweller, text } = await furnished({ script: [READ, EDIT] });
    const turn = dweller.turn('change it');
    (await shown()).shut();
    expect(await turn).toEqual({ kind: 'stopped', message: 'You refused Edit. Say what to do instead.' });
    expect(text()).toBe(LAMP);
  });

  it('answered in the terminal: the tab goes, and what is saved there later is not written', async () => {
    let settle = (_answer: Answer): void => undefined;
    const { shown, dweller, text, editor } = await furnished({ script: [READ, EDIT, say('done')], answer: () => new Promise((resolve) => { settle = resolve; }) });
    const turn = dweller.turn('change it');
    const diff = await shown();
    settle({ kind: 'yes' });
    await turn;
    diff.save('too late\n');
    await eventually(() => { expect(editor.calls.map(({ name }) => name)).toContain('close_tab'); });
    expect(text()).toBe('one\n2\nthree\n');
  });

  it('is shown in the terminal alone where the settings say so', async () => {
    const { dweller, editor, text } = await furnished({ script: [READ, EDIT, say('done')], settings: { diffTool: 'terminal' }, answer: async () => {
      await new Promise((resolve) => { setTimeout(resolve, 50); });
      return { kind: 'yes' };
    } });
    await dweller.turn('change it');
    expect(editor.diffs).toEqual([]);
    expect(text()).toBe('one\n2\nthree\n');
  });

  it('of a call that would fail is not shown', async () => {
    const unread = { content: [call('Edit', { file_path: 'lamp.ts', old_string: 'nowhere', new_string: '2' })] };
    const { dweller, editor } = await furnished({ script: [unread, say('hm')], answer: async () => {
      await new Promise((resolve) => { setTimeout(resolve, 50); });
      return { kind: 'yes' };
    } });
    await dweller.turn('change it');
    expect(editor.diffs).toEqual([]);
  });

  it('by a sub-agent is shown as well', async () => {
    const script: NonNullable<ServerOptions['script']> = (request) => {
      const words = JSON.stringify(request);
      if (!words.includes('CHANGE THE LAMP')) return { content: [call('Task', { description: 'change', prompt: 'CHANGE THE LAMP', subagent_type: 'general-purpose' })] };
      if (words.includes('Edited lamp.ts') || words.includes('changed this change')) return say('done');
      return EDIT;
    };
    const { shown, dweller, text } = await furnished({ script });
    const turn = dweller.turn('have it changed');
    (await shown()).save();
    await turn;
    expect(text()).toBe('one\n2\nthree\n');
  });
});

describe('what the editor reports', () => {
  it('of a file that was edited is told with the next step, and not again', async () => {
    const { editor, lamp, dweller, server } = await furnished({ script: [READ, EDIT, { content: [call('Read', { file_path: 'lamp.ts' })] }, say('done')], args: { permissionMode: 'acceptEdits' } });
    editor.report(lamp, { message: 'old' });
    const turn = dweller.turn('change it', (event) => {
      if (event.type === 'entry' && event.entry.type === 'toolResult' && event.entry.tool === 'Edit') editor.report(lamp, { message: 'old', line: 9 }, { message: 'two is missed', line: 2, source: 'ts' });
    });
    await turn;
    const words = wordsOf(last(server.requests));
    expect(words.match(/Neovim reports in files that were written, and did not before:\nlamp\.ts\n {2}2:1 error \(ts\): two is missed/g)).toHaveLength(1);
    expect(words).not.toContain(': old');
    expectValid(server);
  });
});

describe('which editor is wished for', () => {
  const wish = (env: Readonly<Record<string, string>>, more: Partial<Parameters<typeof wishOf>[0]> = {}) => wishOf({ env, asked: false, auto: false, composer: true, ...more });

  it('that in whose terminal it runs, unless that is switched off', () => {
    expect(wish({})).toEqual({ asked: false, auto: false });
    expect(wish({ CLAUDE_CODE_SSE_PORT: '4001', ENABLE_IDE_INTEGRATION: 'true' })).toEqual({ asked: false, auto: true, port: 4001 });
    expect(wish({ CLAUDE_CODE_SSE_PORT: '4001' })).toEqual({ asked: false, auto: false, port: 4001 });
    expect(wish({ CLAUDE_CODE_SSE_PORT: '4001', ENABLE_IDE_INTEGRATION: 'false' })).toEqual({ asked: false, auto: false });
    expect(wish({ CLAUDE_CODE_SSE_PORT: '4001; rm' })).toEqual({ asked: false, auto: false });
  });

  it('whichever fits, by the setting; none where nobody writes lines and none was asked for', () => {
    expect(wish({}, { auto: true })).toEqual({ asked: false, auto: true });
    expect(wish({ CLAUDE_CODE_SSE_PORT: '4001' }, { composer: false })).toBeUndefined();
    expect(wish({}, { composer: false, asked: true })).toEqual({ asked: true, auto: false });
  });
});

describe('a mention from the editor', () => {
  const at = (real: string, more: Partial<PathLookup> = {}): PathLookup => ({ real, label: real, kind: 'file', outside: false, denied: false, ...more });

  it('is written as the grammar of mentions wants it', () => {
    expect(mentionFor(at('/w/src/a.ts'), '/w', undefined)).toEqual({ text: '@src/a.ts' });
    expect(mentionFor(at('/w/src/a.ts'), '/w', { from: 10, to: 20 })).toEqual({ text: '@src/a.ts#L10-20' });
    expect(mentionFor(at('/w/my file.ts'), '/w', { from: 10, to: 10 })).toEqual({ text: '@"my file.ts"#L10' });
    expect(mentionFor(at('/w/src', { kind: 'directory' }), '/w', { from: 1, to: 2 })).toEqual({ text: '@src/' });
    expect(mentionFor(at('/w', { kind: 'directory' }), '/w', undefined)).toEqual({ text: '@./' });
    expect(mentionFor(at('/other/a.ts', { outside: true }), '/w', undefined)).toEqual({ text: '@/other/a.ts' });
  });

  it('of what may not be read, or no line can name, is one line for the user', () => {
    expect(mentionFor(at('/w/.env', { denied: true }), '/w', undefined)).toEqual({ problem: '.env was mentioned in the editor; a deny rule keeps it from being read.' });
    expect(mentionFor(at('/w/a\nb'), '/w', undefined)).toEqual({ problem: 'a\\u{A}b was mentioned in the editor; no line can name it.' });
  });
});
