/** Longest run of spaces or empty lines that is shown as it is. Longer ones push the end of a command out of sight. */
const LONGEST_GAP = 16;
const LONGEST_BLANK = 3;

const GAP = new RegExp(`[ \\t]{${LONGEST_GAP + 1},}`, 'g');
const BLANK = new RegExp(`\\n(?:[ \\t]*\\n){${LONGEST_BLANK + 1},}`, 'g');
/**
 * What a reader cannot see or takes for something else: controls but tab and line feed, format and bidi characters, tags,
 * variation selectors, blanks other than the space, private use, unassigned, fillers. Lone surrogates too.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** A variation selector or joiner right after a pictograph only shapes it. */
const SHAPES_EMOJI = /\p{Extended_Pictographic}[\ufe0e\ufe0f]?(?:\u200d\p{Extended_Pictographic}[\ufe0e\ufe0f]?)*/gu;

/** Text as a person must see it before they agree to it: unseen characters as `<U+202E>`, long gaps as a count. Nothing is cut. */
export function visible(text: string): string {
  return marked(text)
    .replace(BLANK, (found) => `\n<${found.split('\n').length - 2} empty lines>\n`)
    .replace(GAP, (found) => ` <${found.length} spaces> `);
}

/** Unseen characters shown, all gaps kept: for code, in which indentation is meant. */
export function marked(text: string): string {
  const emoji = new Set<number>();
  for (const { index, 0: found } of text.matchAll(SHAPES_EMOJI)) {
    for (let at = index; at < index + found.length; at += 1) emoji.add(at);
  }
  return text.replace(UNSEEN, (found, at: number) => (found === ' ' || found === '\n' || found === '\t' || emoji.has(at) ? found : `<U+${codeOf(found)}>`));
}

/** As {@link visible}, on one line. */
export function visibleLine(text: string): string {
  return visible(text.replaceAll(/\r?\n/g, '\n')).replaceAll('\n', '␊').replaceAll('\t', ' ');
}

/** Whether text holds characters that {@link visible} would mark; a carriage return before a line feed is none. */
export function hasUnseen(text: string): boolean {
  return text.replaceAll('\r\n', '\n').replace(SHAPES_EMOJI, '').replace(/[\n\t \u3000]/g, '').search(UNSEEN) >= 0;
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
