import { stripVTControlCharacters } from 'node:util';
import { count, cutToLength, wellFormed } from '#lib/text.ts';

/** Units of a line that are held back to see whether a carriage return takes it back. */
const LONGEST_OPEN_LINE = 4096;

export interface OutputLimits {
  /** Most UTF-16 units shown: a third of the beginning, the rest of the end. */
  readonly shown: number;
}

/**
 * What a command prints, in memory of a fixed size however much it is: its beginning and its end. UTF-8 over chunk borders;
 * of a line that was written over and over again with carriage returns (progress bars) the last state stays.
 */
export interface Output {
  push(chunk: Uint8Array): void;
  /** The last lines so far, for progress. */
  tail(): string;
  /** All, cut in the middle where it is too much, and fit to be shown; no more chunks after it. */
  end(): { readonly text: string; readonly bytes: number };
}

export function collectOutput({ shown }: OutputLimits): Output {
  const decoder = new TextDecoder('utf-8');
  const head = Math.floor(shown / 3);
  const state = { start: '', end: '', open: '', total: 0, bytes: 0 };
  const doubt = { invalid: 0, controls: 0, zeros: 0, units: 0 };
  const keep = (text: string): void => {
    state.total += text.length;
    const room = head - state.start.length;
    if (room > 0) state.start += text.slice(0, room);
    state.end += room > 0 ? text.slice(room) : text;
    if (state.end.length > 2 * shown) state.end = state.end.slice(-(shown - head));
  };
  const take = (text: string): void => {
    weigh(text, doubt);
    const all = state.open + text;
    const end = all.lastIndexOf('\n') + 1;
    state.open = all.slice(end);
    if (end > 0) keep(lastStates(all.slice(0, end)));
    if (state.open.includes('\r')) state.open = lastState(state.open) + (state.open.endsWith('\r') ? '\r' : '');
    if (state.open.length > LONGEST_OPEN_LINE) {
      keep(state.open);
      state.open = '';
    }
  };
  return {
    push(chunk) {
      state.bytes += chunk.length;
      take(decoder.decode(chunk, { stream: true }));
    },
    tail: () => clean(`${state.end === '' ? state.start : state.end}${lastState(state.open)}`.slice(-2000)).trimEnd().split('\n').slice(-3).join('\n'),
    end() {
      take(decoder.decode());
      keep(lastState(state.open));
      state.open = '';
      if (looksBinary(doubt)) return { text: `[output of ${count(state.bytes, 'byte')} is binary, or not UTF-8; not shown]`, bytes: state.bytes };
      const lossy = doubt.invalid === 0 ? '' : `\n[${count(doubt.invalid, 'place')} of the output not UTF-8, shown as \ufffd]`;
      return { text: clean(joined(state, head, shown)) + lossy, bytes: state.bytes };
    },
  };
}

function lastStates(lines: string): string {
  const plain = lines.includes('\r') ? lines.replaceAll('\r\n', '\n') : lines;
  return plain.includes('\r') ? plain.split('\n').map(lastState).join('\n') : plain;
}

/** What a terminal would show in the end of a line in which the cursor went back to the start. */
function lastState(line: string): string {
  if (!line.includes('\r')) return line;
  return line.split('\r').findLast((state) => state !== '') ?? '';
}

function joined(state: { readonly start: string; readonly end: string; readonly total: number }, head: number, shown: number): string {
  if (state.total <= shown) return state.start + state.end;
  const start = cutToLength(state.start, head);
  const tail = state.end.slice(-(shown - head)).replace(/^[\udc00-\udfff]/, '');
  const line = tail.indexOf('\n');
  const end = wellFormed(line !== -1 && line < 2000 ? tail.slice(line + 1) : tail);
  return `${start}\n[… shown the first ${start.length} and the last ${end.length} of ${state.total} characters; filter the output, or send it to a file and Read that …]\n${end}`;
}

function clean(text: string): string {
  return wellFormed(stripVTControlCharacters(text)).replaceAll('\0', '␀');
}

interface Doubt {
  invalid: number;
  controls: number;
  zeros: number;
  units: number;
}

/** So much is looked at to tell text from binary. */
const WEIGHED = 8_000_000;

function weigh(text: string, doubt: Doubt): void {
  if (doubt.units > WEIGHED) return;
  doubt.units += text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0) doubt.zeros += 1;
    else if (unit === 0xfffd) doubt.invalid += 1;
    else if (unit < 0x20 && !(unit >= 0x08 && unit <= 0x0d) && unit !== 0x1b) doubt.controls += 1;
  }
}

/** Names that are separated by zeros are text; programs and archives are full of zeros, broken characters and controls. */
function looksBinary({ invalid, controls, zeros, units }: Doubt): boolean {
  return controls > units * 0.05 + 8 || invalid > units * 0.15 + 8 || zeros > units * 0.15 + 8;
}
