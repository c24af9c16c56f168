import { Lexer, type Token, type Tokens } from 'marked';

/** One block of an answer, as Markdown. `joined`: it goes on with the block above, no blank line between. */
export interface Piece {
  readonly raw: string;
  readonly joined: boolean;
}

/** Finished pieces, and the text after them that may still change. `joined`: that text goes on with the last piece. */
export interface Split {
  readonly pieces: readonly Piece[];
  readonly rest: string;
  readonly joined: boolean;
}

/** A block longer than this many lines is finished part by part, so that a long listing does not wait for its end. */
const LONG = 50;
/** More text may still change what the last two blocks are: a paragraph becomes a table, a list goes on. */
const UNSETTLED = 2;

/**
 * Cuts Markdown into finished blocks. While an answer streams (`final` false) all but its last two blocks are finished; of a
 * long last block, all but its end. Cutting in steps gives the same pieces as cutting at once.
 */
export function splitMarkdown(text: string, joined: boolean, final: boolean): Split {
  const tokens = new Lexer().blockTokens(text).filter(({ raw }) => raw !== '');
  // The lexer rewrites some odd text on its way; what cannot be laid back on the source is not cut.
  if (tokens.map(({ raw }) => raw).join('') !== text) return wholly(text, joined, final);
  const blocks = tokens.flatMap((token, index) => (token.type === 'space' ? [] : [{ token, index }]));
  const last = blocks.at(-1);
  const lastIsLong = last !== undefined && lineCount(last.token.raw) > LONG;
  const settled = final ? blocks.length : Math.max(0, blocks.length - (lastIsLong ? 1 : UNSETTLED));
  const pieces: Piece[] = [];
  let continues = joined;
  for (const { token } of blocks.slice(0, settled)) {
    const { parts, rest } = cutBlock(token, true);
    for (const raw of [...parts, rest]) {
      pieces.push({ raw: raw.replace(/\n+$/, ''), joined: continues });
      continues = true;
    }
    continues = false;
  }
  const next = blocks[settled];
  if (next === undefined) return { pieces, rest: '', joined: false };
  const following = tokens.slice(next.index + 1).map(({ raw }) => raw).join('');
  if (!lastIsLong) return { pieces, rest: next.token.raw + following, joined: continues };
  const { parts, rest } = cutBlock(next.token, false);
  for (const raw of parts) {
    pieces.push({ raw: raw.replace(/\n+$/, ''), joined: continues });
    continues = true;
  }
  return { pieces, rest: rest + following, joined: continues };
}

function wholly(text: string, joined: boolean, final: boolean): Split {
  return final && text.trim() !== '' ? { pieces: [{ raw: text, joined }], rest: '', joined: false } : { pieces: [], rest: text, joined };
}

interface Cut {
  readonly parts: readonly string[];
  readonly rest: string;
}

function cutBlock(token: Token, complete: boolean): Cut {
  if (lineCount(token.raw) <= LONG) return { parts: [], rest: token.raw };
  if (token.type === 'list') return cutList(token as Tokens.List, complete);
  const body = token.raw.replace(/\n+$/, '');
  const cut = token.type === 'code' ? cutFence(body) : token.type === 'paragraph' ? cutLines(body.split('\n'), complete ? 0 : 1, (lines) => lines.join('\n')) : undefined;
  if (cut !== undefined) return { parts: cut.parts, rest: cut.rest + token.raw.slice(body.length) };
  return { parts: [], rest: token.raw };
}

/** Each part of a fenced block is a fenced block of its own. */
function cutFence(raw: string): Cut {
  const [open = '', ...lines] = raw.split('\n');
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(open)?.[1];
  if (fence === undefined) return { parts: [], rest: raw };
  const closed = lines.findLastIndex((line) => line.trim().startsWith(fence));
  const end = closed === -1 ? lines.length : closed;
  const { parts, rest } = cutLines(lines.slice(0, end), closed === -1 ? 1 : 0, (part) => [open, ...part, fence].join('\n'));
  const ending = closed === -1 ? '' : `\n${lines.slice(closed).join('\n')}`;
  return parts.length === 0 ? { parts, rest: raw } : { parts, rest: `${open}\n${rest.slice(open.length + 1, rest.length - fence.length - 1)}${ending}` };
}

/** `unsettled` lines at the end may still turn out to be something else: the fence's end, a heading. */
function cutLines(lines: readonly string[], unsettled: number, wrap: (lines: readonly string[]) => string): Cut {
  const parts: string[] = [];
  let at = 0;
  for (; lines.length - unsettled - at > LONG; at += LONG) parts.push(wrap(lines.slice(at, at + LONG)));
  return { parts, rest: wrap(lines.slice(at)) };
}

/** Cut between items, numbered on; the last items wait, as what follows may belong to them. */
function cutList(list: Tokens.List, complete: boolean): Cut {
  const start = typeof list.start === 'number' ? list.start : undefined;
  const numbered = (raw: string, item: number): string => (start === undefined ? raw : raw.replace(/\d+/, String(start + item)));
  const parts: string[] = [];
  let from = { item: 0, at: 0 };
  let at = 0;
  const most = list.items.length - (complete ? 1 : UNSETTLED);
  for (let item = 0; item < most; item += 1) {
    at += list.items[item]?.raw.length ?? 0;
    const raw = list.raw.slice(from.at, at);
    if (lineCount(raw) < LONG) continue;
    parts.push(numbered(raw, from.item));
    from = { item: item + 1, at };
  }
  return { parts, rest: numbered(list.raw.slice(from.at), from.item) };
}

/** The line's end that a block is followed by makes no line of its own. */
function lineCount(raw: string): number {
  return raw.replace(/\n+$/, '').split('\n').length;
}

/**
 * What a whole text has beyond what was seen of it, taking white space as alike. All of it when it does not begin with what
 * was seen.
 */
export function beyond(whole: string, seen: string): string {
  if (whole.startsWith(seen)) return whole.slice(seen.length);
  let at = 0;
  for (const character of seen) {
    if (character.trim() === '') continue;
    while (at < whole.length && whole.charAt(at).trim() === '') at += 1;
    if (!whole.startsWith(character, at)) return whole;
    at += character.length;
  }
  return whole.slice(at);
}
