import type { InputEvent } from './contract.ts';
import { control, csiKey, key, ss3Key, typed, withAlt } from './key-codes.ts';

/** Makes events of what the terminal sends. Where the bytes are cut makes no difference to the events. */
export interface Tokenizer {
  push(bytes: Uint8Array | string): InputEvent[];
  /** Nothing more came for a while: a lone ESC was the key Escape. */
  flush(): InputEvent[];
  /** Takes a paste as ended whose end marker never came. */
  endPaste(): InputEvent[];
  /** What stands unfinished: `escape` wants {@link flush} after some 40 ms, `paste` {@link endPaste} after some seconds. */
  waiting(): 'nothing' | 'escape' | 'paste';
}

const PASTE_START = '200';
const PASTE_END = '\x1b[201~';
const CSI = /\x1b\[([0-?]*)([ -/]*)([@-~])/y;
const CSI_UNFINISHED = /\x1b\[[0-?]*[ -/]*$/y;
const SS3 = /\x1bO([0-9]?)([A-Za-z])/y;
/** Longer ones are noise; their beginning is dropped. */
const LONGEST_SEQUENCE = 256;
/** Introducers of OSC, DCS, APC, PM and SOS: text for programs, up to ST or BEL. */
const STRINGS = new Set([']', 'P', '_', '^', 'X']);

type Found =
  | { readonly to: number; readonly events: readonly InputEvent[]; readonly begins?: 'paste' | 'string' }
  | undefined;

interface State {
  inside: 'ground' | 'paste' | 'string';
  /** In the ground an unfinished sequence, in a paste what may be the beginning of its end, in a string an ESC that may end it. */
  rest: string;
  /** A paste so far, without `rest`: looked through once, however small the reads are. */
  pasted: string[];
}

export function createTokenizer(): Tokenizer {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const state: State = { inside: 'ground', rest: '', pasted: [] };
  return {
    push(bytes) {
      const events: InputEvent[] = [];
      let input = typeof bytes === 'string' ? bytes : decoder.decode(bytes, { stream: true });
      while (input !== '') {
        input = state.inside === 'paste' ? paste(state, input, events)
          : state.inside === 'string' ? skipString(state, input) : ground(state, input, events);
      }
      return events;
    },
    flush: () => flush(state),
    endPaste() {
      if (state.inside !== 'paste') return [];
      const text = state.pasted.join('') + state.rest;
      leave(state);
      return text === '' ? [] : [pasted(text)];
    },
    waiting: () => (state.inside === 'paste' ? 'paste' : state.rest === '' ? 'nothing' : 'escape'),
  };
}

function leave(state: State): void {
  state.inside = 'ground';
  state.rest = '';
  state.pasted = [];
}

/** Each of the three takes input in its state and gives back what is left for the state that follows. */
function ground(state: State, input: string, events: InputEvent[]): string {
  const whole = state.rest + input;
  state.rest = '';
  for (let at = 0; at < whole.length;) {
    const found = next(whole, at);
    if (found === undefined) {
      state.rest = whole.slice(at);
      return '';
    }
    events.push(...found.events);
    at = found.to;
    if (found.begins !== undefined) {
      state.inside = found.begins;
      return whole.slice(at);
    }
  }
  return '';
}

function paste(state: State, input: string, events: InputEvent[]): string {
  const text = state.rest + input;
  const end = text.indexOf(PASTE_END);
  if (end === -1) {
    const sure = Math.max(0, text.length - PASTE_END.length + 1);
    state.pasted.push(text.slice(0, sure));
    state.rest = text.slice(sure);
    return '';
  }
  events.push(pasted(state.pasted.join('') + text.slice(0, end)));
  leave(state);
  return text.slice(end + PASTE_END.length);
}

function skipString(state: State, input: string): string {
  const text = state.rest + input;
  state.rest = '';
  // Any other control ends it as well: a person who pressed Enter or Ctrl-C is not typing a terminal's reply.
  const end = text.search(/[\x00-\x1f\x7f\x9c]/);
  if (end === -1) return '';
  if (text[end] === '\x1b' && end + 1 === text.length) {
    state.rest = '\x1b';
    return '';
  }
  leave(state);
  return text.slice(end + (text[end] === '\x07' || text[end] === '\x9c' ? 1 : text.startsWith('\x1b\\', end) ? 2 : 0));
}

function flush(state: State): InputEvent[] {
  const { inside, rest } = state;
  // `ESC [` stays: its rest may come late over a slow line, and must not be taken for text.
  if (rest === '' || inside === 'paste' || (inside === 'ground' && !/^\x1b(?:\x1b|[^[])?$/.test(rest))) return [];
  leave(state);
  if (rest.length === 1) return [key('escape')];
  return rest[1] === '\x1b' ? [key('escape'), key('escape')] : [withAlt(typed(rest.slice(1)))];
}

/** One event at a place of the ground state; undefined when it takes more input to tell. */
function next(input: string, at: number): Found {
  const code = input.codePointAt(at) ?? 0;
  if (code === 0x1b) return sequence(input, at);
  if (code >= 0x80 && code < 0xa0) return eightBit(input, at);
  if (code < 0x20 || code === 0x7f) return { to: at + 1, events: [control(code)] };
  const character = String.fromCodePoint(code);
  return { to: at + character.length, events: [typed(character)] };
}

function sequence(input: string, at: number): Found {
  const second = input[at + 1];
  if (second === undefined) return undefined;
  if (second === '[') return csi(input, at);
  if (second === 'O') return ss3(input, at);
  if (STRINGS.has(second)) {
    const third = input[at + 2];
    if (third === undefined) return undefined;
    return /[\x20-\x7e\x07]/.test(third) ? { to: at + 2, events: [], begins: 'string' } : { to: at + 2, events: [withAlt(typed(second))] };
  }
  if (second === '\x1b') {
    const third = input[at + 2];
    if (third === undefined) return undefined;
    if (third !== '[' && third !== 'O') return { to: at + 1, events: [key('escape')] };
    const inner = sequence(input, at + 1);
    return inner === undefined ? undefined
      : { ...inner, events: inner.events.map((event) => (event.type === 'key' ? withAlt(event) : event)) };
  }
  const inner = next(input, at + 1);
  return inner === undefined ? undefined
    : { ...inner, events: inner.events.map((event) => (event.type === 'key' ? withAlt(event) : event)) };
}

function csi(input: string, at: number): Found {
  if (input[at + 2] === '[') return input.length < at + 4 ? undefined : { to: at + 4, events: linuxConsole(input[at + 3] ?? '') };
  // The old mouse report: three characters follow, whatever they are.
  if (input[at + 2] === 'M') return input.length < at + 6 ? undefined : { to: at + 6, events: [] };
  CSI.lastIndex = at;
  const whole = CSI.exec(input);
  if (whole === null) {
    CSI_UNFINISHED.lastIndex = at;
    if (CSI_UNFINISHED.test(input) && input.length - at < LONGEST_SEQUENCE) return undefined;
    const broken = /[^ -?]/.exec(input.slice(at + 2));
    return { to: broken === null ? input.length : at + 2 + broken.index, events: [] };
  }
  const [all, parameters = '', between = '', final = ''] = whole;
  const to = at + all.length;
  if (between !== '') return { to, events: [] };
  if (final === '~' && parameters === PASTE_START) return { to, events: [], begins: 'paste' };
  if (parameters === '' && (final === 'I' || final === 'O')) return { to, events: [{ type: 'focus', focused: final === 'I' }] };
  const event = csiKey(parameters, final);
  return { to, events: event === undefined ? [] : [event] };
}

function linuxConsole(final: string): readonly InputEvent[] {
  const index = 'ABCDE'.indexOf(final);
  return index === -1 || final === '' ? [] : [key(`f${index + 1}`)];
}

function ss3(input: string, at: number): Found {
  SS3.lastIndex = at;
  const whole = SS3.exec(input);
  if (whole !== null) {
    const event = ss3Key(whole[1] ?? '', whole[2] ?? '');
    return { to: at + whole[0].length, events: event === undefined ? [] : [event] };
  }
  const third = input[at + 2];
  if (third === undefined || (/[0-9]/.test(third) && input.length === at + 3)) return undefined;
  return { to: at + 2, events: [withAlt(typed('O'))] };
}

function pasted(text: string): InputEvent {
  return { type: 'paste', text: text.replace(/\r\n?/g, '\n') };
}

/** An 8-bit control is its 7-bit pair in one character. */
function eightBit(input: string, at: number): Found {
  const found = sequence(`\x1b${String.fromCharCode(input.charCodeAt(at) - 0x40)}${input.slice(at + 1)}`, 0);
  return found === undefined ? undefined : { ...found, to: at + found.to - 1 };
}
