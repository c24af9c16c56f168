import type { BraceExpansionPart, CommandExpansionPart, Word, WordPart } from 'unbash';
import { expandGlob, GLOB_ANY, GLOB_ONE } from './glob.ts';

/**
 * Why the value of a word is not known for sure. `substitution`: it is the output of a command that is judged on its own;
 * `status`: a number that the shell keeps; `value`: anything.
 */
export interface Doubt {
  readonly kind: 'substitution' | 'status' | 'value';
  readonly why: string;
}

/** What a word may become: usually one text, several after braces and wildcards. With a doubt, the texts are a guess. */
export interface Value {
  readonly texts: readonly string[];
  readonly doubt?: Doubt;
}

export interface Surroundings {
  readonly home: string;
  /** Directories in which the command may run (logical, absolute). */
  readonly cwds: readonly string[];
}

const PLAIN = /^[\w./:=@%+,-]+$/;

/** Whether a word stands for itself; asked before its parts are, which costs a parse of each word. */
export function isPlain(word: Word): boolean {
  return PLAIN.test(word.text);
}

/** Most texts that one word may become. */
const MOST_TEXTS = 200;
/** Around a mark of a pattern that is written with more than one character: what meets no file stays as it was written. */
const [OPEN, CLOSE] = ['\uE002', '\uE003'];
const GLOB_MARKS = new RegExp(`[${GLOB_ANY}${GLOB_ONE}${OPEN}]`);
const SPELLED = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`, 'g');

interface Pieces {
  readonly texts: readonly string[];
  readonly doubt: Doubt | undefined;
}

/** The value of a word after unquoting and every expansion that can be known without running anything. */
export function valueOf(word: Word, around: Surroundings): Value {
  if (isPlain(word)) return { texts: [word.text] };
  const { parts, text } = word;
  const pieces = parts === undefined ? { texts: [word.value], doubt: undefined } : joined(parts, around, false);
  const tilde = text.startsWith('~') ? afterTilde(pieces, text, around) : pieces;
  return expanded(tilde, around);
}

function expanded({ texts, doubt }: Pieces, around: Surroundings): Value {
  if (!texts.some((text) => GLOB_MARKS.test(text))) return doubt === undefined ? { texts } : { texts, doubt };
  const all: string[] = [];
  let open = doubt;
  for (const text of texts) {
    if (!GLOB_MARKS.test(text)) {
      all.push(text);
      continue;
    }
    const pattern = text.replaceAll(SPELLED, (_, spelled: string) => (spelled.startsWith('[') ? GLOB_ONE : GLOB_ANY));
    const found = doubt === undefined ? expandGlob(pattern, around.cwds, MOST_TEXTS - all.length) : undefined;
    if (found === undefined) open ??= { kind: 'value', why: 'it is not known which files the pattern meets' };
    else all.push(...found);
    // A bracket meets fewer files than are found for it here, so it may stay as it is where something was found.
    if (found === undefined || found.length === 0 || text.includes(`${OPEN}[`)) all.push(text.replaceAll(SPELLED, '$1').replaceAll(GLOB_ANY, '*').replaceAll(GLOB_ONE, '?'));
  }
  return open === undefined ? { texts: all } : { texts: all, doubt: open };
}

function afterTilde(pieces: Pieces, text: string, { home }: Surroundings): Pieces {
  if (text !== '~' && !text.startsWith('~/')) return { ...pieces, doubt: pieces.doubt ?? { kind: 'value', why: `\`${text}\` names another user's or an earlier folder` } };
  return { ...pieces, texts: pieces.texts.map((each) => home + each.slice(1)) };
}

/** Every way in which the parts of a word may be put together. */
function joined(parts: readonly WordPart[], around: Surroundings, quoted: boolean): Pieces {
  let texts: readonly string[] = [''];
  let doubt: Doubt | undefined;
  for (const part of parts) {
    const piece = pieceOf(part, around, quoted);
    doubt ??= piece.doubt;
    const all: string[] = [];
    for (const before of texts) for (const after of piece.texts) if (all.length < MOST_TEXTS) all.push(before + after);
    if (texts.length * piece.texts.length > MOST_TEXTS) doubt ??= { kind: 'value', why: 'the braces stand for too many words' };
    texts = all;
  }
  return { texts, doubt };
}

const known = (text: string): Pieces => ({ texts: [text], doubt: undefined });
const unknown = (why: string, kind: Doubt['kind'] = 'value', guess = ''): Pieces => ({ texts: [guess], doubt: { kind, why } });

function pieceOf(part: WordPart, around: Surroundings, quoted: boolean): Pieces {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return known(part.value);
    case 'AnsiCQuoted':
      // The shell keeps a line end after a backslash here, the parser does not.
      return part.text.includes('\\\n') ? unknown(`\`${part.text}\` runs over a line end`) : known(part.value);
    case 'DoubleQuoted':
      return joined(part.parts, around, true);
    case 'LocaleString':
      return { ...joined(part.parts, around, true), doubt: { kind: 'value', why: '`$"…"` is replaced by a translation' } };
    case 'Glob':
      // Braces, variables and quotes in it come first.
      if (/[{$`'"\\]/.test(part.text)) return unknown(`\`${part.text}\` may stand for several words`);
      return known(part.text === '*' ? GLOB_ANY : part.text === '?' ? GLOB_ONE : `${OPEN}${part.text}${CLOSE}`);
    case 'SimpleExpansion':
      return variable(part.text, around, quoted);
    case 'ParameterExpansion':
      return part.operation === undefined && part.prefix === undefined && part.index === undefined
        ? variable(`$${part.parameter}`, around, quoted)
        : unknown(`\`${part.text}\` is only known when it runs`);
    case 'CommandExpansion':
      return substitution(part, around);
    case 'BraceExpansion':
      return braces(part);
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
    case 'ExtendedGlob':
      return unknown(`\`${part.text}\` is only known when it runs`);
  }
}

function variable(text: string, { home, cwds }: Surroundings, quoted: boolean): Pieces {
  if (text === '$?' || text === '$#') return unknown(`\`${text}\` is a number of the shell`, 'status', '0');
  const value = text === '$PWD' && cwds.length === 1 ? cwds[0] : text === '$HOME' ? home : undefined;
  if (value === undefined || (!quoted && /[\s*?[\\]/.test(value))) return unknown(`the value of \`${text}\` is not known`);
  return known(value);
}

/** `$(cat <<'EOF' …)` is how a long text is written as one word: its value is there to be read. */
function substitution(part: CommandExpansionPart, around: Surroundings): Pieces {
  const statement = part.script?.commands.length === 1 ? part.script.commands[0] : undefined;
  const command = statement?.command;
  const open = unknown(`\`${part.text}\` is only known when it runs`, 'substitution');
  if (command?.type !== 'Command' || statement?.background === true || command.prefix.length > 0 || command.suffix.length !== 1) return open;
  const [document] = command.redirects;
  if (command.name === undefined || valueOf(command.name, around).texts[0] !== 'cat' || document?.type !== 'HereDoc') return open;
  if (document.body.parts !== undefined || document.operator !== '<<' || document.closing === undefined) return open;
  return known(document.body.text.replace(/\n+$/, ''));
}

/** `{a,b}`; anything beyond plain words between the commas is not worked out. */
function braces(part: BraceExpansionPart): Pieces {
  const inner = part.text.slice(1, -1);
  if (/[{}'"\\$`*?[\]()<>]/.test(inner) || inner.includes('..') || !inner.includes(',')) return { ...unknown(`\`${part.text}\` is only known when it runs`), texts: inner.split(',') };
  return { texts: inner.split(','), doubt: undefined };
}
