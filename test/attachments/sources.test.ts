import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import atMentionedFiles from '#attachments/sources/at-mentioned-files.ts';
import changedFiles from '#attachments/sources/changed-files.ts';
import dateChange from '#attachments/sources/date-change.ts';
import environment from '#attachments/sources/environment.ts';
import planMode from '#attachments/sources/plan-mode.ts';
import queuedCommands from '#attachments/sources/queued-commands.ts';
import todoReminders from '#attachments/sources/todo-reminders.ts';
import todos from '#attachments/sources/todos.ts';
import { sha256 } from '#lib/hash.ts';
import { TODO_LIST_ID, type TodoItem } from '#domain/attachment.ts';
import { NO_USAGE, type BlobHash } from '#domain/content.ts';
import type { EntryId } from '#domain/entry.ts';
import type { ReminderBody, SourceId } from '#domain/reminder.ts';
import type { Session } from '#domain/session.ts';
import type { CallId, FileTouch } from '#domain/tool.ts';
import type { FileChange, Loaded, MentionPort, PinView, World } from '#domain/world.ts';
import { createWatch } from '#watch/watch.ts';
import { answer, memoryBlobs, memorySession, prompt } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';
import { ask, textOf } from './world.ts';

const item = (id: number, text: string, state: TodoItem['state'] = 'open', by: TodoItem['by'] = 'user'): TodoItem => ({ id, text, state, by });
const setTodos = (session: Session, items: readonly TodoItem[], by: 'user' | 'model' = 'user'): void => { session.append({ type: 'attach', attachment: { kind: 'todo', id: TODO_LIST_ID, items }, by }); };
const compact = (session: Session): void => { session.append({ type: 'compaction', summary: 's', trigger: 'manual', usage: NO_USAGE, model: 'm', tokensBefore: 1 }); };
const touched = (session: Session, ...files: readonly FileTouch[]): void => {
  session.append({ type: 'toolResult', callId: 'c' as CallId, tool: 'Read', result: { kind: 'ok', content: [], card: { title: '', body: [] }, files } });
};
const touch = (path: string, how: FileTouch['how'] = 'read', text = path): FileTouch => ({ path, hash: sha256(text) as BlobHash, how, kept: false });

describe('the date', () => {
  it('is said at first and after midnight, by the local clock', async () => {
    const session = memorySession();
    const say = async (now: Date): Promise<string | undefined> => textOf(await ask(dateChange, session, { now }));
    expect(await say(new Date(2026, 10, 30, 23, 59))).toBe('Today is Monday, 2026-11-30.');
    expect(await say(new Date(2026, 10, 30, 23, 59, 59))).toBeUndefined();
    expect(await say(new Date(2026, 11, 1, 0, 0))).toBe('The date has changed: today is Tuesday, 2026-12-01.');
  });
});

describe('the environment', () => {
  it('is said at first, then the lines that changed', async () => {
    const session = memorySession();
    const facts = { directory: '/w\nx', extraDirectories: ['/v'], repository: true, branch: 'main', platform: 'linux', shell: 'bash' };
    const say = async (more: object): Promise<string | undefined> => textOf(await ask(environment, session, { environment: () => ({ ...facts, ...more }) }));
    expect(await say({})).toBe('Environment:\nDirectory: /w\\u{A}x\nFurther directories: /v\nPlatform: linux\nShell: bash\nGit repository: yes\nBranch: main');
    expect(await say({})).toBeUndefined();
    expect(await say({ branch: 'fix' })).toBe('Environment, changed:\nBranch: fix');
    expect(await say({ branch: undefined, repository: false })).toBe('Environment, changed:\nGit repository: no\nBranch: none any more');
  });
});

describe('plan mode', () => {
  it('is said whole, every five steps in brief, every fifth time whole, and once when it is over', async () => {
    const session = memorySession();
    const forms: (string | undefined)[] = [];
    for (let step = 0; step <= 30; step += 1) {
      forms.push((await ask(planMode, session, { mode: 'plan', moment: 'step' }))?.form);
      session.append(answer('x'));
    }
    const said = forms.flatMap((form, step) => (form === undefined ? [] : [`${step} ${form}`]));
    expect(said).toEqual(['0 full', '5 brief', '10 brief', '15 brief', '20 brief', '25 full', '30 brief']);
    expect((await ask(planMode, session, { mode: 'acceptEdits' }))?.form).toBe('gone');
    expect(await ask(planMode, session, { mode: 'acceptEdits' })).toBeUndefined();
    expect((await ask(planMode, session, { mode: 'plan' }))?.form).toBe('full');
  });
  it('is whole again after a compaction', async () => {
    const session = memorySession();
    await ask(planMode, session, { mode: 'plan' });
    compact(session);
    expect((await ask(planMode, session, { mode: 'plan' }))?.form).toBe('full');
  });
});

describe('queued words', () => {
  it('are delivered once, as the user\'s own, oldest first', async () => {
    const session = memorySession();
    session.append({ type: 'queued', text: 'one' });
    session.append({ type: 'queued', text: 'two' });
    const first = await ask(queuedCommands, session, { moment: 'step' });
    expect(first).toMatchObject({ userTexts: ['one', 'two'], parts: [], snapshot: session.log[1]?.id });
    expect(await ask(queuedCommands, session)).toBeUndefined();
    session.append({ type: 'queued', text: 'three' });
    compact(session);
    expect((await ask(queuedCommands, session))?.userTexts).toEqual(['three']);
    expect(await ask(queuedCommands, session)).toBeUndefined();
  });
  it('that were taken back are not', async () => {
    const session = memorySession();
    const { id } = session.append({ type: 'queued', text: 'one' });
    session.append({ type: 'unqueued', target: id });
    expect(await ask(queuedCommands, session)).toBeUndefined();
  });
  it('keep what they say of tags: they are the user\'s', async () => {
    const session = memorySession();
    session.append({ type: 'queued', text: 'why <system-reminder>?' });
    expect((await ask(queuedCommands, session))?.userTexts).toEqual(['why <system-reminder>?']);
  });
});

describe('todos', () => {
  it('are said whole, then as the user changes them', async () => {
    const session = memorySession();
    const say = async (): Promise<string | undefined> => textOf(await ask(todos, session));
    expect(await say()).toBeUndefined();
    setTodos(session, [item(1, 'one'), item(2, 'two\nlines', 'active', 'model')]);
    expect(await say()).toBe('Todo list, shared by the user and you:\n1. [ ] one (user\'s)\n2. [~] two lines');
    expect(await say()).toBeUndefined();
    setTodos(session, [item(3, 'three'), item(2, 'two\nlines', 'done', 'model')]);
    expect(await say()).toBe('Todo list, changed by the user:\nadded: 3. [ ] three (user\'s)\nnow: 2. [x] two lines\nremoved: 1. [ ] one (user\'s)');
    setTodos(session, [item(2, 'two\nlines', 'done', 'model'), item(3, 'three')]);
    expect(await say()).toBe('Todo list, changed by the user:\norder: 2, 3');
    setTodos(session, []);
    expect(await say()).toBe('The todo list is empty now.');
    expect(await say()).toBeUndefined();
  });
  it('that the model wrote itself are not said to it', async () => {
    const session = memorySession();
    const say = async (): Promise<string | undefined> => textOf(await ask(todos, session));
    setTodos(session, [item(1, 'one', 'open', 'model')], 'model');
    expect(await say()).toBe('');
    expect(await say()).toBeUndefined();
    setTodos(session, [item(1, 'one', 'open', 'model'), item(2, 'mine')]);
    expect(await say()).toBe('Todo list, changed by the user:\nadded: 2. [ ] mine (user\'s)');
    setTodos(session, [item(1, 'one', 'done', 'model'), item(2, 'mine')], 'model');
    expect(await say()).toBeUndefined();
    setTodos(session, [item(1, 'one', 'done', 'model'), item(2, 'mine', 'done')]);
    expect(await say()).toBe('Todo list, changed by the user:\nnow: 2. [x] mine (user\'s)');
  });
  it('that the model wrote are told to be gone when the user clears them, and not when it did so itself', async () => {
    for (const [by, said] of [['user', 'The todo list is empty now.'], ['model', undefined]] as const) {
      const session = memorySession();
      setTodos(session, [item(1, 'one', 'open', 'model')], 'model');
      await ask(todos, session);
      setTodos(session, [], by);
      expect(textOf(await ask(todos, session))).toBe(said);
      setTodos(session, [item(2, 'mine')]);
      expect(textOf(await ask(todos, session))).toContain('2. [ ] mine');
    }
  });
  it('come back after a compaction, word for word; what was under way is unconfirmed once', async () => {
    const session = memorySession();
    const items = Array.from({ length: 43 }, (_, i) => item(i + 1, `task ${i + 1}`, i === 4 ? 'active' : 'open', 'model'));
    setTodos(session, items, 'model');
    for (let round = 0; round < 3; round += 1) {
      session.append(answer('x'));
      compact(session);
      const said = textOf(await ask(todos, session));
      expect(said?.split('\n')).toHaveLength(44);
      expect(said).toContain('5. [~] task 5 (was under way before the summary; unconfirmed)');
    }
    session.append(answer('x'));
    expect(await ask(todos, session)).toBeUndefined();
  });
  it('that stay when the conversation is rewound are said to a model that no longer knows them', async () => {
    const session = memorySession([prompt('a'), answer('b')]);
    const to = session.log[1]?.id;
    setTodos(session, [item(1, 'one', 'open', 'model')], 'model');
    if (to !== undefined) session.append({ type: 'rewind', to });
    expect(textOf(await ask(todos, session))).toContain('one');
  });
});

describe('the nudge to the todo list', () => {
  const tools = { has: (name: string): boolean => name === 'TodoWrite', deferred: () => [] };
  it('comes after ten steps without a write, and ten steps after the last one', async () => {
    const session = memorySession();
    setTodos(session, [item(1, 'one'), item(2, 'two', 'done')]);
    const said: number[] = [];
    for (let step = 0; step <= 25; step += 1) {
      const reminder = await ask(todoReminders, session, { moment: 'step', tools });
      if (reminder !== undefined) said.push(step);
      session.append(answer('x'));
    }
    expect(said).toEqual([10, 20]);
  });
  it('says what is left, and does not come without the tool or without anything to do', async () => {
    const session = memorySession();
    setTodos(session, [item(1, 'one'), item(2, 'two', 'done')]);
    for (let step = 0; step < 10; step += 1) session.append(answer('x'));
    expect(await ask(todoReminders, session, { tools: { has: () => false, deferred: () => [] } })).toBeUndefined();
    const text = textOf(await ask(todoReminders, session, { tools }));
    expect(text).toContain('1. [ ] one');
    expect(text).not.toContain('two');
    const done = memorySession();
    setTodos(done, [item(1, 'one', 'done')]);
    for (let step = 0; step < 20; step += 1) done.append(answer('x'));
    expect(await ask(todoReminders, done, { tools })).toBeUndefined();
  });
});

describe('mentions', () => {
  const asked: { text: string; pinned: readonly string[] }[] = [];
  const port = (loaded: Loaded): MentionPort => ({ load: (text, _, pinned) => { asked.push({ text, pinned: [...pinned ?? []] }); return Promise.resolve(loaded); }, named: () => Promise.resolve(new Set()), agents: () => [] });
  const part = { type: 'text', text: 'File "a.ts": 1 line\n[shown: lines 1-2]' } as const;

  it('give parts, files and notes; what the part says already is not said twice', async () => {
    asked.length = 0;
    const session = memorySession([prompt('see @a.ts')]);
    const loaded = { parts: [part], files: [touch('/w/a.ts', 'mention')], notes: ['a.ts: shown: lines 1-2', 'b.ts: no such file'] };
    const reminder = await ask(atMentionedFiles, session, { mentions: port(loaded) });
    expect(reminder).toMatchObject({ parts: [part, { type: 'text', text: 'b.ts: no such file' }], files: loaded.files, form: 'full' });
    expect(asked).toEqual([{ text: 'see @a.ts', pinned: [] }]);
  });
  it('tell the user what was left out', async () => {
    const session = memorySession([prompt('see @a.ts')]);
    const { world } = await import('./world.ts');
    const spoken = await atMentionedFiles.speak(world(session, { mentions: port({ parts: [], files: [], notes: ['a.ts: no such file'] }) }), { kind: 'never' }, new AbortController().signal);
    expect(spoken?.notes).toEqual(['a.ts: no such file']);
  });
  it('are not looked for in a prompt without any, nor at a step', async () => {
    asked.length = 0;
    await ask(atMentionedFiles, memorySession([prompt('hello')]), { mentions: port({ parts: [], files: [], notes: [] }) });
    await ask(atMentionedFiles, memorySession([prompt('@a.ts')]), { mentions: port({ parts: [], files: [], notes: [] }), prompt: undefined, moment: 'step' });
    expect(asked).toEqual([]);
  });
  it('of a prompt that was interrupted before anything was collected for it are loaded with the next one', async () => {
    asked.length = 0;
    const session = memorySession([prompt('see @a.ts')]);
    session.append(prompt('and @b.ts'));
    await ask(atMentionedFiles, session, { mentions: port({ parts: [], files: [], notes: ['x'] }) });
    session.append(prompt('and @c.ts'));
    await ask(atMentionedFiles, session, { mentions: port({ parts: [], files: [], notes: ['x'] }) });
    expect(asked.map(({ text }) => text)).toEqual(['see @a.ts\nand @b.ts', 'and @c.ts']);
  });
  it('in queued words are loaded when those are delivered', async () => {
    asked.length = 0;
    const session = memorySession([prompt('go')]);
    session.append({ type: 'queued', text: 'and @b.ts' });
    await ask(atMentionedFiles, session, { mentions: port({ parts: [], files: [], notes: [] }), prompt: undefined, moment: 'step' });
    expect(asked[0]?.text).toBe('and @b.ts');
  });
  it('of pinned files are not given again', async () => {
    asked.length = 0;
    const session = memorySession();
    const pin = (path: string, more: object = {}): void => { session.append({ type: 'attach', by: 'user', attachment: { kind: 'file', id: `file:${path}`, form: 'live', whole: false, target: { type: 'file', path }, ...more } }); };
    pin('/w/a.ts');
    pin('/w/b.ts', { form: 'path' });
    pin('/w/c.ts', { target: { type: 'file', path: '/w/c.ts', lines: { from: 1, to: 2 } } });
    pin('/w/cut.ts');
    session.append(prompt('@a.ts @b.ts @c.ts @cut.ts'));
    const view = (path: string, how: FileTouch['how']): PinView => ({ id: `file:${path}`, label: path, text: '', media: [], hash: '' as BlobHash, files: [touch(path, how)] });
    const views = [view('/w/a.ts', 'mention'), view('/w/c.ts', 'partial'), view('/w/cut.ts', 'partial')];
    await ask(atMentionedFiles, session, { mentions: port({ parts: [], files: [], notes: [] }), pins: { views: () => Promise.resolve(views) } });
    expect(asked[0]?.pinned).toEqual(['/w/a.ts']);
  });
});

describe('changed files', () => {
  const looks = (...changes: readonly Partial<FileChange>[]): { changes: World['changes']; asked: string[][] } => {
    const asked: string[][] = [];
    const all = changes.map((change): FileChange => ({ path: `/w/${change.label ?? 'a'}`, label: 'a', kind: 'changed', hash: 'h' as BlobHash, kept: true, ...change }));
    return { asked, changes: { look: (known) => { asked.push([...known.keys()]); return Promise.resolve({ changes: all.filter(({ path }) => known.has(path)), skipped: 0, settling: false }); } } };
  };
  it('are told once each, against real files', async () => {
    const root = tempFolder({ 'a.ts': 'one\n'.repeat(20), 'b.ts': 'two\n' });
    const blobs = memoryBlobs();
    const changes = createWatch({ blobs, label: (path) => path.slice(root.length + 1) });
    onTestFinished(() => { changes.close(); });
    const session = memorySession();
    for (const name of ['a.ts', 'b.ts']) {
      const bytes = readFileSync(join(root, name));
      touched(session, { path: join(root, name), hash: sha256(bytes) as BlobHash, how: 'read', kept: blobs.put(bytes) !== undefined });
    }
    const say = async (): Promise<string | undefined> => textOf(await ask(changedFiles, session, { changes, blobs, moment: 'step' }));
    expect(await say()).toBeUndefined();
    writeFileSync(join(root, 'a.ts'), `${'one\n'.repeat(20)}more\n`);
    rmSync(join(root, 'b.ts'));
    expect(await say()).toBe('a.ts changed on disk (+1 -0):\n@@ -18,3 +18,4 @@\n one\n one\n one\n+more\nb.ts is no longer there.');
    for (let step = 0; step < 20; step += 1) {
      session.append(answer('x'));
      expect(await say()).toBeUndefined();
    }
    touched(session, { path: join(root, 'a.ts'), hash: sha256('ours') as BlobHash, how: 'write', kept: false });
    writeFileSync(join(root, 'a.ts'), 'ours');
    expect(await say()).toBeUndefined();
  });
  it('are neutral: no cause, no advice, nothing to hide', async () => {
    const session = memorySession();
    touched(session, touch('/w/a'), touch('/w/x\ny'));
    const text = textOf(await ask(changedFiles, session, { changes: looks({}, { label: 'x\ny', kind: 'unreadable' }).changes }));
    expect(text).toBe('a changed on disk.\nx\\u{A}y cannot be read any more.');
  });
  it('that a pin shows are left to the pin', async () => {
    const session = memorySession();
    touched(session, touch('/w/a'), touch('/w/c', 'read'));
    session.append({ type: 'reminder', moment: 'prompt', source: 'pins' as SourceId, form: 'full', parts: [], snapshot: null, files: [touch('/w/b', 'partial')] });
    const attach = (path: string, lines?: { from: number; to: number }): void => { session.append({ type: 'attach', by: 'user', attachment: { kind: 'file', id: `file:${path}`, form: 'live', whole: false, target: { type: 'file', path, ...(lines && { lines }) } } }); };
    attach('/w/a');
    attach('/w/b', { from: 1, to: 2 });
    attach('/w/c', { from: 1, to: 2 });
    const { changes, asked } = looks();
    await ask(changedFiles, session, { changes });
    expect(asked).toEqual([['/w/c']]);
    session.append({ type: 'detach', attachmentId: 'file:/w/a' });
    session.append({ type: 'detach', attachmentId: 'file:/w/b' });
    await ask(changedFiles, session, { changes });
    expect(asked[1]).toEqual(['/w/a', '/w/c', '/w/b']);
  });
  it('are told beside a pin of some lines only where more than those lines changed', async () => {
    const session = memorySession();
    touched(session, touch('/w/a'));
    session.append({ type: 'attach', by: 'user', attachment: { kind: 'file', id: 'file:/w/a', form: 'live', whole: false, target: { type: 'file', path: '/w/a', lines: { from: 4, to: 6 } } } });
    const told = (patch: string): Promise<string | undefined> => ask(changedFiles, session, { changes: looks({ patch, addedLines: 1, removedLines: 1 }).changes }).then(textOf);
    expect(await told('@@ -3,3 +3,3 @@\n x\n-old\n+new\n y')).toBeUndefined();
    expect(await told('@@ -3,3 +3,3 @@\n-old\n+new\n x\n y')).toContain('+new');
    expect(await told('@@ -6,2 +6,3 @@\n x\n+new\n y')).toContain('+new');
  });
  it('are told beside a pin that was cut where the change lies beyond the cut', async () => {
    const session = memorySession();
    touched(session, touch('/w/a'));
    session.append({ type: 'attach', by: 'user', attachment: { kind: 'file', id: 'file:a', form: 'live', whole: false, target: { type: 'file', path: '/w/a' } } });
    session.append({ type: 'reminder', moment: 'prompt', source: 'pins' as SourceId, form: 'full', parts: [], snapshot: [{ id: 'file:a', upTo: 20 }] });
    const told = (patch: string): Promise<string | undefined> => ask(changedFiles, session, { changes: looks({ patch, addedLines: 1, removedLines: 1 }).changes }).then(textOf);
    expect(await told('@@ -20,1 +20,1 @@\n-old\n+new')).toBeUndefined();
    expect(await told('@@ -21,1 +21,1 @@\n-old\n+new')).toContain('+new');
  });
  it('are left to a mention of the same moment', async () => {
    const session = memorySession();
    touched(session, touch('/w/a'), touch('/w/b'));
    session.append(prompt('see @b'));
    const { changes, asked } = looks();
    await ask(changedFiles, session, { changes, mentions: { load: () => Promise.resolve({ parts: [], files: [], notes: [] }), named: () => Promise.resolve(new Set(['/w/b'])), agents: () => [] } });
    expect(asked).toEqual([['/w/a']]);
  });
  it('by a command of the model are told apart from those by others', async () => {
    const session = memorySession();
    touched(session, touch('/w/a'), touch('/w/b'));
    session.append(answer('x'));
    session.append({ type: 'toolResult', callId: 'c' as CallId, tool: 'Bash', result: { kind: 'ok', content: [], card: { title: '', body: [] } } });
    const replied = Date.parse('2026-11-30T00:00:00.000Z');
    const { changes } = looks({ label: 'b', changedAtMs: replied + 50 }, { label: 'a', changedAtMs: replied - 5000 });
    const reminder = await ask(changedFiles, session, { changes, moment: 'step', prompt: undefined });
    expect(textOf(reminder)).toBe('a changed on disk.\nWhile your command ran:\nb changed on disk.');
    // Told by name only: to replace the file the model must read it first.
    expect(reminder?.files?.map(({ how }) => how)).toEqual(['heard', 'heard']);
  });
  it('that are instruction files are left to those', async () => {
    const session = memorySession();
    touched(session, touch('/w/AGENTS.md'));
    session.append({ type: 'reminder', moment: 'prompt', source: 'memory' as SourceId, form: 'full', parts: [], snapshot: [{ path: '/w/AGENTS.md' }] });
    const { changes, asked } = looks();
    await ask(changedFiles, session, { changes });
    expect(asked).toEqual([]);
  });
  it('of a checkout are one line', async () => {
    const session = memorySession();
    const labels = Array.from({ length: 5000 }, (_, i) => `f${i}`);
    touched(session, ...labels.map((label) => touch(`/w/${label}`)));
    const reminder = await ask(changedFiles, session, { changes: looks(...labels.map((label, i): Partial<FileChange> => ({ label, kind: i === 0 ? 'deleted' : 'changed' }))).changes });
    expect(textOf(reminder)).toBe('5000 files that you know changed on disk (4999 changed, 1 gone), among them f0, f1, f2, f3, f4.');
    expect(reminder?.files).toHaveLength(5000);
  });
  it('are counted sooner where most files are still to be looked at', async () => {
    const session = memorySession();
    const labels = Array.from({ length: 20 }, (_, i) => `f${i}`);
    touched(session, ...labels.map((label) => touch(`/w/${label}`)));
    const { changes } = looks(...labels.map((label) => ({ label })));
    const reminder = await ask(changedFiles, session, { changes: { look: async (known, signal) => ({ ...await changes.look(known, signal), skipped: 700 }) } });
    expect(textOf(reminder)).toBe('20 files that you know changed on disk (20 changed, 0 gone), among them f0, f1, f2, f3, f4.\n700 files that you know could not be looked at in time.');
  });
  it('beyond the room for diffs are told by name', async () => {
    const session = memorySession();
    const labels = ['a', 'b', 'c'];
    touched(session, ...labels.map((label) => touch(`/w/${label}`)));
    const text = textOf(await ask(changedFiles, session, { changes: looks(...labels.map((label) => ({ label, patch: 'p'.repeat(2500), addedLines: 1, removedLines: 2 }))).changes }));
    expect(text?.match(/p{2500}/g)).toHaveLength(2);
    expect(text?.endsWith('\nc changed on disk (+1 -2).')).toBe(true);
  });
  it('are not told while a checkout is under way, and one line says when there was no time', async () => {
    const session = memorySession();
    touched(session, touch('/w/a'));
    const say = async (look: Awaited<ReturnType<World['changes']['look']>>): Promise<string | undefined> => textOf(await ask(changedFiles, session, { changes: { look: () => Promise.resolve(look) } }));
    expect(await say({ changes: [], skipped: 0, settling: true })).toBeUndefined();
    expect(await say({ changes: [], skipped: 3, settling: false })).toBe('3 files that you know could not be looked at in time.');
    expect(await say({ changes: [], skipped: 2, settling: false })).toBeUndefined();
  });
  it('that change at every step are told three times in a turn, then at the next prompt', async () => {
    const session = memorySession([prompt('go')]);
    touched(session, touch('/w/a'));
    const { changes } = looks({});
    const say = async (moment: 'prompt' | 'step'): Promise<string | undefined> => textOf(await ask(changedFiles, session, { changes, moment }));
    expect(await say('step')).toBe('a changed on disk.');
    expect(await say('step')).toBe('a changed on disk.');
    expect(await say('step')).toContain('a changes again and again: told next at the user\'s next prompt.');
    expect(await say('step')).toBeUndefined();
    session.append(prompt('next'));
    expect(await say('prompt')).toBe('a changed on disk.');
  });
  it('are reckoned from what the model knows after a rewind', async () => {
    const session = memorySession([prompt('go')]);
    touched(session, touch('/w/a', 'read', 'A'));
    const to = session.log.at(-1)?.id as EntryId;
    touched(session, touch('/w/a', 'read', 'B'));
    session.append({ type: 'rewind', to });
    let hash = '';
    await ask(changedFiles, session, { changes: { look: (known) => { hash = known.get('/w/a')?.hash ?? ''; return Promise.resolve({ changes: [], skipped: 0, settling: false }); } } });
    expect(hash).toBe(sha256('A'));
  });
});

it('no reminder asks the model to keep anything from the user', async () => {
  const session = memorySession();
  const said: (ReminderBody | undefined)[] = [await ask(planMode, session, { mode: 'plan' }), await ask(environment, session), await ask(dateChange, session)];
  for (const reminder of said) expect(textOf(reminder)).not.toMatch(/(?:do not|don't|never) (?:tell|mention|reveal)/i);
});
