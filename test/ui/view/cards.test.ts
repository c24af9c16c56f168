import { describe, expect, it } from 'vitest';
import type { Card, CardBlock } from '#domain/card.ts';
import { width } from '#lib/terminal.ts';
import { drawBlock } from '#ui/block-lines.ts';
import type { Block, BlockBody } from '#ui/blocks.ts';
import { cardLine, drawCard } from '#ui/card-lines.ts';
import { drawDiff } from '#ui/diff-lines.ts';
import { type KeyTable, keyTable } from '#ui/keys.ts';
import { colourPen, plainPen } from './pens.ts';

const PATCH = `@@ -8,5 +8,6 @@
 const a = 1;
-const b = 2;
+const b = 3;
+const c = 4;
 \treturn a;
 
@@ -98,2 +99,2 @@
-old
+new
 last
\\ No newline at end of file`;

const EVERYTHING: Card = {
  title: 'Edit src/a.ts', detail: '+2 −1', tone: 'good',
  body: [
    { type: 'text', text: 'plain\twith a tab and \u001B[31mcolour\u001B[0m' },
    { type: 'markdown', text: '**bold** words' },
    { type: 'code', text: 'one\ntwo', language: 'ts', firstLine: 9 },
    { type: 'diff', patch: PATCH, language: 'ts' },
    { type: 'list', items: ['first', 'second that is long enough to need two lines at forty columns'] },
    { type: 'table', head: ['name', 'tokens'], rows: [['a', '1'], ['日本', '1000']], align: ['left', 'right'] },
  ],
};

const block = (body: BlockBody, full = false): Block => ({ ...body, key: 'k', full });

describe('cards', () => {
  for (const columns of [40, 80]) {
    it(`draws every kind of block at ${columns} columns`, async () => {
      const lines = drawCard(EVERYTHING, plainPen(columns));
      for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
      await expect(`${lines.map((line) => line.trimEnd()).join('\n')}\n`).toMatchFileSnapshot(`../../golden/frames/card-${columns}.txt`);
    });
  }

  it('makes one column of those of text where a narrow window would tear their words apart', () => {
    const table: CardBlock = { type: 'table', head: ['age', 'block', 'from'], align: ['right', 'left', 'left'], rows: [['1', 'deferred_tools_delta', ''], ['12', 'calls Read', 'model']] };
    expect(drawCard({ title: 'T', body: [table] }, plainPen(32))).toEqual(['● T', '  age │ block · from', '  ────┼─────────────────────', '    1 │ deferred_tools_delta', '   12 │ calls Read · model']);
    expect(drawCard({ title: 'T', body: [table] }, plainPen(40)).at(-1)).toBe('   12 │ calls Read           │ model');
    const marks: CardBlock = { type: 'table', head: ['', 'style', ''], rows: [['●', 'explanatory', 'says why it is so'], ['', 'a', 'b']] };
    expect(drawCard({ title: 'T', body: [marks] }, plainPen(22))).toContain('  ● │ explanatory ·');
  });

  it('folds a body, however long it is', () => {
    const text = Array.from({ length: 100_000 }, (_, i) => `line ${i}`).join('\n');
    const lines = drawCard({ title: 'Bash', body: [{ type: 'text', text }] }, plainPen(40), 10);
    expect(lines.slice(1, 6)).toEqual(['  line 0', '  line 1', '  line 2', '  … +99991 lines (Ctrl-O expands)', '  line 99994']);
    expect(lines.slice(-2)).toEqual(['  line 99998', '  line 99999']);
    expect(lines).toHaveLength(11);
  });

  it('shows how output ends, and the beginning of what is read from there', () => {
    const lines = Array.from({ length: 30 }, (_, i) => `${i}`).join('\n');
    const folded = (body: CardBlock): readonly string[] => drawCard({ title: 'T', body: [body] }, plainPen(40), 10).slice(1);
    expect(folded({ type: 'code', text: lines }).at(-1)).toBe('  29');
    expect(folded({ type: 'code', text: lines, language: 'ts' }).at(-1)).toBe('  … +21 lines (Ctrl-O expands)');
    expect(folded({ type: 'list', items: lines.split('\n') }).at(-1)).toBe('  … +21 lines (Ctrl-O expands)');
  });

  it('names the key that expands as it is bound, and none where none is', () => {
    const body = [{ type: 'text' as const, text: 'a\n'.repeat(30) }];
    const draw = (keys: KeyTable): string => drawCard({ title: 'T', body }, { ...plainPen(40), keys }, 10).join('\n');
    expect(draw(keyTable({ toggleTranscript: 'f2' }))).toContain('lines (F2 expands)');
    expect(draw(keyTable({ toggleTranscript: '' }))).toMatch(/\+\d+ lines$/m);
  });

  it('leaves no space over at the start of a line that was broken', () => {
    expect(drawCard({ title: 'T', body: [{ type: 'text', text: 'one two three\n  kept' }] }, plainPen(10)).map((line) => line.trimEnd())).toEqual(['● T', '  one two', '  three', '    kept']);
  });

  it('cuts a title short that the body says in full', () => {
    const command = 'for i in 1 2 3; do echo this is a long line $i; done && make';
    const code = { type: 'code' as const, text: command, language: 'bash' };
    expect(drawCard({ title: `Bash ${command}`, body: [code] }, plainPen(40)).slice(0, 2)).toEqual(['● Bash for i in 1 2 3; do echo this is …', '  for i in 1 2 3; do echo this is a long']);
    expect(drawCard({ title: 'Bash first …', body: [{ ...code, text: 'first\nsecond' }] }, plainPen(40))).toEqual(['● Bash first …', '  first', '  second']);
    expect(drawCard({ title: `Bash ${command}`, body: [] }, plainPen(40))).toHaveLength(2);
  });

  it('puts a long detail under the title', () => {
    expect(drawCard({ title: 'Bash npm test', detail: 'exit code 1 after 12 s', body: [] }, plainPen(30))).toEqual(['● Bash npm test', '  exit code 1 after 12 s']);
  });

  it('marks controls in titles and keeps them on one line', () => {
    expect(cardLine({ title: 'Read a\nb\u001B]0;x\u0007', body: [] }, 80)).toBe('Read a␊b␛]0;x␇');
  });

  it('counts the lines of both sides of a diff', () => {
    expect(drawDiff(PATCH, undefined, plainPen(40))).toEqual([
      '  8   const a = 1;', '  9 - const b = 2;', '  9 + const b = 3;', ' 10 + const c = 4;', ' 11       return a;', ' 12', '    ⋯', ' 98 - old', ' 99 + new', '100   last',
      '      No newline at end of file',
    ]);
  });

  it('colours what was added and removed, and the code around it', async () => {
    const lines = drawDiff('@@ -1,2 +1,2 @@\n const a = 1;\n-x\n+y', 'ts', await colourPen(40));
    expect(lines[0]).toContain('\u001B[38;5;176mconst\u001B[39m');
    expect(lines[1]).toContain('\u001B[38;5;210mx\u001B[39m');
    expect(lines[2]).toContain('\u001B[38;5;114my\u001B[39m');
  });

  it('wraps a long added line under itself', () => {
    expect(drawDiff(`@@ -1,0 +1,1 @@\n+${'x'.repeat(30)}`, undefined, plainPen(20))).toEqual([`1 + ${'x'.repeat(16)}`, `  + ${'x'.repeat(14)}`]);
  });
});

describe('blocks', () => {
  const draw = (body: BlockBody, full = false, columns = 50): string => drawBlock(block(body, full), plainPen(columns)).map((line) => line.trimEnd()).join('\n');

  it('draws a prompt with its media, and folds a long one', () => {
    expect(draw({ type: 'prompt', text: 'look\n  at this', media: ['[image a.png 2×3]'] })).toBe('\n› look\n    at this\n  [image a.png 2×3]');
    const long = Array.from({ length: 25 }, (_, i) => `l${i}`).join('\n');
    expect(draw({ type: 'prompt', text: long, media: [] })).toContain('… +6 lines (Ctrl-O expands)');
    expect(draw({ type: 'prompt', text: long, media: [] }, true)).toContain('l24');
  });

  it('draws a command of the user with output and ending', () => {
    expect(draw({ type: 'shell', command: 'ls', output: 'a\nb\n', exitCode: 0 })).toBe('\n! ls\n  a\n  b');
    expect(draw({ type: 'shell', command: 'false', output: '', exitCode: 1 })).toBe('\n! false\n  (no output)\n  exit code 1');
    expect(draw({ type: 'shell', command: 'x', output: 'o', exitCode: null })).toContain('stopped by a signal');
    expect(draw({ type: 'shell', command: 'sleep 9', output: 'o\n(interrupted)', exitCode: null })).toBe('\n! sleep 9\n  o\n  (interrupted)');
  });

  it('draws a slash command with its card whole', () => {
    const card: Card = { title: 'Help', body: [{ type: 'list', items: Array.from({ length: 15 }, (_, i) => `i${i}`) }] };
    expect(draw({ type: 'command', line: '/help', card })).toMatch(/^\n› \/help\n● Help\n {2}• i0[^]*i14$/);
  });

  it('draws notices, a compaction and what it kept', () => {
    expect(draw({ type: 'notice', level: 'error', text: 'no\nway' })).toBe('\n✗ no\n  way');
    const compaction = { type: 'compaction' as const, summary: '# All of it', trigger: 'auto' as const, usage: { input: 0, output: 2100, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }, model: 'm', tokensBefore: 84_000 };
    expect(draw({ type: 'compaction', compaction }, false, 90)).toBe('\n≡ compacted: 84k tokens → a summary of 2.1k, as the window filled  Ctrl-O shows it');
    expect(draw({ type: 'compaction', compaction }, true, 90)).toBe('\n≡ compacted: 84k tokens → a summary of 2.1k, as the window filled\n  # All of it');
  });

  it('lets the outcome of a call colour its mark', async () => {
    const pen = await colourPen(40);
    expect(drawBlock(block({ type: 'tool', card: { title: 'T', body: [] }, outcome: 'failed' }), pen)[1]).toContain('\u001B[31m●');
    expect(drawBlock(block({ type: 'tool', card: { title: 'T', body: [] }, outcome: 'ok' }), pen)[1]).toContain('\u001B[32m●');
  });
});
