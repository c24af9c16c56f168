import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import source from '#attachments/sources/recent-files.ts';
import { knownNow } from '#attachments/known.ts';
import { createDocuments } from '#documents/load.ts';
import { sha256 } from '#lib/hash.ts';
import { type BlobHash, NO_USAGE } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import type { SourceId } from '#domain/reminder.ts';
import type { CallId, FileTouch } from '#domain/tool.ts';
import type { World } from '#domain/world.ts';
import { answer, memoryBlobs, memorySession, prompt } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';
import { ask, textOf } from './world.ts';

const compaction = { type: 'compaction', summary: 's', trigger: 'auto', usage: NO_USAGE, model: 'm', tokensBefore: 1 } as const;

function bench(files: Readonly<Record<string, string | Uint8Array>>) {
  const root = tempFolder(files);
  const session = memorySession([prompt('begin')]);
  const blobs = memoryBlobs();
  const documents = createDocuments({ blobs, capabilities: () => ({ images: true, pdf: true }) });
  const touch = (name: string, how: FileTouch['how']): FileTouch => ({ path: join(root, name), hash: sha256(String(files[name])) as BlobHash, how, kept: false });
  return {
    root, session,
    touched(name: string, how: FileTouch['how'] = 'read', tool = 'Read') {
      session.append({ type: 'toolResult', callId: 'c' as CallId, tool, result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: [touch(name, how)] } });
    },
    compact() { session.append(compaction); },
    say: (more: Partial<World> = {}, at = session) => ask(source, at, { blobs, files: { load: (path, limitBytes, signal) => documents.load(path, path.slice(root.length + 1), { limitBytes }, signal) }, ...more }),
  };
}

const shown = (text: string | undefined): readonly string[] => [...(text ?? '').matchAll(/^File "([^"]+)"/gm)].map(([, name = '']) => name);

describe('after a compaction', () => {
  it('the files that were touched last are given as they are now, and count as read', async () => {
    const at = bench(Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`f${i}.ts`, `text ${i}\n`])));
    for (let i = 0; i < 8; i += 1) at.touched(`f${i}.ts`, i % 2 === 0 ? 'read' : 'write');
    at.touched('f1.ts');
    expect(await at.say()).toBeUndefined();
    at.compact();
    writeFileSync(join(at.root, 'f7.ts'), 'changed since\n');
    const said = await at.say();
    expect(shown(textOf(said))).toEqual(['f1.ts', 'f7.ts', 'f6.ts', 'f5.ts', 'f4.ts']);
    expect(textOf(said)).toContain('changed since');
    expect(said?.files?.map(({ how }) => how)).toEqual(Array.from({ length: 5 }, () => 'read'));
    expect(knownNow(at.session.log).get(join(at.root, 'f7.ts'))?.hash).toBe(sha256('changed since\n'));
    expect(await at.say()).toBeUndefined();
    expect(await at.say({}, memorySession(JSON.parse(JSON.stringify(at.session.log)) as Entry[]))).toBeUndefined();
  });
  it('they are given in the first moments only', async () => {
    const at = bench({ 'a.ts': 'a' });
    at.touched('a.ts');
    at.compact();
    at.session.append(answer('x'));
    expect(await at.say({ moment: 'step' })).toBeUndefined();
  });
  it('what is large is named, what is gone, binary or a picture is passed over', async () => {
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    const at = bench({ 'a.ts': 'a', 'big.ts': 'line of code\n'.repeat(5000), 'gone.ts': 'x', 'p.png': png, 'b.bin': Buffer.from([0, 1, 2]), 'empty.ts': '' });
    for (const name of ['a.ts', 'big.ts', 'gone.ts', 'p.png', 'b.bin', 'empty.ts']) at.touched(name);
    at.compact();
    rmSync(join(at.root, 'gone.ts'));
    const said = await at.say();
    expect(shown(textOf(said))).toEqual(['a.ts']);
    expect(textOf(said)).toContain(`Too large to be given again: ${at.root}/big.ts`);
    expect(said?.files).toHaveLength(1);
  });
  it('what has another voice has it: pins, mentions, instructions, skills, the plan', async () => {
    const names = ['pinned.ts', 'mentioned.ts', 'AGENTS.md', 'docs/RULES.md', 'skill.md', 'plan.md', 'nested.md'];
    const at = bench(Object.fromEntries([...names, 'a.ts'].map((name) => [name, name])));
    for (const name of [...names, 'a.ts']) at.touched(name, 'read', name === 'skill.md' ? 'Skill' : 'Read');
    const memory = (from: string, name: string): void => { at.session.append({ type: 'reminder', moment: 'prompt', source: from as SourceId, form: 'full', parts: [], snapshot: [{ path: join(at.root, name) }] }); };
    memory('memory', 'docs/RULES.md');
    memory('nested_memory', 'nested.md');
    at.session.append({ type: 'plan', file: join(at.root, 'plan.md'), text: 'p', state: 'approved' });
    at.session.append({ type: 'attach', by: 'user', attachment: { kind: 'file', id: 'file:p', form: 'live', whole: false, target: { type: 'file', path: join(at.root, 'pinned.ts') } } });
    at.compact();
    at.session.append(prompt('@mentioned.ts'));
    const mentions = { load: () => Promise.resolve({ parts: [], files: [], notes: [] }), named: () => Promise.resolve(new Set([join(at.root, 'mentioned.ts')])), agents: () => [] };
    expect(shown(textOf(await at.say({ mentions })))).toEqual(['a.ts']);
  });
  it('what was given again before, and not touched since, comes last', async () => {
    const at = bench({ 'old.ts': 'old', 'new.ts': 'new' });
    at.touched('old.ts');
    at.compact();
    await at.say();
    at.session.append(answer('x'));
    at.touched('new.ts');
    at.compact();
    expect(shown(textOf(await at.say()))).toEqual(['new.ts', 'old.ts']);
  });
  it('a file that is notified only was not read', async () => {
    const at = bench({ 'a.ts': 'a' });
    at.touched('a.ts', 'heard');
    at.compact();
    expect(await at.say()).toBeUndefined();
  });
});
