import { messageOf } from '#lib/errors.ts';
import { TICK_MS } from './activity-line.ts';
import { composerLines } from './composer-lines.ts';
import type { Composer, ComposerDoors } from './composer-store.ts';
import type { Controller, InputEvent, ScreenEvent, ViewAction } from './contract.ts';
import { type Dialog, isDialogEvent, pressDialog } from './dialog.ts';
import type { Measure } from './editor-layout.ts';
import { createGuard, type DialogGuard } from './guard.ts';
import type { Highlighter } from './highlight.ts';
import { createHistory, type Printed } from './history.ts';
import type { KeyTable } from './keys.ts';
import { dialogRoom, drawLive } from './live.ts';
import type { Pen } from './pen.ts';
import { blank, reduce, type Screen, type ViewEvent } from './screen.ts';
import { createFrames, createStore, type Frames, type Store } from './store.ts';
import type { Theme } from './theme.ts';

/** One picture of the whole screen: what is printed for good, and the lines below it, fewer than the window's rows. */
export interface Picture {
  readonly printed: readonly Printed[];
  readonly above: readonly string[];
  /** Empty while a dialog has its place. */
  readonly composer: readonly string[];
  readonly below: readonly string[];
}

export interface DeskOptions {
  readonly controller: Controller;
  readonly composer: Composer;
  readonly keys: KeyTable;
  readonly theme: Theme;
  readonly highlight: Highlighter;
  readonly measure: Measure;
  /** Columns and rows of the window now. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly suspend: () => void;
  readonly redraw: () => void;
  /** Text out to the person's editor and back. */
  readonly openEditor: (text: string) => Promise<string | undefined>;
  /** A file in the person's editor; the line tells why it could not be opened. */
  readonly openFile: (file: string) => Promise<string | undefined>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Deltas are gathered this long before they are drawn. */
const FRAME_MS = 25;
/** Columns left free at the right: a terminal may show a sign wider than it was reckoned. */
const MARGIN = 1;
const LEAST_COLUMNS = 8;

/** Where events and keys come together: keeps the screen's state, sends keys where they belong, and makes pictures. */
export class Desk {
  readonly pictures: Store<Picture> = createStore<Picture>({ printed: [], above: [], composer: [], below: [] });
  readonly #options: DeskOptions;
  readonly #history = createHistory();
  readonly #pump: Frames;
  readonly #drawComposer: () => readonly string[];
  readonly #leaveComposer: () => void;
  #screen: Screen = blank;
  #ticker: NodeJS.Timeout | undefined;
  readonly #guard: DialogGuard;
  #waitsForColours = false;
  #closed = false;

  constructor(options: DeskOptions) {
    this.#options = options;
    this.#pump = createFrames(() => { this.draw(); }, FRAME_MS);
    this.#drawComposer = createComposerDrawer(options);
    const { composer, controller, now } = options;
    this.#guard = createGuard({ now, toComposer: (event) => { composer.input(event); }, toDialog: (event) => { this.#toDialog(event); } });
    // Someone who typed before the screen was there types still.
    if (composer.get().editor.text !== '') this.#guard.typed();
    composer.connect(this.#doors());
    this.#leaveComposer = composer.subscribe(this.#pump.promptly);
    controller.history().then((lines) => { if (!this.#closed) composer.send({ type: 'history', lines }); }, () => undefined);
  }

  dispatch(event: ScreenEvent): void {
    if (this.#closed) return;
    if (isDialogEvent(event) && this.#screen.dialogs.length === 0) this.#guard.opened(event.type === 'ask', event.type !== 'queue' && this.#options.composer.get().editor.text !== '');
    // A replay begins anew: what came just before it has not been printed yet.
    if (event.type === 'replay') this.#layOut();
    this.#change(event);
    this.#loadColours(event);
    if (event.type === 'busy' || event.type === 'idle') this.#options.composer.send({ type: 'busy', busy: event.type === 'busy' });
    if (event.type === 'edit') this.#edit(event.id, event.file);
    if (event.type === 'draft' || event.type === 'insert') this.#options.composer.send({ type: event.type, text: event.text });
    this.#tick();
    this.#pump.soon();
  }

  input(event: InputEvent): void {
    if (this.#closed) return;
    if (this.#screen.dialogs.length > 0) this.#guard.take(event);
    else {
      this.#guard.typed();
      this.#options.composer.input(event);
    }
  }

  #toDialog(event: InputEvent): void {
    const { composer, keys } = this.#options;
    const [dialog] = this.#screen.dialogs;
    const action = event.type === 'key' ? keys.action('composer', event) : undefined;
    if (dialog === undefined) composer.input(event);
    else if (action === 'toggleTodos' || action === 'toggleTranscript' || action === 'redraw' || action === 'suspend') this.#view(action);
    else this.#press(dialog, event);
    this.#pump.promptly();
  }

  /** Makes a picture at once. */
  draw(): void {
    const { size, now } = this.#options;
    const { rows } = size();
    const { printed, more } = this.#waitsForColours ? { printed: this.pictures.get().printed, more: false } : this.#history.take(this.#screen, this.#pen());
    const composer = this.#screen.dialogs.length > 0 && !this.#guard.holds() ? [] : this.#drawComposer().slice(0, Math.max(1, rows - 2));
    const live = drawLive(this.#screen, Math.max(0, rows - 1 - composer.length), this.#pen(), now());
    this.pictures.set({ printed, above: [...live.above, ...live.dialog], composer, below: live.status });
    if (more) this.#pump.soon();
  }

  resized(): void {
    this.#options.composer.resize(this.#options.size().columns);
    this.#pump.promptly();
  }

  /** A last picture with all that is printed and nothing below; no timer is left. */
  close(): void {
    if (this.#closed) return;
    this.#leaveComposer();
    this.#guard.close();
    this.#change({ type: 'idle' });
    this.#tick();
    this.#pump.stop();
    this.pictures.set({ printed: this.#layOut(), above: [], composer: [], below: [] });
    this.#closed = true;
  }

  /** All that is finished, laid out at once. */
  #layOut(): readonly Printed[] {
    let { printed, more } = this.#history.take(this.#screen, this.#pen());
    while (more) ({ printed, more } = this.#history.take(this.#screen, this.#pen()));
    return printed;
  }

  #change(event: ScreenEvent | ViewEvent): void {
    this.#screen = reduce(this.#screen, event, this.#options.now());
  }

  #pen(): Pen {
    const { size, theme, highlight, keys } = this.#options;
    return { columns: Math.max(LEAST_COLUMNS, size().columns - MARGIN), theme, highlight, keys };
  }

  /** The spinner turns while something is under way, and no timer runs when nothing is. */
  #tick(): void {
    const busy = this.#screen.busySince !== undefined;
    if (busy && this.#ticker === undefined) this.#ticker = setInterval(this.#pump.soon, TICK_MS);
    if (busy || this.#ticker === undefined) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }

  /** Grammars are loaded with the first turn; a resumed session waits for them, as what is printed stays as it is. */
  #loadColours(event: ScreenEvent): void {
    if (event.type === 'replay' && event.entries.length > 0) this.#waitsForColours = true;
    else if (event.type !== 'busy') return;
    const coloured = (): void => {
      this.#waitsForColours = false;
      if (!this.#closed) this.#pump.soon();
    };
    this.#options.highlight.load().then(coloured, coloured);
  }

  #press(dialog: Dialog, event: InputEvent): void {
    const { keys, size, controller } = this.#options;
    const next = pressDialog(dialog, event, { keys, rows: dialogRoom(this.#screen, size().rows - 1), pen: this.#pen() });
    if ('dialog' in next) {
      this.#change({ type: 'dialog', dialog: next.dialog });
      return;
    }
    const { outcome } = next;
    this.#change({ type: 'settled', id: outcome.id });
    if (this.#screen.dialogs.length > 0) this.#guard.followed();
    if (outcome.type === 'answer') controller.answer(outcome.id, outcome.answer);
    else if (outcome.type === 'pick') controller.pick(outcome.id, outcome.item);
    else if (outcome.type === 'secret') controller.secret(outcome.id, outcome.text);
    else controller.chosen(outcome.id, outcome.choice);
  }

  #edit(id: number, file: string): void {
    const { openFile, controller } = this.#options;
    openFile(file).then((problem) => { controller.edited(id, problem); }, (error: unknown) => { controller.edited(id, messageOf(error)); });
  }

  #view(action: ViewAction): void {
    if (action === 'suspend') this.#options.suspend();
    else if (action === 'redraw') this.#options.redraw();
    else this.#change({ type: 'toggle', what: action === 'toggleTodos' ? 'todos' : 'expanded' });
    this.#pump.promptly();
  }

  #doors(): ComposerDoors {
    const { controller, openEditor } = this.#options;
    return {
      submit: (text) => { controller.submit(text); },
      interrupt: () => controller.interrupt(),
      cycleMode: () => { controller.cycleMode(); },
      takeBack: () => controller.takeBack(),
      queue: () => controller.queue(),
      background: () => controller.background(),
      completeFile: (query) => controller.completeFile(query),
      completeCommand: (line) => controller.completeCommand(line),
      exit: () => { controller.exit(); },
      view: (action) => { this.#view(action); },
      openEditor,
    };
  }
}

/** The composer's lines; the same list as long as nothing of it changed. */
function createComposerDrawer({ composer, size, theme, measure, keys }: DeskOptions): () => readonly string[] {
  let drawn: { readonly state: unknown; readonly columns: number; readonly rows: number; readonly lines: readonly string[] } | undefined;
  return () => {
    const state = composer.get();
    const { columns, rows } = size();
    if (drawn?.state !== state || drawn.columns !== columns || drawn.rows !== rows) {
      drawn = { state, columns, rows, lines: composerLines(state, { columns: Math.max(LEAST_COLUMNS, columns - MARGIN), rows, theme, measure, keys }) };
    }
    return drawn.lines;
  };
}
