import { posix } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { candidatesIn } from '#mentions/candidates.ts';
import { findMentions } from '#mentions/parse.ts';
import { readCases } from '../support/cases.ts';

interface Expected { readonly path: string; readonly kind: string; readonly raw: string; readonly start: number; readonly end: number; readonly lines?: readonly number[] }
interface Case {
  readonly id: string;
  readonly text: string;
  readonly files: readonly string[];
  readonly expected: readonly Expected[];
  readonly unresolved: readonly string[];
  readonly symlinks?: Readonly<Record<string, string>>;
  readonly case_insensitive_fs?: boolean;
}
const { cases } = readCases('mention-parse') as { readonly cases: readonly Case[] };

/** A file system made of a list of names, asked as a real one is. */
function disk({ files, symlinks = {}, case_insensitive_fs: folding = false }: Pick<Case, 'files' | 'symlinks' | 'case_insensitive_fs'>): (path: string) => { readonly path: string; readonly kind: string } | undefined {
  const key = (path: string): string => (folding ? path.toLowerCase() : path);
  const entries = new Map<string, { readonly path: string; readonly kind: string }>();
  for (const file of files) {
    for (let at = file.indexOf('/', 1); at !== -1; at = file.indexOf('/', at + 1)) entries.set(key(file.slice(0, at)), { path: file.slice(0, at), kind: 'dir' });
    entries.set(key(file), { path: file, kind: /^(?:\/|~|\.\.)/.test(file) ? 'outside' : 'file' });
  }
  for (const link of Object.keys(symlinks)) entries.set(key(link), { path: link, kind: 'link' });
  return (path) => {
    const entry = entries.get(key(posix.normalize(path).replace(/(.)\/$/, '$1')));
    return path.endsWith('/') && entry?.kind !== 'dir' ? undefined : entry;
  };
}

describe('the case list', () => {
  it.each(cases.map((known) => [known.id, known] as const))('%s', async (_, known) => {
    const { mentions, unresolved } = await findMentions(known.text, disk(known));
    expect(mentions.map(({ found, raw, start, end, lines }) => ({ ...found, raw, start, end, ...(lines === undefined ? {} : { lines: [lines.from, lines.to] }) })))
      .toEqual(known.expected.map(({ path, kind, raw, start, end, lines }) => ({ path, kind, raw, start, end, ...(lines === undefined ? {} : { lines }) })));
    expect(unresolved).toEqual(known.unresolved);
  });
});

describe('beyond the list', () => {
  const find = async (text: string, ...files: readonly string[]): Promise<readonly string[]> => {
    const { mentions, unresolved } = await findMentions(text, disk({ files }));
    return [...mentions.map(({ raw }) => raw), ...unresolved.map((raw) => `? ${raw}`)];
  };

  it('lets a quoted name hold what a sentence may not', async () => {
    expect(await find('see @"a`b.txt" and `@c.txt` @d.txt', 'a`b.txt', 'c.txt', 'd.txt')).toEqual(['@"a`b.txt"', '@d.txt']);
    expect(await find('@"a b"#L2-4.', 'a b')).toEqual(['@"a b"#L2-4']);
    expect(await find('@"a\nb" @x.ts', 'x.ts')).toEqual(['@x.ts']);
  });
  it('takes a stray backtick for a backtick, within its paragraph', async () => {
    expect(await find('it`s @a.ts\n\nand it`s @b.ts', 'a.ts', 'b.ts')).toEqual(['@a.ts', '@b.ts']);
    expect(await find('``@a.ts ` x`` @b.ts', 'a.ts', 'b.ts')).toEqual(['@b.ts']);
    expect(await find('    @a.ts\n\n  ```js\n@b.ts\n```\n@c.ts', 'a.ts', 'b.ts', 'c.ts')).toEqual(['@a.ts', '@c.ts']);
    expect(await find('```\n@a.ts\n~~~\n@a.ts\n````\n@b.ts', 'a.ts', 'b.ts')).toEqual(['@b.ts']);
  });
  it('finds a name in the middle of text without blanks', async () => {
    expect(await find(`看@src/a.ts，${'然后再说一遍。'.repeat(60)}`, 'src/a.ts')).toEqual(['@src/a.ts']);
    expect(await find('见@名前.md、和@b.ts。', '名前.md', 'b.ts')).toEqual(['@名前.md', '@b.ts']);
    expect(await find('**@a.ts**', 'a.ts')).toEqual(['@a.ts']);
    expect(await find('❤️@a.ts', 'a.ts')).toEqual(['@a.ts']);
  });
  it('says of a path that it is not there, and nothing of handles and scopes', async () => {
    expect(await find('@src/missing.ts, @./x @~/y @a/b/c @dir/ (@gone.md)')).toEqual(['? @src/missing.ts', '? @./x', '? @~/y', '? @a/b/c', '? @dir/', '? @gone.md']);
    expect(await find('@john @org/team @babel/core@7.1.2 @docs:file://a/b @example.com @1.2.3 @')).toEqual([]);
    expect(await find('@gone.ts @gone.ts')).toEqual(['? @gone.ts']);
  });
  it('takes `#10-20` and `#L3-L4` for lines, `#heading` for nothing', async () => {
    const { mentions } = await findMentions('@a.md#10-20 @a.md#L3-L4 @a.md#heading', disk({ files: ['a.md'] }));
    expect(mentions.map(({ raw, lines }) => [raw, lines])).toEqual([['@a.md#10-20', { from: 10, to: 20 }], ['@a.md#L3-L4', { from: 3, to: 4 }], ['@a.md', undefined]]);
  });
  it('finds nothing where every look fails', async () => {
    expect(await findMentions('@a.ts', () => { throw new Error('EIO'); })).toEqual({ mentions: [], unresolved: ['@a.ts'], gaveUp: false });
  });
});

describe('any text', () => {
  const pieces = fc.array(fc.oneof(
    fc.constantFrom('@', '@@', '"', '@"', '\\', '\\ ', ' ', '\n', '`', '```', '~~~', ':10', '#L2-3', '/', '../', 'a.ts', 'src', '日本', '。', '(', ')', '.', ',', '\0', '\ud800', '\ufeff', '\u0301', '😀'),
    fc.string({ unit: 'binary', maxLength: 5 }),
  ), { maxLength: 30 }).map((parts) => parts.join(''));

  it('never throws and gives mentions that stand in the text, in order', async () => {
    await fc.assert(fc.asyncProperty(pieces, async (text) => {
      const { mentions } = await findMentions(text, disk({ files: ['a.ts', 'src/a.ts', '日本', 'a'] }));
      let end = 0;
      for (const mention of mentions) {
        expect(mention.start).toBeGreaterThanOrEqual(end);
        expect(mention.raw).toBe(text.slice(mention.start, mention.end));
        ({ end } = mention);
      }
    }), { numRuns: 3000 });
  });

  it('is walked in time that grows with its length only', async () => {
    for (const unit of ['@', ',@', '@a', '@"', '@"a', '`', '@`', '``@` ', '@a\\ ', '\\', '@(', '@a,', '@日a', '@src/a.ts ', '\n```\n@a', '\n \n`', '@a:1']) {
      candidatesIn(unit.repeat(20_000));
      await findMentions(unit.repeat(2000), () => undefined);
    }
  });
});
