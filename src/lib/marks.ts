/**
 * Controls (C0 without tab and line feed, DEL, C1), line and paragraph separators, what turns the direction of writing,
 * what is invisible and holds nothing together, and tag characters outside of a flag.
 */
const HOSTILE = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,16}\u{e007f}|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * Every character that a terminal could take for more than print, or a person would not see, as a visible mark (`␛`,
 * `<U+009B>`). Tabs and line feeds stay. Takes well-formed text; linear in its length.
 */
export function markControls(text: string): string {
  return text.replace(HOSTILE, (found) => {
    const code = found.codePointAt(0) ?? 0;
    if (code === 0x1f3f4) return found;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? '␡' : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}
