import { restore } from '#lib/defuse.ts';

const MARK = /\[defused\+*:[a-z0-9]+(?::[0-9A-F]{2,4})?\]/g;
/** Characters behind a mark that are compared: enough for the delimiter that it stands for. */
const BEHIND = 12;

/**
 * Text that the model wrote, with the marks taken out that only the program had put into what it was shown: a mark goes
 * where one of the `known` texts has the delimiter in its place, and none has the mark itself. Others stay: they are meant.
 */
export function restoreWhereKnown(text: string, known: () => readonly string[]): string {
  if (!text.includes('[defused')) return text;
  const texts = known();
  const isKnown = (piece: string): boolean => texts.some((one) => one.includes(piece));
  return text.replace(MARK, (mark: string, at: number) => {
    const behind = text.slice(at + mark.length, at + mark.length + BEHIND);
    const original = originalOf(mark, text.slice(at + mark.length, at + mark.length + 200));
    const shownBehind = restore(behind);
    const kept = isKnown(mark + behind) || isKnown(mark + shownBehind);
    return original !== undefined && !kept && (isKnown(original + behind) || isKnown(original + shownBehind)) ? original : mark;
  });
}

/** What a mark stands for; undefined when it is none where it stands. */
function originalOf(mark: string, behind: string): string | undefined {
  const restored = restore(mark + behind);
  if (restored.startsWith(mark)) return undefined;
  return mark.startsWith('[defused+') ? mark.replace('+', '') : restored.slice(0, 1);
}
