import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Answer, Asker, Question } from '#domain/ports.ts';
import { startEditor, type EditorOptions } from '../support/editor.ts';
import { eventually } from '../support/eventually.ts';
import { call, ideBench } from './support.ts';

/** A person at the terminal who answers when told to. */
function terminal() {
  const asked: Question[] = [];
  const settled: string[] = [];
  let answer: (answer: Answer | undefined) => void = () => undefined;
  const asker: Asker = {
    ask: (question, signal) => new Promise((resolve) => {
      asked.push(question);
      answer = (given) => {
        settled.push('answered');
        resolve(given);
      };
      signal.addEventListener('abort', () => {
        settled.push('taken away');
        resolve(undefined);
      }, { once: true });
    }),
  };
  return { asker, asked, settled, answer: (given: Answer | undefined) => { answer(given); } };
}

async function bench(more: Partial<EditorOptions> = {}) {
  const ide = ideBench({ 'lamp.ts': 'one\ntwo\n' });
  const editor = await startEditor({ locks: ide.locks, folders: [ide.work], ...more });
  await ide.ide.begin({ asked: false, auto: true });
  ide.proposals.set('Edit', { path: join(ide.work, 'lamp.ts'), hash: 'x', after: 'one\n2\n' });
  ide.proposals.set('Crlf', { path: join(ide.work, 'lamp.ts'), hash: 'x', after: 'one\r\n2' });
  const person = terminal();
  const over = new AbortController();
  const ask = (tool = 'Edit'): Promise<Answer | undefined> => ide.ide.asker(person.asker).ask({ kind: 'permission', call: call(tool), card: { title: '', body: [] }, reason: '', rules: [], keep: 'session' }, over.signal);
  const shown = async () => {
    await eventually(() => { expect(editor.diffs).toHaveLength(1); });
    const [diff] = editor.diffs;
    if (diff === undefined) throw new Error('no diff is shown');
    return diff;
  };
  const closed = () => eventually(() => { expect(editor.calls.filter(({ name }) => name === 'close_tab').map(({ args }) => args['tab_name'])).toEqual([editor.diffs[0]?.tab]); });
  return { ...ide, editor, person, ask, shown, closed, over };
}

describe('a change that is asked about', () => {
  it('is shown in the editor; saving it there is yes, and the question in the terminal goes', async () => {
    const { ask, shown, closed, person, amended, work } = await bench();
    const answer = ask();
    const diff = await shown();
    expect(diff).toMatchObject({ path: join(work, 'lamp.ts'), contents: 'one\n2\n' });
    expect(diff.tab).toMatch(/^✻ \[Pinion\] lamp\.ts \([0-9a-f]{6}\) ⧉$/);
    diff.save();
    expect(await answer).toEqual({ kind: 'yes' });
    await closed();
    expect(person.settled).toEqual(['taken away']);
    expect(amended).toEqual([]);
  });

  it('that the user changed there is to be written as they made it', async () => {
    const { ask, shown, amended } = await bench();
    const answer = ask();
    (await shown()).save('one\nTWO\n');
    expect(await answer).toEqual({ kind: 'yes' });
    expect(amended).toEqual(['one\nTWO\n']);
  });

  it('keeps its line ends, and a last line that the editor has ended is no change', async () => {
    const { ask, shown, amended } = await bench();
    const answer = ask('Crlf');
    const diff = await shown();
    expect(diff.contents).toBe('one\n2');
    diff.save('one\n2\n');
    expect(await answer).toEqual({ kind: 'yes' });
    expect(amended).toEqual([]);
    const other = await bench();
    const second = other.ask('Crlf');
    (await other.shown()).save('one\n3\n');
    await second;
    expect(other.amended).toEqual(['one\r\n3\r\n']);
  });

  it.each(['reject', 'shut'] as const)('%s in the editor is no', async (how) => {
    const { ask, shown, closed } = await bench();
    const answer = ask();
    (await shown())[how]();
    expect(await answer).toEqual({ kind: 'no' });
    await closed();
  });

  it('answered in the terminal: the tab is closed, and what the editor says afterwards counts no more', async () => {
    const { ask, shown, closed, person, editor, amended } = await bench();
    const answer = ask();
    const diff = await shown();
    person.answer({ kind: 'always' });
    expect(await answer).toEqual({ kind: 'always' });
    await closed();
    expect(editor.methods).toContain('notifications/cancelled');
    diff.save('something else\n');
    await new Promise((resolve) => { setTimeout(resolve, 30); });
    expect(amended).toEqual([]);
    expect(person.settled[0]).toBe('answered');
  });

  it('interrupted: the tab is closed', async () => {
    const { ask, shown, closed, over } = await bench();
    const answer = ask();
    await shown();
    over.abort(new Error('interrupted'));
    expect(await answer).toBeUndefined();
    await closed();
  });

  it.each([
    ['refuses', { tools: { openDiff: 'Cannot create diff: file has unsaved changes' } }, 'Neovim cannot show this change: Cannot create diff: file has unsaved changes.'],
    ['answers anything else', { tools: { openDiff: () => ['WHATEVER\u001b[2J'] } }, 'Neovim cannot show this change: it answered WHATEVER\\u{1B}[2J.'],
  ])('an editor that %s leaves the question in the terminal', async (_, more, line) => {
    const { ask, person, said } = await bench(more);
    const answer = ask();
    await eventually(() => { expect(said.at(-1)).toBe(line); });
    person.answer({ kind: 'no' });
    expect(await answer).toEqual({ kind: 'no' });
  });

  it('an editor that dies meanwhile leaves the question in the terminal', async () => {
    const { ask, person, editor, shown } = await bench();
    const answer = ask();
    await shown();
    editor.close();
    await new Promise((resolve) => { setTimeout(resolve, 50); });
    expect(person.settled).toEqual([]);
    person.answer({ kind: 'yes' });
    expect(await answer).toEqual({ kind: 'yes' });
  });

  it('an editor that never answers costs nothing', async () => {
    const { ask, person } = await bench({ tools: { openDiff: 'hang', close_tab: 'hang' } });
    const answer = ask();
    person.answer({ kind: 'yes' });
    expect(await answer).toEqual({ kind: 'yes' });
  });

  it('what is no change of a text file is asked in the terminal alone', async () => {
    const { ask, person, editor } = await bench();
    const answer = ask('Bash');
    person.answer({ kind: 'yes' });
    await answer;
    expect(editor.diffs).toEqual([]);
  });
});
