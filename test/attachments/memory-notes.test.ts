import { nothing } from '../support/nothing.ts';
import { linkSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryTexts } from '#attachments/memory-texts.ts';
import { createNotes, type Notes } from '#attachments/memory-notes.ts';
import { wordsIn } from '#attachments/memory-words.ts';
import source from '#attachments/sources/relevant-memories.ts';
import { knownNow } from '#attachments/known.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import type { World } from '#domain/world.ts';
import { answer, memoryBlobs, memorySession, prompt } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';
import { ask, pathsOf, textOf } from './world.ts';

const signal = new AbortController().signal;
const NOTES = {
  'deploy.md': '# Deploying\nThe staging server is restarted by `make stage`; production needs the release branch.',
  'database.md': '---\ndescription: migrations and their traps\n---\nPostgres migrations run with sqitch. Never edit a deployed one.',
  'style.md': '# Review habits\nThe user wants small commits and no emojis.',
  'tests.md': '# Flaky tests\nThe integration suite for payments is flaky on Mondays because of the sandbox reset.',
  'ui.md': '# Frontend\nComponents live in packages/web; storybook is started with pnpm storybook.',
};

interface Folder { readonly folder: string; readonly notes: Notes; recall(text: string, except?: readonly string[]): Promise<string[]> }

function kept(files: Readonly<Record<string, string | Uint8Array>>, others: readonly string[] = [], denied: readonly string[] = []): Folder {
  const folder = tempFolder(files);
  const notes = createNotes({ texts: createMemoryTexts(), paths: pathsOf(folder, denied), kept: () => ({ folder, others }) });
  const recall = async (text: string, except: readonly string[] = []): Promise<string[]> => (await notes.recall(text, new Set(except.map((name) => join(folder, name))), signal)).map(({ path }) => path.slice(folder.length + 1));
  return { folder, notes, recall };
}

describe('words', () => {
  it('are those that tell, in one spelling', () => {
    expect(wordsIn('The deploys and the Café\'s MIGRATIONS of fooBar_baz v1.2.3, 7 x')).toEqual(expect.arrayContaining(['deploy', 'cafe', 'migration', 'foo', 'bar', 'baz', 'v1.2.3']));
    expect(wordsIn('please could you have a look at the file')).toEqual([]);
    expect(wordsIn('数据库迁移')).toEqual(['数据', '据库', '库迁', '迁移']);
    expect(wordsIn('a'.repeat(100_000))).toEqual([]);
    expect(wordsIn('x.'.repeat(50_000)).length).toBeLessThan(10);
  });
});

describe('recall', () => {
  it('finds what a text is about, the likeliest first, and nothing where nothing fits', async () => {
    const { recall } = kept(NOTES);
    expect(await recall('How do I deploy to staging?')).toEqual(['deploy.md']);
    expect(await recall('add a migration for the postgres database')).toEqual(['database.md']);
    expect(await recall('why is the payments integration suite red?')).toEqual(['tests.md']);
    expect(await recall('storybook')).toEqual([]);
    expect(await recall('frontend')).toEqual(['ui.md']);
    expect(await recall('What is the capital of France?')).toEqual([]);
    expect(await recall('hello')).toEqual([]);
    expect(await recall('')).toEqual([]);
    expect(await recall('please have a look at the files and tell me what you think about the whole thing')).toEqual([]);
  });
  it('is not misled by one word of a long text', async () => {
    const { recall } = kept(NOTES);
    expect(await recall(`${Array.from({ length: 120 }, (_, i) => `topic${i}`).join(' ')} commits production`)).toEqual([]);
  });
  it('finds notes in scripts without blanks, and with accents', async () => {
    const { recall } = kept({ 'db.md': '# 数据库\n数据库迁移用 sqitch', 'other.md': '# 前端\n组件', 'kafe.md': '# Café-Regeln\nKaffee' });
    expect(await recall('怎么做数据库迁移')).toEqual(['db.md']);
    expect(await recall('cafe regeln')).toEqual(['kafe.md']);
  });
  it('gives five at most, none that is excepted', async () => {
    const { recall } = kept(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`deploy-${i}.md`, `# Deploy staging ${i}\nunique${i}`]).concat(Array.from({ length: 20 }, (_, i) => [`o${i}.md`, `# Other ${i}`]))));
    const first = await recall('deploy to staging');
    expect(first).toHaveLength(5);
    expect((await recall('deploy to staging', first)).filter((name) => first.includes(name))).toEqual([]);
  });
  it('follows the disk', async () => {
    const { folder, recall, notes } = kept(NOTES);
    await recall('deploy staging');
    writeFileSync(join(folder, 'deploy.md'), '# Gardening\ntulips and roses');
    writeFileSync(join(folder, 'new.md'), '# Kubernetes\ncluster rollout');
    rmSync(join(folder, 'database.md'));
    expect(await recall('tulips in gardening')).toEqual(['deploy.md']);
    expect(await recall('restart the staging server')).toEqual([]);
    expect(await recall('kubernetes cluster')).toEqual(['new.md']);
    expect(await recall('postgres migrations database')).toEqual([]);
    rmSync(folder, { recursive: true });
    expect(await recall('kubernetes cluster')).toEqual([]);
    expect(await notes.all()).toEqual([]);
  });
  it('takes Markdown files of the folder itself only: no links, hidden ones, folders, binaries, nor what a rule denies', async () => {
    const outside = tempFolder({ 'secret.md': '# Deploy staging\nkey' });
    const { folder, recall } = kept({ '.hidden.md': '# Deploy staging', 'x.txt': '# Deploy staging', 'sub/deep.md': '# Deploy staging', 'bin.md': Buffer.from([0, 1]), 'denied.md': '# Deploy staging', 'MEMORY.md': '# Deploy staging' }, [], ['Read(denied.md)']);
    symlinkSync(join(outside, 'secret.md'), join(folder, 'link.md'));
    mkdirSync(join(folder, 'folder.md'));
    expect(await recall('deploy staging')).toEqual([]);
  });
  it('cuts long notes and says the day of their last change', async () => {
    const { folder, notes } = kept({ 'deploy.md': `# Deploy staging\n${'line\n'.repeat(5000)}`, 'wide.md': `# Deploy staging wide\n${'x'.repeat(9000)}`, 'short.md': '# Deploy staging' });
    utimesSync(join(folder, 'short.md'), 1_780_000_000, 1_780_000_000);
    const found = await notes.recall('deploy to staging', new Set(), signal);
    for (const { text } of found) {
      expect(text.split('\n').length).toBeLessThanOrEqual(200);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
    }
    const short = found.find(({ path }) => path.endsWith('short.md'));
    expect(short).toMatchObject({ changedOn: '2026-05-28', notes: [], hash: expect.any(String) });
    expect(found.find(({ path }) => path.endsWith('deploy.md'))).toMatchObject({ notes: ['the first 200 of 5002 lines'] });
    expect(found.find(({ path }) => path.endsWith('deploy.md'))?.hash).toBeUndefined();
  });
  it('reads the notes of another program beside its own', async () => {
    const other = tempFolder({ 'deploy.md': '# Deploy staging', 'MEMORY.md': 'their index' });
    const { folder, notes } = kept({ 'ui.md': '# Frontend' }, [other]);
    expect((await notes.recall('deploy staging', new Set(), signal)).map(({ path }) => path)).toEqual([join(other, 'deploy.md')]);
    expect((await notes.index()).map(({ path }) => path)).toEqual([join(folder, 'MEMORY.md'), join(other, 'MEMORY.md')]);
  });
  it('of five hundred notes is there within the second', async () => {
    const { recall } = kept(Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`n${String(i).padStart(3, '0')}.md`, `# Note ${i}\n${Array.from({ length: 200 }, (_, j) => `word${(i * 31 + j * 7) % 3000}`).join(' ')}`])));
    await recall('word1 word2');
    expect((await recall('word31 word38 word45')).length).toBeLessThanOrEqual(5);
  });
  it('rejects when it is interrupted', async () => {
    const { notes } = kept(NOTES);
    await expect(notes.recall('deploy staging', new Set(), AbortSignal.abort())).rejects.toThrow();
  });
});

describe('the index', () => {
  it('names its folder where there is none yet, and makes none', async () => {
    const folder = join(tempFolder(), 'not', 'there');
    const notes = createNotes({ texts: createMemoryTexts(), paths: pathsOf(folder), kept: () => ({ folder, others: [] }) });
    expect(await notes.index()).toEqual([{ path: join(folder, 'MEMORY.md'), scope: 'notes', text: expect.stringMatching(/^What outlasts a session/), notes: [] }]);
    expect(await createNotes({ texts: createMemoryTexts(), paths: pathsOf(folder), kept: () => undefined }).index()).toEqual([]);
  });
  it('is cut at two hundred lines and 25 KiB', async () => {
    const long = kept({ 'MEMORY.md': 'line\n'.repeat(900) });
    expect((await long.notes.index())[0]).toMatchObject({ notes: ['the first 200 of 901 lines'] });
    const wide = kept({ 'MEMORY.md': 'x'.repeat(100_000) });
    expect((await wide.notes.index())[0]?.text.length).toBeLessThan(26_000);
  });
  it('is no link to elsewhere', async () => {
    const outside = tempFolder({ 'secret.md': 'SECRET' });
    const { folder, notes } = kept({});
    symlinkSync(join(outside, 'secret.md'), join(folder, 'MEMORY.md'));
    expect((await notes.index())[0]?.text).not.toContain('SECRET');
  });
});

describe('the source relevant_memories', () => {
  const compaction = { type: 'compaction', summary: 's', trigger: 'manual', usage: NO_USAGE, model: 'm', tokensBefore: 1 } as const;
  const recalling = (at: Folder): Partial<World> => ({ blobs: memoryBlobs(), memory: { ...nothing.memory, recall: (text, except, asked) => at.notes.recall(text, except, asked) } });

  it('tells each note once in a conversation, with its place and day, and from then on knows it as a file', async () => {
    const at = kept(NOTES);
    utimesSync(join(at.folder, 'deploy.md'), 1_780_000_000, 1_780_000_000);
    const session = memorySession([prompt('how do we deploy to staging?')]);
    const ports = recalling(at);
    const said = await ask(source, session, ports);
    expect(textOf(said)).toContain(`Note ${at.folder}/deploy.md, last changed 2026-05-28:\n# Deploying`);
    expect(said?.snapshot).toEqual([join(at.folder, 'deploy.md')]);
    expect(knownNow(session.log).get(join(at.folder, 'deploy.md'))).toMatchObject({ how: 'read', kept: true });
    session.append(answer('x'));
    session.append(prompt('and how do we deploy to staging again?'));
    expect(await ask(source, session, ports)).toBeUndefined();
    const resumed = memorySession(JSON.parse(JSON.stringify(session.log)) as Entry[]);
    expect(await ask(source, resumed, ports)).toBeUndefined();
    session.append(compaction);
    session.append(prompt('deploy to staging'));
    expect(textOf(await ask(source, session, ports))).toContain('deploy.md');
  });
  it('does not tell what the model has read or written itself', async () => {
    const at = kept(NOTES);
    const session = memorySession([prompt('deploy to staging')]);
    session.append({ type: 'toolResult', callId: 'c' as never, tool: 'Write', result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: [{ path: join(at.folder, 'deploy.md'), hash: 'h' as never, how: 'write', kept: false }] } });
    expect(await ask(source, session, recalling(at))).toBeUndefined();
  });
  it('says nothing without a prompt, and nothing of an interrupted look', async () => {
    const at = kept(NOTES);
    expect(await ask(source, memorySession(), { ...recalling(at), prompt: undefined })).toBeUndefined();
    expect(await ask(source, memorySession([prompt('  ')]), recalling(at))).toBeUndefined();
  });
  it('never tells one twice, whatever is asked', async () => {
    const at = kept(NOTES);
    const session = memorySession();
    const ports = recalling(at);
    const told: string[] = [];
    for (const text of ['deploy staging', 'deploy postgres migrations', 'flaky payments integration suite', 'deploy staging production release', 'frontend storybook components', 'review commits emojis', 'everything: deploy, database migrations, tests, frontend']) {
      session.append(prompt(text));
      const said = await ask(source, session, ports);
      if (Array.isArray(said?.snapshot)) told.push(...said.snapshot.map(String));
      session.append(answer('ok'));
    }
    expect(new Set(told).size).toBe(told.length);
    expect(told.length).toBeGreaterThan(3);
  });
  it('a hard link is a note like another; only writing through it is not taken for granted', async () => {
    const outside = tempFolder({ 'o.md': '# Deploy staging' });
    const at = kept({});
    linkSync(join(outside, 'o.md'), join(at.folder, 'l.md'));
    expect(await at.recall('deploy staging')).toEqual(['l.md']);
  });
});
