import { describe, expect, it } from 'vitest';
import { createLines } from '#mcp/lines.ts';
import { errorForLong } from '#mcp/too-long.ts';

function read(most: number, ...chunks: readonly string[]): readonly string[] {
  const out: string[] = [];
  const lines = createLines(most, { line: (text) => { out.push(text); }, tooLong: (head, tail, bytes) => { out.push(`[${bytes}: ${head.slice(0, 3)}…${tail.slice(-3)}]`); } });
  for (const chunk of chunks) lines.push(Buffer.from(chunk));
  lines.end();
  return out;
}

describe('lines of a server', () => {
  it('are the same however they are cut', () => {
    const text = 'one\r\ntwo\n\nthrée\nlast';
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at += 1) {
      const out: string[] = [];
      const lines = createLines(100, { line: (line) => { out.push(line); }, tooLong: () => undefined });
      lines.push(bytes.subarray(0, at));
      lines.push(bytes.subarray(at));
      lines.end();
      expect(out).toEqual(['one', 'two', 'thrée', 'last']);
    }
  });
  it('that are too long are thrown away, and the next one is whole', () => {
    expect(read(10, 'abcdefghijklmnop', 'qrstuvwxyz\nnext\n')).toEqual(['[26: abc…xyz]', 'next']);
    expect(read(10, 'xxxxx', 'yyyyy', 'z\nnext')).toEqual(['[11: xxx…z]', 'next']);
    expect(read(10, 'xxxxx', 'yyyyy\nnext')).toEqual(['xxxxxyyyyy', 'next']);
  });
});

describe('which call a message that was too long answered', () => {
  const waiting = new Set([3, 4]);
  it('is seen at either end of it', () => {
    expect(errorForLong('{"jsonrpc":"2.0","id":3,"result":{"content":[', 'xxx"}]}}', 50, waiting)).toMatchObject({ id: 3 });
    expect(errorForLong('{"result":{"content":[{"id":9', '}]},"jsonrpc":"2.0","id":4}', 50, waiting)).toMatchObject({ id: 4 });
  });
  it('is not believed where nobody waits for it; the only one that waits is meant', () => {
    expect(errorForLong('{"result":', '"id":99}', 50, waiting)).toBeUndefined();
    expect(errorForLong('{"result":', '}}', 50, new Set([7]))).toMatchObject({ id: 7 });
  });
});
