/** A skill's text, taken apart: what is said, and the commands whose output stands in it. */
export type Piece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'command'; readonly command: string };

/** What is put in for placeholders. `values` are those of `${NAME}`. */
export interface Given {
  readonly args: string;
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, string>>;
}


/** At the start of a line or after white space, so that an exclamation before a code span is none. */
const INLINE = /(?<!\S)!`([^`\n]+)`/g;
const OPENING = /^[ \t]*```![ \t]*$/;
const CLOSING = /^[ \t]*```[ \t]*$/;

/** Commands are `` !`…` `` and fences that open with ```` ```! ````; one that is never closed is text. Takes line feeds only. */
export function piecesOf(body: string): readonly Piece[] {
  const pieces: Piece[] = [];
  const lines = body.split('\n');
  let said = '';
  let closed = true;
  const say = (text: string): void => { said += text; };
  const run = (command: string): void => {
    if (said !== '') pieces.push({ type: 'text', text: said });
    said = '';
    pieces.push({ type: 'command', command });
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const end = closed && OPENING.test(line) ? closingAfter(lines, at) : -1;
    if (closed && end === -1 && OPENING.test(line)) closed = false;
    if (end === -1) inline(line, say, run);
    else {
      run(lines.slice(at + 1, end).join('\n'));
      at = end;
    }
    if (at < lines.length - 1) say('\n');
  }
  if (said !== '') pieces.push({ type: 'text', text: said });
  return pieces.filter((piece) => piece.type === 'text' || piece.command.trim() !== '');
}

function closingAfter(lines: readonly string[], at: number): number {
  for (let i = at + 1; i < lines.length; i += 1) if (CLOSING.test(lines[i] ?? '')) return i;
  return -1;
}

function inline(line: string, say: (text: string) => void, run: (command: string) => void): void {
  let from = 0;
  for (const found of line.matchAll(INLINE)) {
    say(line.slice(from, found.index));
    run(found[1] ?? '');
    from = found.index + found[0].length;
  }
  say(line.slice(from));
}

const PLACE = /\$ARGUMENTS\[(?<at>\d{1,4})\]|(?<all>\$ARGUMENTS)(?![A-Za-z0-9_])|\$(?<number>\d{1,3})(?!\w|\.\d)|\$\{(?<value>[A-Z_]{1,60})\}|\$(?<name>[A-Za-z_][\w-]{0,99})/g;

/**
 * Puts arguments and values in, once: what an argument itself holds is not looked at again, a command in it is none. An
 * argument that was not given is nothing in a text (`$0` to `$9`), and stays as it is in a command, where `$1` may be the
 * shell's or awk's. What no placeholder takes up stands at the end, as `ARGUMENTS: …`.
 */
export function fill(pieces: readonly Piece[], given: Given): readonly Piece[] {
  const words = wordsOf(given.args);
  let used = false;
  const put = (text: string, inCommand: boolean): string => text.replace(PLACE, (whole: string, ...rest: unknown[]) => {
    const { at, all, number, value, name } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    if (value !== undefined) return Object.hasOwn(given.values, value) ? given.values[value] ?? '' : whole;
    const [index, after] = name === undefined ? [Number(at ?? number), ''] : named(name, given.names);
    if (all === undefined && index === undefined) return whole;
    if (all !== undefined) {
      used = true;
      return given.args;
    }
    const word = words[index ?? 0];
    if (word === undefined && (inCommand || (number !== undefined && number.length > 1))) return whole;
    used = true;
    return `${word ?? ''}${after ?? ''}`;
  });
  const filled = pieces.map((piece): Piece => (piece.type === 'text' ? { type: 'text', text: put(piece.text, false) } : { type: 'command', command: put(piece.command, true) }));
  return used || given.args === '' ? filled : [...filled, { type: 'text', text: `\n\nARGUMENTS: ${given.args}` }];
}

/** The argument that a name means, and what follows the name: `$file-name` is `$file` where there is no `file-name`. */
function named(written: string, names: readonly string[]): readonly [number, string] | readonly [undefined, undefined] {
  for (let end = written.length; end > 0; end = written.lastIndexOf('-', end - 1)) {
    const index = names.indexOf(written.slice(0, end));
    if (index !== -1) return [index, written.slice(end)];
  }
  return [undefined, undefined];
}

/** Words as a shell parts them: quotes hold blanks together, a backslash takes the meaning of the next character. */
export function wordsOf(args: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let i = 0; i < args.length; i += 1) {
    const character = args[i] ?? '';
    const next = args[i + 1];
    if (character === '\\' && quote !== '\'' && next !== undefined && (quote === '' || next === quote || next === '\\')) {
      word = `${word ?? ''}${next}`;
      i += 1;
    } else if (quote !== '' && character === quote) quote = '';
    else if (quote === '' && (character === '"' || (character === '\'' && args.includes('\'', i + 1)))) {
      quote = character;
      word ??= '';
    } else if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${character}`;
  }
  return word === undefined ? words : [...words, word];
}
