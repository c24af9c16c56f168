/** Every kind of sequence that a terminal obeys, finished and not, 7-bit and 8-bit, each with a word to find it by. */
export const EVIL = '\u001b[31mA\u001b]0;owned\u0007B\u001b]52;c;aGk=\u001b\\C\u001bP+q544e\u001b\\D\u001b_Gx\u001b\\E\u001b^p\u001b\\F\u001bXs\u001b\\G\u001b[2JH\u001b[?1049hI\u001b[6nJ\u001bcK\u001b(0L\u009b31mM\u009d0;owned\u009cN\u0090q\u009cO\u0007P\u0008Q\u000bR\u000cS\u007fT\u202eU\u2066V\u200fW\r\rX\u001b[\u001b]8;;http://x\u0007Y\u001b';

/** What the program itself writes: cursor, colours, erasing, modes of the screen. Anything else came from outside. */
const OWN = /\u001b\[[0-9;:]*[mABCDEFGHJKSTdfhlnrsu]|\u001b\[[?>=<][0-9;]*[a-zA-Z]|\u001b\[[0-9 ]*q|\u001b[78=>]|\u001b\]133;[A-Z]\u0007/g;
const ALLOWED_MODES = new Set(['25', '2004', '2026', '1004', '2031', '7', '12', '1u', '']);

/** What of an output is not the program's own: bare control characters, modes and wipes. */
export function foreign(raw: string): readonly string[] {
  // The output may have been looked at in the middle of one of the program's own sequences.
  const plain = raw.replace(/\u001b(?:\[[0-9;:?]*)?$/, '').replace(OWN, '');
  const controls = [...plain.matchAll(/[\0-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]/g)].map(({ index }) => JSON.stringify(plain.slice(Math.max(0, index - 20), index + 20)));
  const modes = [...raw.matchAll(/\u001b\[\?([0-9;]+)[hl]/g)].map(([, mode = '']) => mode).filter((mode) => !ALLOWED_MODES.has(mode));
  const wiped = [...raw.matchAll(/\u001b\[[23]J|\u001bc|\u001b\[6n/g)].map(([found]) => JSON.stringify(found));
  return [...controls, ...modes, ...wiped];
}
