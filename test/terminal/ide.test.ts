import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startEditor, type EditorOptions } from '../support/editor.ts';
import { eventually } from '../support/eventually.ts';
import { call, say } from '../support/messages-server/reply.ts';
import { expectValid, last, only, product, serve, wordsOf } from '../support/product.ts';
import { tempFolder } from '../support/temp.ts';

const READY = '> Ask, or /';
const at = (pattern: RegExp) => (screen: readonly string[]): boolean => screen.some((line) => pattern.test(line));

async function beside(script: Parameters<typeof serve>[0], args: readonly string[] = [], more: { readonly columns?: number; readonly env?: (port: number) => Readonly<Record<string, string>>; readonly editor?: Partial<EditorOptions> } = {}) {
  const server = await serve(script);
  const config = tempFolder();
  const place = product({ 'lamp.ts': 'one\ntwo\nthree\n', 'my notes.md': 'x\n' }, server, { CLAUDE_CONFIG_DIR: config });
  const editor = await startEditor({ locks: join(config, 'ide'), folders: [place.cwd], ...more.editor });
  const terminal = place.open({ args, rows: 30, columns: more.columns ?? 100, ...(more.env !== undefined && { env: more.env(editor.port) }) });
  await terminal.waitFor(READY);
  return { ...place, server, editor, terminal, lamp: join(place.cwd, 'lamp.ts') };
}

describe('an editor beside the terminal', () => {
  it('is offered in one line, connected by /ide, seen in the bar, and heard', async () => {
    const { terminal, editor, lamp, cwd, server } = await beside([say('Two lines.')]);
    await terminal.waitFor('/ide connects to Neovim.');
    expect(editor.connected()).toBe(0);
    terminal.enter('/ide');
    await terminal.waitFor('Connected to Neovim.');
    await terminal.waitFor(at(/ · ⧉ Neovim · /));
    editor.select(lamp, 2, 3, 'two\nthree');
    await terminal.waitFor(at(/ · ⧉ 2 lines of lamp\.ts · /));
    terminal.type('see');
    await terminal.waitFor('> see');
    editor.mention(join(cwd, 'my notes.md'), 1, 1);
    await terminal.waitFor('> see @"my notes.md"#L1');
    terminal.enter('please');
    await terminal.waitFor('Two lines.');
    const words = wordsOf(only(server.requests));
    expect(words).toContain('see @"my notes.md"#L1 please');
    expect(words).toContain('The user has marked lines 2–3 of lamp.ts in Neovim. It may have nothing to do with what they ask:\n     2\ttwo\n     3\tthree');
    terminal.enter('/ide');
    await terminal.waitFor(/Marked: 2 lines of lamp\.ts \(2–3\)/);
    terminal.enter('/ide open lamp.ts');
    await eventually(() => { expect(editor.calls.findLast(({ name }) => name === 'openFile')?.args).toMatchObject({ filePath: lamp, makeFrontmost: true }); });
    terminal.enter('/ide off');
    await terminal.waitFor('Neovim is disconnected');
    await terminal.waitFor((screen) => !at(/⧉/)(screen.slice(-2)));
    terminal.enter('/exit');
    await terminal.expectLeft();
    expectValid(server);
  });

  it('in a terminal that it opened it is connected by itself; a change is answered there, and the question goes', async () => {
    const { terminal, editor, lamp } = await beside([{ content: [call('Read', { file_path: 'lamp.ts' })] }, { content: [call('Edit', { file_path: 'lamp.ts', old_string: 'two', new_string: '2' })] }, say('Changed.')], [], {
      columns: 40, env: (port) => ({ CLAUDE_CODE_SSE_PORT: String(port), ENABLE_IDE_INTEGRATION: 'true' }), editor: { folders: ['/elsewhere'] },
    });
    await terminal.waitFor('Connected to Neovim.');
    terminal.enter('change it');
    await terminal.waitFor(/\? Edit lamp\.ts/);
    await eventually(() => { expect(editor.diffs).toHaveLength(1); });
    last(editor.diffs).save('one\nZWEI\nthree\n');
    await terminal.waitFor('Changed.');
    await terminal.waitFor(READY);
    expect(terminal.lines().join('\n')).toContain('changed by you');
    expect(readFileSync(lamp, 'utf8')).toBe('one\nZWEI\nthree\n');
    editor.close();
    await terminal.waitFor(/Neovim is not connected any/);
    terminal.enter('/exit');
    await terminal.expectLeft();
  });
});
