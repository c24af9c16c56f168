import { describe, expect, it } from 'vitest';
import { width } from '#lib/terminal.ts';
import { drawMarkdown } from '#ui/markdown.ts';
import { colourPen, plainPen, withoutColours } from './pens.ts';

const SAMPLE = `# A heading with *emphasis*

A paragraph with **bold**, *italic*, ~~struck~~, \`code\` and a [link](https://example.com/a/b) that goes on
over two source lines. 日本語のテキストもここにあります、とても長いので折り返されます。 👩‍👩‍👧 done &amp; dusted.

- one
  - nested item that is long enough to wrap at forty columns
    - deeper
- [ ] open task
- [x] done task

9. nine
10. ten

    with a paragraph

> quoted
> > twice

| name | number | what it is for |
|---|--:|---|
| alpha | 1 | the first of them, with quite a lot to say |
| 日本 | 1000 | wide |

\`\`\`ts
const answer: number = 42; // a comment that is longer than forty columns is
\`\`\`

---

<b>html</b> stays<br>as text, https://auto.example/x too.
`;

describe('markdown as lines', () => {
  for (const columns of [20, 40, 80]) {
    it(`is right at ${columns} columns`, async () => {
      const lines = drawMarkdown(SAMPLE, plainPen(columns));
      for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
      await expect(`${lines.map((line) => line.trimEnd()).join('\n')}\n`).toMatchFileSnapshot(`../../golden/frames/markdown-${columns}.txt`);
    });
  }

  it('has the same words and breaks with colours as without', async () => {
    const coloured = drawMarkdown(SAMPLE, await colourPen(60));
    expect(coloured.map((line) => withoutColours(line).trimEnd())).toEqual(drawMarkdown(SAMPLE.replaceAll('`code`', 'code'), plainPen(60)).map((line) => line.trimEnd()));
  });

  it('colours code once its grammars are there, line by line', async () => {
    const text = '```ts\n/* one\ntwo */ const a = "x";\n```';
    expect(drawMarkdown(text, { ...plainPen(40), theme: (_, words) => `<${words}>` }).join('\n')).not.toContain('<');
    const lines = drawMarkdown(text, await colourPen(40));
    expect(lines).toEqual([
      '  \u001B[2m/* one\u001B[22m',
      '  \u001B[2mtwo */\u001B[22m \u001B[38;5;176mconst\u001B[39m a = \u001B[38;5;114m"x"\u001B[39m;',
    ]);
  });

  it('shows where a link leads, also when it says something else', () => {
    expect(drawMarkdown('[https://good.example](https://bad.example)', plainPen(80))).toEqual(['https://good.example (https://bad.example)']);
  });

  it('lets no control through', () => {
    const hostile = 'a\u001B]52;c;eA==\u0007b `\u001B[2J` [x](http://\u009Bx)\n\n```\n\u001Bc\n```\n\n| \u001B[5m |\n|---|\n| \u0007 |';
    expect(drawMarkdown(hostile, plainPen(80)).join('\n')).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
  });

  it('keeps what it has no form for as it was written', () => {
    expect(drawMarkdown('[ref]: https://x.example\n\n<div>\n  hi\n</div>', plainPen(80))).toEqual(['[ref]: https://x.example', '', '<div>', '  hi', '</div>']);
  });

  it('makes a list of a table that is too wide for its columns', () => {
    const table = `|${'c|'.repeat(8)}\n|${'---|'.repeat(8)}\n|${'value that is long|'.repeat(8)}`;
    const lines = drawMarkdown(table, plainPen(30));
    expect(lines).toHaveLength(8);
    expect(lines[0]).toBe('c: value that is long');
  });
});
