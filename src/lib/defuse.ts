/**
 * Text from outside may hold the delimiter of the block in which it is shown. `defuse` puts a visible mark in the place
 * of the bracket that begins such a delimiter; `restore` puts the bracket back, so that what was copied from a defused
 * text can be compared with, and written to, the file it came from.
 *
 * The mark is `[defused:WORD]`, where WORD is the first word of the tag, or `[defused:WORD:HEX]` when the bracket was
 * another character than `<`. A mark that the text held before gets a `+` (`[defused+:WORD]`), which `restore` takes off.
 */

/** What people and models take for an opening angle bracket, beside those that NFKC folds to it. */
const BRACKETS = new Set('<\uff1c\ufe64\u2039\u276c\u276e\u2770\u27e8\u27ea\u2329\u3008\u300a\u02c2\u1438\u2993\u226e');
/** An entity is defused at its ampersand. */
const AMPERSAND = '&';
const ENTITY = /(?:[lL][tT]|#0{0,8}60|#[xX]0{0,8}3[cC]);?/y;

const MARK = '\\[defused(\\+*):([a-z0-9]+)(?::([0-9A-F]{2,4}))?\\]';
const MARKS = new RegExp(MARK, 'g');

const BEFORE_NAME = /[\s/\\\u2215\u2044\u29f8\u29f5\u2571\uff0f\uff3c]/;
const SEPARATOR = /[\s\p{Pd}_\u2212\u00b7]/u;
/** Nothing is seen of these, or they only decorate what stands before them. */
const HIDDEN = /[\p{Cf}\p{Cc}\p{Cs}\p{M}\p{Default_Ignorable_Code_Point}\ufffd]/u;

/** What a character may be on the way from the bracket to the end of the name; bits, for speed. */
const BEFORE = 1;
const SEPARATES = 2;
const UNSEEN = 4;
const ASCII_KINDS = Array.from({ length: 128 }, (_, code) => classify(code));

/**
 * Replaces whatever spells the delimiter `<tag` in `text`, opening or closing: in any case, with white space, slashes or
 * unseen characters inside, with look-alike brackets, entities and letters, with anything or nothing after the tag's name.
 * Nothing else is changed. The result holds no such delimiter.
 *
 * `restore(defuse(text, tag))` is `text` again, marks of this tag's own word in it included. Passes for tags with
 * different first words do not touch each other's marks. A text is to be defused once per tag: a second pass finds no
 * delimiter, but takes the first one's marks for marks of the text.
 */
export function defuse(text: string, tag: string): string {
  const name = fold(tag);
  const word = firstWord(name);
  if (word === '') return text;
  return text.replace(spotsOf(name), (spot: string, plus: string | undefined, of: string | undefined, hex: string | undefined, at: number) => {
    if (of !== undefined) {
      return of === word && isMark(text, at + spot.length, of, hex) ? `[defused${plus ?? ''}+${spot.slice('[defused'.length + (plus ?? '').length)}` : spot;
    }
    const after = spot === AMPERSAND ? afterEntity(text, at + 1) : at + 1;
    return after !== undefined && spells(text, after, name) ? markOf(spot, word) : spot;
  });
}

/** Takes the marks of {@link defuse} out again, whatever tag they were made for; marks that the text itself held lose their `+`. */
export function restore(text: string): string {
  return text.replace(MARKS, (mark: string, plus: string, word: string, hex: string | undefined, at: number) => {
    if (!isMark(text, at + mark.length, word, hex)) return mark;
    return plus === '' ? bracketOf(hex) : mark.replace('+', '');
  });
}

/** Brackets, ampersands and marks. The look-ahead only saves time: it knows what can stand behind a bracket that matters. */
function spotsOf(name: string): RegExp {
  const initial = name.charAt(0);
  return new RegExp(`[${[...BRACKETS].join('')}](?=[${initial}${initial.toUpperCase()}\\s\\/\\\\\\0-\\x1f\\x7f-\\uffff])|&(?=[lL#])|${MARK}`, 'g');
}

function markOf(bracket: string, word: string): string {
  return bracket === '<' ? `[defused:${word}]` : `[defused:${word}:${bracket.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}]`;
}

function bracketOf(hex: string | undefined): string {
  return hex === undefined ? '<' : String.fromCharCode(Number.parseInt(hex, 16));
}

/** A mark is one that {@link markOf} could have made where it stands; other text of its looks is only text. */
function isMark(text: string, after: number, word: string, hex: string | undefined): boolean {
  const bracket = bracketOf(hex);
  if (!BRACKETS.has(bracket) && bracket !== AMPERSAND) return false;
  if (hex !== undefined && markOf(bracket, word) !== `[defused:${word}:${hex}]`) return false;
  const from = bracket === AMPERSAND ? afterEntity(text, after) : after;
  return from !== undefined && spells(text, from, word);
}

function afterEntity(text: string, at: number): number | undefined {
  ENTITY.lastIndex = at;
  return ENTITY.test(text) ? ENTITY.lastIndex : undefined;
}

/** Whether `text` from `at` on spells `name`, read as a careless reader reads it. Looks no further than it must. */
function spells(text: string, at: number, name: string): boolean {
  let from = skip(text, at, BEFORE);
  for (let done = 0; done < name.length;) {
    if (name[done] === '-') {
      const next = skip(text, from, SEPARATES | UNSEEN);
      if (!holdsSeparator(text, from, next)) return false;
      from = next;
      done += 1;
      continue;
    }
    from = skip(text, from, UNSEEN);
    const character = characterAt(text, from);
    const folded = fold(character);
    if (folded === '' || !name.startsWith(folded, done)) return false;
    done += folded.length;
    from += character.length;
  }
  return true;
}

function skip(text: string, at: number, kinds: number): number {
  let from = at;
  for (let code = text.codePointAt(from); code !== undefined && (kindsOf(code) & kinds) !== 0; code = text.codePointAt(from)) {
    from += code > 0xffff ? 2 : 1;
  }
  return from;
}

function holdsSeparator(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if ((kindsOf(text.charCodeAt(at)) & SEPARATES) !== 0) return true;
  return false;
}

function kindsOf(code: number): number {
  return ASCII_KINDS[code] ?? classify(code);
}

function classify(code: number): number {
  const character = String.fromCodePoint(code);
  return (BEFORE_NAME.test(character) ? BEFORE : 0) | (SEPARATOR.test(character) ? SEPARATES : 0) | (HIDDEN.test(character) ? UNSEEN | BEFORE : 0);
}

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function fold(text: string): string {
  return text.length === 1 && text < '\u0080' ? text.toLowerCase() : text.normalize('NFKC').toLowerCase();
}

function firstWord(name: string): string {
  return /^[a-z0-9]+/.exec(name)?.[0] ?? '';
}
