import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Attachment } from '#domain/attachment.ts';
import type { BlobHash } from '#domain/content.ts';
import type { Effect } from '#domain/command.ts';
import { attachmentsOf } from '#domain/folds.ts';
import { createBlobs, sweepBlobs } from '#session/blobs.ts';
import { interpret, type Surface } from '#session/effects.ts';
import { LogSession } from '#session/session.ts';
import { tempFolder } from '../support/temp.ts';

const own = (kind: Attachment['kind'], slug: string, text: string): Attachment => ({ id: `${kind}:${slug}`, kind, render: () => text });

describe('attachments of a session', () => {
  it('are set, replaced in place, listed in the order of kinds, and detached', () => {
    const session = new LogSession('s').withAttachment(own('todo', 'list', 't')).withAttachment(own('file', 'a', '1'));
    session.setAttachment(own('memory', 'm', 'm'));
    session.setAttachment(own('file', 'b', '2'));
    session.setAttachment(own('file', 'a', 'new'));
    expect(session.attachmentIds()).toEqual(['memory:m', 'file:a', 'file:b', 'todo:list']);
    expect(attachmentsOf(session.log).find(({ id }) => id === 'file:a')).toMatchObject({ kind: 'text', as: 'file', text: 'new' });
    expect(session.detachAttachment('file:b')).toBe(true);
    expect(session.detachAttachment('file:b')).toBe(false);
    expect(session.attachmentIds()).toEqual(['memory:m', 'file:a', 'todo:list']);
  });
});

describe('blobs', () => {
  it('are kept once by content, for the user only, and found again', () => {
    const folder = tempFolder();
    const blobs = createBlobs(folder);
    const ref = blobs.put(Buffer.from('hello'));
    expect(blobs.put(Buffer.from('hello'))).toEqual(ref);
    expect(Buffer.from(blobs.get(ref?.hash ?? ('' as BlobHash)) ?? []).toString()).toBe('hello');
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files).toHaveLength(1);
    expect(statSync(join(files[0]?.parentPath ?? '', files[0]?.name ?? '')).mode & 0o777).toBe(0o600);
  });
  it('that are too large, damaged or asked for by a crooked name are not given', () => {
    const folder = tempFolder();
    const blobs = createBlobs(folder);
    expect(blobs.put(Buffer.alloc(13 * 1024 * 1024))).toBeUndefined();
    expect(blobs.get('../../etc/passwd' as BlobHash)).toBeUndefined();
    expect(createBlobs('/dev/null/nowhere').put(Buffer.from('x'))).toBeUndefined();
  });
  it('are swept after 30 days without a write', () => {
    const folder = tempFolder();
    const blobs = createBlobs(folder);
    const old = blobs.put(Buffer.from('old'));
    const fresh = blobs.put(Buffer.from('fresh'));
    const file = join(folder, (old?.hash ?? '').slice(0, 2), old?.hash ?? '');
    utimesSync(file, 1, 1);
    expect(sweepBlobs(folder)).toBe(1);
    expect(blobs.get(old?.hash ?? ('' as BlobHash))).toBeUndefined();
    expect(blobs.get(fresh?.hash ?? ('' as BlobHash))).toBeDefined();
    expect(sweepBlobs('/dev/null/nowhere')).toBe(0);
  });
});

describe('effects', () => {
  const calls = async (effect: Effect, more: Partial<Surface> = {}): Promise<string[]> => {
    const seen: string[] = [];
    const say = (what: string) => (...args: unknown[]): void => { seen.push(`${what} ${JSON.stringify(args)}`); };
    const later = (what: string) => async (...args: unknown[]): Promise<void> => { say(what)(...args); };
    await interpret(effect, '/x', {
      show: say('show'), append: say('append'), submit: later('submit'), invoke: later('invoke'), compact: later('compact'), mode: say('mode'), refuse: say('refuse'), exit: say('exit'), stopTask: later('stopTask'), ...more,
    });
    return seen;
  };
  it('are done by the surface', async () => {
    const card = { title: 't', body: [] };
    expect(await calls({ type: 'append', entries: [{ type: 'mode', mode: 'plan' }], card })).toEqual(['append [[{"type":"mode","mode":"plan"}]]', 'show ["/x",{"title":"t","body":[]}]']);
    expect(await calls({ type: 'submit', prompt: 'p', shown: '/x' })).toEqual(['submit ["p","/x"]']);
    expect(await calls({ type: 'compact', keep: 'k' })).toEqual(['compact ["k"]']);
    const done: (boolean | undefined)[] = [];
    await calls({ type: 'clear', all: true }, { clear: async (all) => { done.push(all); } });
    expect(done).toEqual([true]);
  });
  it('that a surface cannot do are one clear line', async () => {
    for (const effect of [{ type: 'clear', all: false }, { type: 'resume' }, { type: 'model' }, { type: 'login' }, { type: 'logout' }] as Effect[]) {
      expect(await calls(effect)).toEqual([expect.stringMatching(/^refuse \["\/x","[^\n]+"\]$/)]);
    }
  });
});
