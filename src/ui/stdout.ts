import { EventEmitter } from 'node:events';
import { asOne, type CursorReflow, drawChanges, drawWhole, type Frame, isChangeable, isSame, lineUp, NO_FRAME, stepBelow, type Window, wipe } from './frame.ts';
import type { Measure } from './editor-layout.ts';

/** How long a window must keep its size before anything is drawn for it, in ms. */
const RESIZE_MS = 30;
/** How long an erased frame may wait for the next one, in ms. */
const GAP_MS = 20;
/** ink wipes the screen and the scrollback once a frame reaches this many rows: it is told that there are always enough. */
const ENDLESS_ROWS = 100_000;

/** The part of a terminal's output stream that is used. */
export interface Target {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  /** The size as it is now; the other two follow only after the event. */
  getWindowSize?(): [columns: number, rows: number];
  write(bytes: string, done?: () => void): boolean;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

export interface StdoutOptions {
  readonly target: Target;
  readonly measure: Measure;
  /** Finds out how the terminal treats its cursor; asked at a change of columns until it is known. Never rejects. */
  readonly reflow?: () => Promise<CursorReflow | undefined>;
  /** Told all bytes that go out: for tests and recordings. */
  readonly record?: (bytes: string) => void;
}

/**
 * What ink's `render` is given as stdout. ink's own way of erasing a frame loses count when the window becomes narrower and
 * wipes the scrollback when a frame is taller than the window; so ink's erasing is only noted here, and what reaches the
 * terminal is made anew: text that scrolls away goes above the frame, of the frame itself only the lines that changed, all
 * in one synchronised write, and the cursor where the frame's mark says.
 *
 * `rows` is a fiction for ink; {@link Stdout.window} tells the real size.
 */
export interface Stdout extends NodeJS.WriteStream {
  readonly window: Window;
  /** Puts a frame there without ink; ink's first frame replaces it. */
  draw(frame: string): void;
  /** The frame once more, from nothing: after something else has written to the terminal. */
  redraw(): void;
  /** Takes the frame away, cursor shown, and holds everything back until {@link Stdout.reclaim}: the terminal is someone else's. */
  release(): void;
  reclaim(): void;
  /** Leaves the frame where it is, for good, with the cursor on the line below. What ink still writes is dropped. */
  finish(): void;
  measureWith(measure: Measure): void;
  /** From now on this makes of a frame of ink's what is to be seen. */
  readWith(read: (frame: string, columns: number) => string): void;
}

/** ink's way to take a frame back: to its end, then line by line up. */
const ERASE = /^(?:\x1b\[\?25l)?(?:\x1b\[\d*B)?(?:\x1b\[\d*G)?(?:\x1b\[2K(?:\x1b\[1?A)?)+\x1b\[G/;
/** Sequences that print nothing: title, bell, modes. They go through as they are. */
const SILENT = /^(?:\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x07|\x1b\[[?>=<][0-9;]*[a-z])+$/i;
/** Cursor on and off, synchronised output: ink's, and not needed. */
const INKS_OWN = /\x1b\[\?(?:25|2026)[hl]/g;

/** What is still to be shown: text that goes above, and the frame (undefined: the one that stands there). */
interface Pending { readonly above: string; readonly frame: string | undefined }

export function createStdout(options: StdoutOptions): Stdout {
  return new TerminalOutput(options) as unknown as Stdout;
}

class TerminalOutput extends EventEmitter {
  readonly isTTY = true;
  readonly writable = true;
  readonly rows = ENDLESS_ROWS;
  readonly #target: Target;
  readonly #record: ((bytes: string) => void) | undefined;
  readonly #askReflow: () => Promise<CursorReflow | undefined>;
  #reflow: CursorReflow | undefined;
  #measure: Measure;
  #read = (frame: string, _columns: number): string => frame;
  #window: Window;
  /** What stands in the terminal, and the text that it was made of. */
  #frame: Frame = NO_FRAME;
  #text = '';
  /** What ink wrote in this task: the last one is its frame, those before it scroll away. An erase takes the last one back. */
  #batch: string[] = [];
  #erased = false;
  /** The frame that stands there is not ink's: what ink writes takes its place, erased or not. */
  #foreign = false;
  #batchDue = false;
  #pending: Pending | undefined;
  #state: 'live' | 'released' | 'finished' = 'live';
  #gap: NodeJS.Timeout | undefined;
  /** While the window changes its size: the timer that waits for the end of it, and the wiping of the frame. */
  #settling: NodeJS.Timeout | undefined;
  #wiped: Promise<void> | undefined;

  constructor({ target, measure, record, reflow }: StdoutOptions) {
    super();
    this.setMaxListeners(0);
    this.#target = target;
    this.#measure = measure;
    this.#record = record;
    this.#askReflow = reflow ?? (() => Promise.resolve('follows'));
    this.#window = this.#look();
    target.on('resize', this.#onResize);
  }

  get window(): Window { return this.#window; }
  get columns(): number { return this.#window.columns; }

  write(chunk: string | Uint8Array, encodingOrDone?: string | (() => void), maybeDone?: () => void): boolean {
    const done = typeof encodingOrDone === 'function' ? encodingOrDone : maybeDone;
    if (done !== undefined) setImmediate(done);
    if (this.#state === 'finished') return true;
    const text = (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')).replace(INKS_OWN, '');
    if (SILENT.test(text)) {
      if (this.#state === 'live') this.#out(text);
    } else if (text !== '') this.#collect(text);
    return true;
  }

  #collect(text: string): void {
    const erase = ERASE.exec(text);
    if (erase !== null && this.#batch.pop() === undefined) this.#erased = true;
    const rest = erase === null ? text : text.slice(erase[0].length);
    if (rest !== '') this.#batch.push(rest);
    clearTimeout(this.#gap);
    // An erased frame is mostly followed by the next one; to take it away at once would only flicker.
    if (this.#batch.length === 0) this.#gap = setTimeout(() => { this.#closeBatch(true); }, GAP_MS);
    else if (!this.#batchDue) {
      this.#batchDue = true;
      queueMicrotask(() => { this.#closeBatch(); });
    }
  }

  /** `evenEmpty`: a frame that was erased is gone though none followed. */
  #closeBatch(evenEmpty = false): void {
    this.#batchDue = false;
    if (this.#batch.length > 0 || (this.#erased && evenEmpty)) {
      const frame = this.#read(this.#batch.pop()?.replace(/\n$/, '') ?? '', this.#look().columns);
      // A frame that nobody erased stays: the new one begins below it.
      const last = this.#pending?.frame ?? this.#text;
      const kept = this.#erased || this.#foreign || last === '' ? '' : `${last}\n`;
      this.#pending = { above: (this.#pending?.above ?? '') + kept + this.#batch.join(''), frame };
      this.#batch = [];
      this.#erased = false;
      this.#foreign = false;
    }
    this.#settle();
  }

  /** Shows what is pending, unless the terminal is not ours or its size is still changing. */
  #settle(): void {
    if (this.#state !== 'live' || this.#settling !== undefined || this.#pending === undefined) return;
    const { columns, rows } = this.#look();
    if (columns !== this.#window.columns || rows !== this.#window.rows) {
      // The window has changed, and the word of it is still on its way.
      this.#onResize();
      return;
    }
    const { above, frame } = this.#pending;
    this.#pending = undefined;
    this.#show(above, frame ?? this.#text);
  }

  /** Puts text above, and a frame (or none) below it in place of the one that stands there. */
  #show(above: string, text: string): void {
    const old = this.#frame;
    const next = text === '' ? NO_FRAME : lineUp(text, this.#window);
    this.#text = text;
    this.#frame = next;
    const changeable = above === '' && isChangeable(old, next, this.#measure);
    if (changeable && isSame(old, next)) return;
    const gone = above === '' || above.endsWith('\n') ? above : `${above}\n`;
    this.#out(asOne(changeable ? drawChanges(old, next)
      : wipe(old, this.#window, this.#measure, this.#reflow ?? 'follows') + gone.replace(/\r?\n/g, '\r\n') + drawWhole(next), next.cursor.shown || text === ''));
  }

  readonly #onResize = (): void => {
    this.#wiped ??= this.#wipeForResize();
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => { void this.#wiped?.then(() => { this.#drawResized(); }); }, RESIZE_MS);
  };

  /** Takes the frame away at once: with each further step of a drag it would be harder to tell where its lines are. */
  async #wipeForResize(): Promise<void> {
    if (this.#state !== 'live' || this.#look().columns === this.#window.columns) return;
    this.#reflow ??= await this.#askReflow();
    this.#wipe();
  }

  #drawResized(): void {
    this.#settling = undefined;
    this.#wiped = undefined;
    if (this.#state === 'finished') return;
    this.#window = this.#look();
    this.#redrawAfter(() => { this.emit('resize'); });
  }

  #wipe(): void {
    if (this.#state === 'live') this.#out(asOne(wipe(this.#frame, this.#look(), this.#measure, this.#reflow ?? 'follows'), false));
    this.#frame = NO_FRAME;
  }

  /** The frame anew, with whatever the others draw because of `cause`. */
  #redrawAfter(cause: () => void): void {
    this.#pending ??= { above: '', frame: undefined };
    cause();
    queueMicrotask(() => { this.#closeBatch(); });
  }

  draw(frame: string): void {
    if (this.#state === 'finished') return;
    this.#pending = { above: this.#pending?.above ?? '', frame };
    this.#foreign = true;
    this.#settle();
  }

  redraw(): void {
    if (this.#state !== 'live') return;
    this.#window = this.#look();
    this.#wipe();
    this.#show('', this.#text);
  }

  release(): void {
    if (this.#state !== 'live') return;
    this.#closeBatch(true);
    this.#wipe();
    this.#out('\x1b[?25h');
    this.#state = 'released';
  }

  reclaim(): void {
    if (this.#state !== 'released') return;
    this.#state = 'live';
    this.#window = this.#look();
    this.#redrawAfter(() => { this.emit('resize'); });
  }

  finish(): void {
    if (this.#state === 'finished') return;
    clearTimeout(this.#settling);
    this.#settling = undefined;
    this.#closeBatch(true);
    clearTimeout(this.#gap);
    this.#target.off('resize', this.#onResize);
    if (this.#state === 'live') this.#out(asOne(stepBelow(this.#frame), true));
    this.#state = 'finished';
  }

  measureWith(measure: Measure): void {
    this.#measure = measure;
  }

  readWith(read: (frame: string, columns: number) => string): void {
    this.#read = read;
  }

  #look(): Window {
    const [columns, rows] = this.#target.getWindowSize?.() ?? [this.#target.columns, this.#target.rows];
    return { columns: Math.max(1, columns || 80), rows: Math.max(1, rows || 24) };
  }

  #out(bytes: string): void {
    if (bytes === '') return;
    this.#record?.(bytes);
    this.#target.write(bytes);
  }
}
