import { describe, expect, it } from 'vitest';
import source from '#attachments/sources/lsp-diagnostics.ts';
import type { CheckedFile, Report } from '#domain/languages.ts';
import type { Session } from '#domain/session.ts';
import { NO_USAGE } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { memorySession } from '../support/logs.ts';
import { nothing } from '../support/nothing.ts';
import { ask, textOf } from './world.ts';

const report = (line: number, message: string, more: Partial<Report> = {}): Report => ({ path: '/w/a.ts', line, column: 1, severity: 'error', message, text: `line of ${message}`, fresh: true, source: 'ts', code: '1', ...more });
const file = (reports: readonly Report[], more: Partial<CheckedFile> = {}): CheckedFile => ({ path: '/w/a.ts', label: 'a.ts', whole: true, reports, ...more });

async function hear(session: Session, ...files: readonly CheckedFile[]): Promise<string | undefined> {
  return textOf(await ask(source, session, { moment: 'step', outside: { ...nothing.outside, languages: { written: () => Promise.resolve(files) } } }));
}

const compact = (session: Session): void => { session.append({ type: 'compaction', summary: 's', trigger: 'manual', usage: NO_USAGE, model: 'm', tokensBefore: 1 }); };

describe('what language servers say', () => {
  it('is told once each: errors first, no hints, nothing that was there before', async () => {
    const session = memorySession();
    const reports = [report(3, 'old', { fresh: false }), report(5, 'careful', { severity: 'warning' }), report(9, 'wrong'), report(9, 'unused', { severity: 'hint' }), report(10, 'fyi', { severity: 'info' })];
    expect(await hear(session, file(reports))).toBe('New since your edits, as language servers say (paths, lines and columns as they are now):\na.ts:5:1 warning ts 1: careful\na.ts:9:1 error ts 1: wrong');
    expect(await hear(session, file(reports))).toBeUndefined();
    expect(await hear(session, file(reports.map((one) => ({ ...one, line: one.line + 40 }))))).toBeUndefined();
    expect(await hear(session, file([...reports, report(11, 'wrong', { text: 'another line' })]))).toContain('a.ts:11:1 error ts 1: wrong');
    expect(await hear(session)).toBeUndefined();
  });

  it('is said to be gone once, when the server has said all', async () => {
    const session = memorySession();
    await hear(session, file([report(1, 'x'), report(2, 'y')]));
    expect(await hear(session, file([], { whole: false }))).toBeUndefined();
    expect(await hear(session, file([report(2, 'y')]))).toBe('a.ts: 1 report of before is gone, 1 left.');
    expect(await hear(session, file([report(8, 'y', { text: 'changed line' })]))).toBeUndefined();
    expect(await hear(session, file([]))).toBe('a.ts: 1 report of before is gone.');
    expect(await hear(session, file([]))).toBeUndefined();
    expect(await hear(session, file([report(1, 'x')]))).toContain('a.ts:1:1 error ts 1: x');
  });

  it('is gone also where the same words were there before, on another line', async () => {
    const session = memorySession();
    const old = report(9, 'x', { fresh: false, text: 'old line' });
    await hear(session, file([report(1, 'x'), old]));
    expect(await hear(session, file([old]))).toBe('a.ts: 1 report of before is gone.');
  });

  it('is not gone because nobody knows any more what was there before', async () => {
    const session = memorySession();
    await hear(session, file([report(1, 'x')]));
    expect(await hear(session, file([report(7, 'x', { fresh: false })]))).toBeUndefined();
  });

  it('stands told after a resume, and is told whole after a compaction or when it was taken back', async () => {
    const session = memorySession();
    const before = session.append({ type: 'prompt', text: 'go' });
    await hear(session, file([report(1, 'x')]));
    const resumed = memorySession((JSON.parse(JSON.stringify(session.log)) as Entry[]));
    expect(await hear(resumed, file([report(1, 'x')]))).toBeUndefined();
    compact(resumed);
    expect(await hear(resumed, file([report(4, 'x')]))).toContain('a.ts:4:1');
    expect(await hear(resumed, file([report(4, 'x')]))).toBeUndefined();
    session.append({ type: 'rewind', to: before.id });
    expect(await hear(session, file([report(1, 'x')]))).toContain('a.ts:1:1');
  });

  it('what was fixed before a compaction is not told after it', async () => {
    const session = memorySession();
    await hear(session, file([report(1, 'x')]));
    compact(session);
    expect(await hear(session, file([]))).toBeUndefined();
  });

  it('is capped for each file and in all; what is left out is told when there is room', async () => {
    const session = memorySession();
    const many = Array.from({ length: 30 }, (_, i) => report(i + 1, `e${i}`));
    const first = await hear(session, file(many));
    expect(first?.match(/error/g)).toHaveLength(10);
    expect(first).toContain('a.ts: 20 more not shown');
    expect(await hear(session, file(many))).toBeUndefined();
    const second = await hear(session, file(many.slice(3)));
    expect(second?.match(/error/g)).toHaveLength(3);
    expect(second).toContain('a.ts: 3 reports of before are gone, 7 left.');
    const files = Array.from({ length: 50 }, (_, i) => file(many, { path: `/w/${i}.ts`, label: `${i}.ts` }));
    const fresh = memorySession();
    for (let i = 0; i < 6; i += 1) await hear(fresh, ...files);
    expect(JSON.stringify(fresh.log).match(/\.ts:\d+:1 error/g)).toHaveLength(60);
  });

  it('stays on one line each, whatever a server writes', async () => {
    const session = memorySession();
    const said = await hear(session, file([report(1, `a\nb\u202e ${'c'.repeat(1000)}`, { source: 'x\ny', code: 'z\u2028' })], { label: 'od\nd.ts' }));
    const [, line = '', ...rest] = (said ?? '').split('\n');
    expect(rest).toEqual([]);
    expect(line).toMatch(/^od\\u\{A\}d\.ts:1:1 error x y z: a b c+…$/);
    expect(line.length).toBeLessThan(400);
  });
});
