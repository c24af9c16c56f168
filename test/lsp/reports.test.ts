import { expect, it } from 'vitest';
import { freshAmong, reportsIn, type Said } from '#lsp/reports.ts';
import { touchedOf } from '#lsp/touched.ts';
import { FILE_CHANGE, watchedIn } from '#lsp/watched.ts';
import { MISSING_HASH, type FileTouch } from '#domain/tool.ts';
import type { BlobHash } from '#domain/content.ts';
import type { CallId } from '#domain/tool.ts';
import { memorySession } from '../support/logs.ts';

const said = (line: number, message: string, text = message): Said => ({ path: '/a', line, column: 1, severity: 'error', message, text });
const fresh = (before: readonly Said[], now: readonly Said[]): readonly number[] => freshAmong(before, now).filter((one) => one.fresh).map(({ line }) => line);

it('what has only moved is not fresh; of the same words the one on another line\'s text is', () => {
  expect(fresh([said(1, 'x')], [said(9, 'x')])).toEqual([]);
  expect(fresh([said(1, 'x', 'old line')], [said(4, 'x', 'new line'), said(9, 'x', 'old line')])).toEqual([4]);
  expect(fresh([said(1, 'x', 'a')], [said(1, 'x', 'b')])).toEqual([]);
  expect(fresh([said(1, 'x'), said(2, 'x')], [said(1, 'x'), said(2, 'x'), said(3, 'x'), said(4, 'y')])).toEqual([3, 4]);
  expect(fresh([], [said(1, 'x')])).toEqual([1]);
});

it('reports are one line, bounded, with columns of ours', () => {
  const range = { start: { line: 1, character: 4 }, end: { line: 1, character: 5 } };
  const [one] = reportsIn([{ range, severity: 2, code: 7, source: 's'.repeat(500), message: `a\n b\t${'c'.repeat(5000)}` }], '/a', 'x\n  \u{1F600}bad  ', 'utf-8');
  expect(one).toMatchObject({ line: 2, column: 5, severity: 'warning', code: '7', text: '\u{1F600}bad' });
  expect(one?.message.startsWith('a b ccc')).toBe(true);
  expect(one?.message.length).toBeLessThanOrEqual(600);
  expect(one?.source?.length).toBeLessThanOrEqual(60);
  expect(reportsIn(Array.from({ length: 1000 }, (_, i) => ({ range, severity: i < 990 ? 4 : 1, message: `m${i}` })), '/a', '', 'utf-16').filter(({ severity }) => severity === 'error')).toHaveLength(10);
  expect(reportsIn('no', '/a', '', 'utf-16')).toEqual([]);
});

it('the log tells what was there before the first of our writes', () => {
  const session = memorySession();
  const touch = (path: string, hash: string, how: FileTouch['how'], tool = 'Edit'): void => {
    session.append({ type: 'toolResult', callId: 'c' as CallId, tool, result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: [{ path, hash: hash as BlobHash, how, kept: true }] } });
  };
  touch('/read', 'r1', 'read', 'Read');
  touch('/a', 'a1', 'partial', 'Read');
  touch('/a', 'a2', 'write');
  touch('/a', 'a3', 'heard');
  touch('/new', 'n1', 'write', 'Write');
  touch('/unseen', 'u1', 'heard');
  touch('/gone', MISSING_HASH, 'notice', 'Read');
  touch('/gone', 'g1', 'write', 'Write');
  expect([...touchedOf(session.log).values()]).toEqual([
    { path: '/read', hash: 'r1', written: false }, { path: '/a', hash: 'a3', written: true, before: 'a1' }, { path: '/new', hash: 'n1', written: true, before: 'none' },
    { path: '/unseen', hash: 'u1', written: true }, { path: '/gone', hash: 'g1', written: true, before: 'none' },
  ]);
});

it('watchers are read in every form, and nonsense is left out', () => {
  const watched = watchedIn({ watchers: [{ globPattern: '**/*.ts' }, { globPattern: { baseUri: 'file:///w/src', pattern: '**/*.go' }, kind: 4 }, { globPattern: { baseUri: { uri: 'file:///w' }, pattern: 'package.json' } }, null, {}, { globPattern: 'x'.repeat(5000) }, { globPattern: { baseUri: 'http://x', pattern: '*' } }] });
  const fits = (path: string, kind: 1 | 2 | 3): boolean => watched.some((one) => one.fits(path, kind));
  expect(watched).toHaveLength(3);
  expect(fits('/w/deep/.x/a.ts', FILE_CHANGE.changed)).toBe(true);
  expect([fits('/w/src/a/b.go', FILE_CHANGE.deleted), fits('/w/src/a/b.go', FILE_CHANGE.changed), fits('/w/b.go', FILE_CHANGE.deleted)]).toEqual([true, false, false]);
  expect([fits('/w/package.json', FILE_CHANGE.created), fits('/w/x/package.json', FILE_CHANGE.created)]).toEqual([true, false]);
});
