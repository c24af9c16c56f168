import type { KeyEvent } from './contract.ts';

interface Held { readonly ctrl: boolean; readonly alt: boolean; readonly shift: boolean }

const NOTHING: Held = { ctrl: false, alt: false, shift: false };

/** A key with what is held down with it. */
export function key(name: string, held: Partial<Held> = {}, text = ''): KeyEvent {
  return { type: 'key', name, ...NOTHING, ...held, text };
}

/** A plain character, as it is typed. */
export function typed(character: string): KeyEvent {
  return key(character === ' ' ? 'space' : character, {}, character);
}

/** A character that came after an ESC. */
export function withAlt(event: KeyEvent): KeyEvent {
  if (event.text === '') return { ...event, alt: true };
  const lower = event.name.toLowerCase();
  return { ...event, name: lower, alt: true, shift: event.shift || lower !== event.name, text: '' };
}

const CONTROLS: Readonly<Record<number, KeyEvent>> = {
  0x00: key('space', { ctrl: true }), 0x08: key('backspace'), 0x09: key('tab'), 0x0d: key('enter'), 0x1b: key('escape'),
  0x1c: key('\\', { ctrl: true }), 0x1d: key(']', { ctrl: true }), 0x1e: key('^', { ctrl: true }), 0x1f: key('_', { ctrl: true }),
  0x7f: key('backspace'),
};

/** The key of a C0 control or DEL: Ctrl-J is LF, Ctrl-M is Enter. */
export function control(code: number): KeyEvent {
  return CONTROLS[code] ?? key(String.fromCharCode(code + 0x60), { ctrl: true });
}

/** Finals of `CSI … X` and `SS3 X`. */
const FINALS: Readonly<Record<string, string>> = {
  A: 'up', B: 'down', C: 'right', D: 'left', F: 'end', H: 'home', P: 'f1', Q: 'f2', S: 'f4',
};
const SS3: Readonly<Record<string, KeyEvent>> = {
  ...Object.fromEntries(Object.entries(FINALS).map(([final, name]) => [final, key(name)])),
  R: key('f3'), M: key('enter'), I: key('tab'), X: key('=', {}, '='), j: key('*', {}, '*'), k: key('+', {}, '+'), l: key(',', {}, ','),
  m: key('-', {}, '-'), n: key('.', {}, '.'), o: key('/', {}, '/'),
  a: key('up', { ctrl: true }), b: key('down', { ctrl: true }), c: key('right', { ctrl: true }), d: key('left', { ctrl: true }),
  ...Object.fromEntries(Array.from({ length: 10 }, (_, digit) => [String.fromCharCode(0x70 + digit), key(String(digit), {}, String(digit))])),
};
const SHIFTED_ARROWS: Readonly<Record<string, string>> = { a: 'up', b: 'down', c: 'right', d: 'left' };
const TILDES: Readonly<Record<number, string>> = {
  1: 'home', 2: 'insert', 3: 'delete', 4: 'end', 5: 'pageup', 6: 'pagedown', 7: 'home', 8: 'end',
  11: 'f1', 12: 'f2', 13: 'f3', 14: 'f4', 15: 'f5', 17: 'f6', 18: 'f7', 19: 'f8', 20: 'f9', 21: 'f10', 23: 'f11', 24: 'f12',
};
/** Code points of `CSI … u` that are keys rather than characters; from 57399 on the keypad of the kitty protocol. */
const UNICODES: Readonly<Record<number, string>> = {
  9: 'tab', 13: 'enter', 27: 'escape', 32: 'space', 127: 'backspace',
  57414: 'enter', 57417: 'left', 57418: 'right', 57419: 'up', 57420: 'down', 57421: 'pageup', 57422: 'pagedown', 57423: 'home',
  57424: 'end', 57425: 'insert', 57426: 'delete',
};
const KEYPAD = '0123456789./*-+';

/** What is held down, from the parameter of xterm and kitty: 1 plus a bit each. Undefined for super and hyper, which are the desktop's. */
function heldBy(parameter: number): Held | undefined {
  const bits = Math.max(0, parameter - 1);
  return (bits & 0b11000) !== 0 ? undefined : { shift: (bits & 1) !== 0, alt: (bits & 0b100010) !== 0, ctrl: (bits & 4) !== 0 };
}

/** The key of a code point with what is held. Unknown private-use code points are keys that we have no name for. */
function unicodeKey(code: number, shifted: number | undefined, held: Held): KeyEvent | undefined {
  const name = UNICODES[code];
  if (name !== undefined) return key(name, held, name === 'space' && !held.ctrl && !held.alt ? ' ' : '');
  const pad = code >= 57399 && code < 57399 + KEYPAD.length ? KEYPAD[code - 57399] : undefined;
  if (pad === undefined && (code < 0x20 || (code >= 0xd800 && code < 0xf900) || code > 0x10ffff)) return undefined;
  const character = pad ?? String.fromCodePoint(code);
  if (held.ctrl || held.alt) return key(character.toLowerCase(), held);
  const text = shifted !== undefined && shifted <= 0x10ffff ? String.fromCodePoint(shifted) : held.shift ? character.toUpperCase() : character;
  return typed(text);
}

/**
 * The key of a CSI sequence, or undefined for what is no key press: replies, mouse, key releases, anything unknown.
 * `parameters` is what stands between `CSI` and the final character.
 */
export function csiKey(parameters: string, final: string): KeyEvent | undefined {
  if (/[^0-9;:]/.test(parameters)) return undefined;
  const groups = parameters.split(';').map((group) => group.split(':').map((digits) => (digits === '' ? undefined : Number(digits))));
  const [first, shifted] = groups[0] ?? [];
  const [modifier, press] = groups[1] ?? [];
  const held = heldBy(modifier ?? 1);
  if (press === 3 || held === undefined) return undefined;
  if (final === 'u') return first === undefined ? undefined : unicodeKey(first, shifted, held);
  if (final === '~') {
    if (first === 27) return unicodeKey(groups[2]?.[0] ?? 0, undefined, held);
    const name = TILDES[first ?? 0];
    return name === undefined ? undefined : key(name, held);
  }
  if (final === 'Z') return key('tab', { ...held, shift: true });
  const arrow = SHIFTED_ARROWS[final];
  if (arrow !== undefined && parameters === '') return key(arrow, { shift: true });
  const name = FINALS[final];
  return name === undefined || groups.length > 2 ? undefined : key(name, held);
}

/** The key of `SS3 X`, `parameter` being a digit that some terminals put between for what is held. */
export function ss3Key(parameter: string, final: string): KeyEvent | undefined {
  const event = SS3[final];
  const held = parameter === '' ? NOTHING : heldBy(Number(parameter));
  return event === undefined || held === undefined ? undefined : parameter === '' ? event : { ...event, ...held };
}
