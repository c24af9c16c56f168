import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replyTo } from '#client/demo/rules.ts';
import { toldIn } from '#client/demo/told.ts';
import { type DemoBlock, type DemoRequest, viewOf } from '#client/demo/view.ts';
import { fenced, plain, readText, valueOf } from '#client/demo/words.ts';

const text = (words: string): DemoBlock => ({ type: 'text', text: words });
const reminder = (...bodies: string[]): DemoBlock => text(`<system-reminder>\n${bodies.join('\n\n')}\n</system-reminder>`);
const user = (...content: DemoBlock[]) => ({ role: 'user', content });
const model = (...content: DemoBlock[]) => ({ role: 'assistant', content });
const call = (id: string, name: string, input: unknown): DemoBlock => ({ type: 'tool_use', id, name, input });
const result = (id: string, words: string, more: Partial<DemoBlock> = {}): DemoBlock => ({ type: 'tool_result', tool_use_id: id, content: [text(words)], ...more });
const request = (...messages: DemoRequest['messages']): DemoRequest => ({ messages, tools: ['Read', 'Glob', 'Grep', 'Bash', 'Write', 'Edit', 'TodoWrite'].map((name) => ({ name })) });

const FILE = 'File "a.conf": 2 lines, 12 bytes\n<document-a-conf-text-plain>\nport = 1\n\nx\n</document-a-conf-text-plain>';

describe('a reminder taken apart', () => {
  it('knows documents with blank lines in them, parts, listings, outputs and notes', () => {
    const told = toldIn([
      'Environment:\nDirectory: /w\nPlatform: linux', 'Today is Monday, 2026-11-30.', 'Pinned by the user; each change is told here:', 'Memory "fri":\nShip\n\non Friday', FILE,
      'File "b.ts": lines 3-4 of 9 lines, 80 bytes\n<document-b-ts-text-plain>\nc\nd\n</document-b-ts-text-plain>',
      'File "c.ts": lines 1-2 of 9 lines, 80 bytes\n<document-c-ts-text-plain>\na\nb\n</document-c-ts-text-plain>\n[shown: lines 1-2 of 9 (3 of 80 bytes); read on with Read from line 3]',
      'Directory "docs/" (2):\na.md\nb.md', 'Output of "git status":\nclean\n\nreally', 'Plan mode is on. Reading is allowed.',
    ].join('\n\n'));
    expect(told.flatMap((one) => (one.kind === 'shown' ? [[one.document.kind, one.document.name, one.document.first, one.document.body]] : [[one.kind]]))).toEqual([
      ['note'], ['note'], ['note'],
      ['note', 'memory: fri', 1, 'Ship\n\non Friday'],
      ['file', 'a.conf', 1, 'port = 1\n\nx'],
      ['part', 'b.ts#3-4', 3, 'c\nd'],
      ['part', 'c.ts', 1, 'a\nb'],
      ['listing', 'docs/', 1, 'a.md\nb.md'],
      ['output', '!git status', 1, 'clean\n\nreally'],
      ['note'],
    ]);
  });

  it('knows changes, deletions and what is pinned no more', () => {
    const told = toldIn('a.ts changed on disk (+1 -1):\n@@ -1,2 +1,2 @@\n-a\n+b\n \n\nb.ts changed on disk.\n\nc.ts is no longer there.\n\nPinned d.ts changed:\n@@ -1 +1 @@\n-1\n+2\n\nNo longer pinned: e.ts\n\nPinned: f.ts (no such file)');
    expect(told.map((one) => [one.kind, 'label' in one ? one.label : undefined, 'patch' in one ? one.patch : undefined])).toEqual([
      ['changed', 'a.ts', '@@ -1,2 +1,2 @@\n-a\n+b\n '], ['changed', 'b.ts', undefined], ['gone', 'c.ts', undefined],
      ['changed', 'd.ts', '@@ -1 +1 @@\n-1\n+2'], ['unpinned', 'e.ts', undefined], ['gone', 'f.ts', undefined],
    ]);
  });

  it('takes no todo out of a document that looks like a list', () => {
    const view = viewOf(request(user(reminder('File "TODO.md": 1 line, 9 bytes\n<document-todo-md>\n\nTodo list, shared by the user and you:\n9. [ ] not mine\n</document-todo-md>', 'Todo list, shared by the user and you:\n1. [~] mine (user\'s) (was under way before the summary; unconfirmed)'), text('hi'))));
    expect(view.inView.todos).toEqual([{ id: 1, content: 'mine', status: 'in_progress', by: 'user' }]);
  });
});

describe('a conversation taken apart', () => {
  it('tells open words, calls and results, and leaves the reminder in a result out of it', () => {
    const view = viewOf(request(
      user(text('count')), model(text('1')),
      user(reminder(FILE), text('read a.conf')), model(text('I look.'), call('c1', 'Read', { file_path: 'a.conf' })),
      user({ type: 'tool_result', tool_use_id: 'c1', content: [text('     1\tport = 1'), reminder('a.conf changed on disk.')] }, text('and b')),
    ));
    expect(view.open).toEqual([{ text: 'read a.conf', loose: false }, { text: 'and b', loose: false }]);
    expect(view.calls).toEqual([{ tool: 'Read', input: { file_path: 'a.conf' }, text: '     1\tport = 1', failed: false }]);
    expect(view.before).toEqual([{ ask: 'count', calls: [], answer: '1' }]);
    expect(view.inView.documents.get('a.conf')).toMatchObject({ stale: true, mentioned: false });
    expect(view.fresh.map(({ kind }) => kind)).toEqual(['changed']);
  });

  it('is not asked by stubs, summaries or commands that the user ran', () => {
    const view = viewOf(request(user(
      text('The conversation before this point was replaced by this summary, to save room:\n\nmuch'), text('I ran this command myself:\n$ ls\na\nb\n(exit code 0)'),
      text('[x.png: left out of the conversation]'), text('(taken out of the conversation by the user)'), text('[really?]'),
    )));
    expect(view.open).toEqual([{ text: '[really?]', loose: false }]);
    expect(view.summary).toBe('much');
    expect(view.inView.documents.get('!ls')?.body).toBe('a\nb\n(exit code 0)');
  });

  it('takes contents as plain strings, as other clients send them', () => {
    expect(replyTo(viewOf(request({ role: 'user', content: 'Count to 2' })))).toEqual({ say: '1. line 1\n2. line 2' });
  });
});

describe('whatever stands in the request', () => {
  it('says something when another model\'s calls are in the middle of the turn', () => {
    const messages = [user(text('refactor everything')), model(call('c1', 'LSP', { q: 1 })), user(result('c1', 'found it'))];
    expect(replyTo(viewOf(request(...messages))).say).toMatch(/^LSP gave this:\n\nfound it\n\nI am the demo model/);
    expect(replyTo(viewOf({ messages: [] })).say).toMatch(/\S/);
  });

  it('leaves alone what the user did not approve, or did not answer', () => {
    for (const [ask, tool, said] of [['Plan: read, check', 'ExitPlanMode', 'The user does not approve the plan.\nPlan mode stays on.'], ['Ask me: red or blue?', 'AskUserQuestion', 'The user does not want to answer.']] as const) {
      const messages = [user(text(ask)), model(call('c1', tool, {})), user(result('c1', said, { is_error: true }), text('Count to 2'))];
      expect(replyTo(viewOf({ messages, tools: [{ name: tool }] }))).toEqual({ say: '1. line 1\n2. line 2' });
    }
  });

  it('does not make a call again that failed as it is, nor calls without end', () => {
    const failing = (times: number): DemoRequest => request(user(text('read a.ts, b.ts and c.ts')), ...Array.from({ length: times }, (_, i) => [
      model(call(`c${i}`, 'Read', { file_path: 'a.ts' })), user(result(`c${i}`, 'no such file', { is_error: true })),
    ]).flat());
    expect(replyTo(viewOf(failing(3))).call).toBeUndefined();
    expect(replyTo(viewOf(failing(40))).say).toMatch(/^I stop here/);
  });

  it('ends after a bounded number of results for any words', () => {
    const words = fc.array(fc.constantFrom('read', 'run', 'replace', 'rename', 'a.ts', '"x"', 'by', 'in', 'with', 'to', 'the', 'todos:', 'add', 'write', 'list', 'find', 'what', 'is', 'pinned', '@a.ts', 'mark', '1', 'done', 'search', 'for', '`ls`', '?', '\n'), { maxLength: 10 });
    fc.assert(fc.property(words, fc.constantFrom('', 'No files found.', '     1\tx', '1. [ ] x', 'a.ts does not exist.', 'a.ts exists and you have not read it.'), fc.boolean(), (parts, given, failed) => {
      const messages: DemoRequest['messages'][number][] = [user(text(parts.join(' ') || '?'))];
      for (let step = 0; step < 12; step += 1) {
        const { say, call: made } = replyTo(viewOf(request(...messages)));
        if (made === undefined) {
          expect(say?.trim()).not.toBe('');
          return;
        }
        messages.push(model(call(`c${step}`, made.tool, made.input)), user(result(`c${step}`, given, { is_error: failed })));
      }
      throw new Error('it does not end');
    }), { numRuns: 400 });
  });
});

describe('long requests', () => {
  it('are written to files, or not understood, in no time', () => {
    const long = 'change what is to what to in a.ts to '.repeat(5_000);
    expect(replyTo(viewOf(request(user(text(`write a.txt with ${long}`))))).call).toMatchObject({ tool: 'Write', input: { file_path: 'a.txt' } });
    for (const start of ['replace ', 'read ', 'find ', 'what is ', '@a.ts ', 'save "', 'write a.txt ', '']) {
      expect(replyTo(viewOf(request(user(text(`${start}${long}`))))).say).toMatch(/did not understand/);
    }
  });
});

describe('small things', () => {
  it('takes courtesies off', () => {
    expect(['Please read a.ts', 'hey, can you please read a.ts', 'Could you read a.ts, please?', 'tell me what changed', 'write a.txt with please'].map(plain))
      .toEqual(['read a.ts', 'read a.ts', 'read a.ts?', 'what changed', 'write a.txt with please']);
  });

  it('takes line numbers and closing notes off what Read gave', () => {
    expect(readText('     1\ta\n     2\t[lines 1 to 9 of 9; read on]\n     3\t')).toEqual({ body: 'a\n[lines 1 to 9 of 9; read on]\n', lines: 3, whole: true });
    expect(readText('     1\ta\n[lines 1 to 1 of 40; read on with offset=2]\n[1 line cut at 2000 characters]')).toEqual({ body: 'a', lines: 40, whole: false });
    expect(readText('     1\ta…\n[1 line cut at 2000 characters]')).toMatchObject({ whole: false });
    expect(readText('(the file is empty)')).toEqual({ body: '', lines: 0, whole: true });
  });

  it('finds values by key in JSON, YAML, TOML and code', () => {
    expect(valueOf('{"Name": "x", "list": [1, 2]}', 'name')).toBe('x');
    expect(valueOf('{"Name": "x", "list": [1, 2]}', 'list')).toBe('[1,2]');
    expect(valueOf('a: 1\nname: "b c"\n', 'name')).toBe('b c');
    expect(valueOf('name = \'x\'\n', 'name')).toBe('x');
    expect(valueOf('export const name = \'x\';\n', 'name')).toBe('x');
    expect(valueOf('if (name == 1) {}\n', 'name')).toBeUndefined();
  });

  it('fences text that holds fences', () => {
    expect(fenced(['```', 'x', '```'], 'md')).toBe('````md\n```\nx\n```\n````');
  });
});
