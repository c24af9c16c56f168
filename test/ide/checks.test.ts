import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '#lib/hash.ts';
import type { BlobHash } from '#domain/content.ts';
import type { CallId } from '#domain/tool.ts';
import { memorySession } from '../support/logs.ts';
import { startEditor, type EditorOptions } from '../support/editor.ts';
import { eventually } from '../support/eventually.ts';
import { ideBench, SIGNAL } from './support.ts';

async function bench(more: Partial<EditorOptions> = {}) {
  const ide = ideBench({ 'lamp.ts': 'one\n', 'other.ts': 'x\n' });
  const editor = await startEditor({ locks: ide.locks, folders: [ide.work], ...more });
  await ide.ide.begin({ asked: false, auto: true });
  const session = memorySession();
  const lamp = join(ide.work, 'lamp.ts');
  /** A write of the file, as a tool's run leaves it, after which the editor reports. */
  const write = async (path = lamp, then: () => void = () => undefined): Promise<void> => {
    await ide.ide.checks.before(path, SIGNAL);
    ide.ide.checks.after(path);
    session.append({ type: 'toolResult', callId: 'c' as CallId, tool: 'Edit', result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: [{ path, hash: sha256('x') as BlobHash, how: 'write', kept: false }] } });
    then();
  };
  const now = async () => (await ide.ide.written(session.log, SIGNAL)).diagnostics.map(({ label, line, severity, message }) => `${label}:${line} ${severity} ${message}`);
  return { ...ide, editor, session, lamp, write, now };
}

describe('what the editor reports of files that were written', () => {
  it('is what was not there before, wherever its line is now', async () => {
    const { editor, lamp, write, now } = await bench();
    editor.report(lamp, { message: 'old trouble', line: 1 });
    await write(lamp, () => { editor.report(lamp, { message: 'old trouble', line: 5 }, { message: 'new trouble', line: 2, severity: 'Warning', source: 'ts', code: '7' }); });
    expect(await now()).toEqual(['lamp.ts:2 warning new trouble']);
  });

  it('counts equal words: a second one is new', async () => {
    const { editor, lamp, write, now } = await bench();
    editor.report(lamp, { message: 'same', line: 1 });
    await write(lamp, () => { editor.report(lamp, { message: 'same', line: 1 }, { message: 'same', line: 9 }); });
    expect(await now()).toEqual(['lamp.ts:9 error same']);
  });

  it('is measured from before the first write', async () => {
    const { editor, lamp, write, now } = await bench();
    editor.report(lamp);
    await write(lamp, () => { editor.report(lamp, { message: 'first' }); });
    await write(lamp, () => { editor.report(lamp, { message: 'first' }, { message: 'second' }); });
    expect(await now()).toEqual(['lamp.ts:1 error first', 'lamp.ts:1 error second']);
  });

  it('is waited for where the editor says when it has checked', async () => {
    const { editor, lamp, write, now } = await bench();
    editor.report(lamp);
    await write();
    setTimeout(() => { editor.report(lamp, { message: 'late' }); }, 100);
    expect(await now()).toEqual(['lamp.ts:1 error late']);
  });

  it('is told a moment later, and nobody waits, where the editor does not say that', async () => {
    let problems: readonly object[] = [];
    const { write, now } = await bench({ tools: { getDiagnostics: ({ uri }) => [JSON.stringify([{ uri, diagnostics: problems }])] } });
    await write();
    problems = [{ message: 'trouble', range: { start: { line: 3, character: 0 } } }];
    expect(await now()).toEqual([]);
    await eventually(async () => { expect(await now()).toEqual(['lamp.ts:4 info trouble']); });
  });

  it('is nothing of a file that nobody wrote, that the editor does not know, or that holds unsaved text', async () => {
    const { editor, lamp, work, write, now } = await bench({ tools: { checkDocumentDirty: ({ filePath }) => [JSON.stringify({ success: true, isDirty: String(filePath).endsWith('lamp.ts') })] } });
    editor.report(join(work, 'other.ts'), { message: 'not ours' });
    await write(lamp, () => { editor.report(lamp, { message: 'unsaved' }); });
    expect(await now()).toEqual([]);
    const unknown = await bench({ tools: { getDiagnostics: 'File not open' } });
    await unknown.write();
    const asked = unknown.editor.calls.length;
    expect(await unknown.now()).toEqual([]);
    expect(unknown.editor.calls).toHaveLength(asked);
  });

  it.each([['hangs', { getDiagnostics: 'hang' as const }], ['answers what is no list', { getDiagnostics: () => ['{"a":1}', '['] }], ['answers odd ones', { getDiagnostics: () => [JSON.stringify([null, { uri: 7 }, { uri: 'file:///x', diagnostics: [null, {}, { message: 7 }] }])] }]])('is nothing where the editor %s', async (_, tools) => {
    const { write, now } = await bench({ tools });
    await write();
    expect(await now()).toEqual([]);
  });
});
