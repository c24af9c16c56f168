import { count } from '#lib/text.ts';
import { tokens as forPeople } from '#lib/numbers.ts';
import type { ContextView } from '#domain/command.ts';
import type { Entry } from '#domain/entry.ts';
import type { ModelFacts } from '#domain/model.ts';
import type { Fit } from '#domain/ports.ts';
import type { ModelRequest, Row } from '#domain/request.ts';
import { type Calibration, calibrate, type Measured, measuredIn } from './calibrate.ts';
import { scaleOf } from './models.ts';
import { type Piece, piecesOf } from './pieces.ts';
import { promptTokens } from './prices.ts';
import { type Counter, guessTokens, mostTokens } from './tokens.ts';

export interface MeterOptions {
  readonly counter: Counter;
  facts(): ModelFacts;
  /** From the settings: where to compact (tokens), and whether to before the window is full. */
  limits(): { readonly compactAt?: number; readonly autoCompact: boolean };
  /** What is pinned now, with the text that is said of each, to name those that do not fit. */
  pins?(): Promise<readonly { readonly label: string; readonly text: string | undefined }[]>;
}

/** The one account of what a request holds and weighs. Nothing here throws; where it cannot count, it guesses. */
export interface Meter {
  /** `estimated` is false when every token was measured by the API. */
  estimate(request: ModelRequest, log: readonly Entry[]): Promise<{ readonly tokens: number; readonly estimated: boolean }>;
  /** As `estimate`, at once and without a tokenizer: measured where it was measured, guessed from characters where not. */
  glance(request: ModelRequest, log: readonly Entry[]): { readonly tokens: number; readonly estimated: boolean };
  /** Whether a request may be sent. Loads no tokenizer as long as the answer is certain without one. */
  fit(request: ModelRequest, log: readonly Entry[]): Promise<Fit>;
  /** One row for each thing that the request holds; they add up to the estimate. */
  describe(request: ModelRequest, log: readonly Entry[]): Promise<readonly Row[]>;
  contextView(request: ModelRequest, log: readonly Entry[]): Promise<ContextView>;
  /** Tokens of texts for the current model, as far as is known without a request. */
  weigh(texts: readonly string[]): Promise<readonly number[]>;
  /** Where compaction sets in, in tokens. */
  limit(): number;
}

const RESERVE = 32_000;
/** Room for what an estimate may be off. */
const SAFETY = 0.1;
const COMPACT_AT = 200_000;

export function createMeter(options: MeterOptions): Meter {
  const { counter } = options;
  const limit = (): number => limitOf(options.facts(), options.limits());
  const account = async (request: ModelRequest, log: readonly Entry[]): Promise<Account> => {
    const pieces = piecesOf(request, log);
    const counts = await counter.count(pieces.map(({ text }) => text));
    return accountOf(pieces.map((piece, at) => ({ piece, raw: (counts[at] ?? 0) + piece.fixed / scaleOf(request.model) })), request, log);
  };
  const weigh = async (texts: readonly string[]): Promise<readonly number[]> => {
    const scale = scaleOf(options.facts().id);
    return (await counter.count(texts)).map((raw) => Math.round(raw * scale));
  };
  return {
    limit,
    weigh,
    async estimate(request, log) {
      const { total, estimated } = await account(request, log);
      return { tokens: total, estimated };
    },
    glance(request, log) {
      const { guess, estimated } = boundOf(request, log);
      return { tokens: Math.round(guess), estimated };
    },
    async describe(request, log) {
      return (await account(request, log)).rows;
    },
    async fit(request, log) {
      const most = boundOf(request, log);
      if (most.bound <= limit()) return { tokens: Math.round(most.guess), limit: limit(), fits: true };
      const { total, rows } = await account(request, log);
      if (total <= limit()) return { tokens: total, limit: limit(), fits: true };
      const stuck = await stuckBy(rows, limit(), options, weigh);
      return { tokens: total, limit: limit(), fits: false, ...(stuck === undefined ? {} : { stuck }) };
    },
    async contextView(request, log) {
      const { rows, total, measured, error } = await account(request, log);
      return { rows, estimated: total, measured, error, window: options.facts().window, limit: limit(), model: request.model };
    },
  };
}

/** The window less the reserve for output and a margin; the user's threshold where that is lower. */
function limitOf({ window, maxOutput }: ModelFacts, { compactAt, autoCompact }: ReturnType<MeterOptions['limits']>): number {
  const room = Math.floor((window - Math.min(maxOutput, RESERVE, Math.floor(window / 4))) * (1 - SAFETY));
  return autoCompact ? Math.min(room, compactAt ?? COMPACT_AT) : room;
}

/** An upper bound of a request, and a guess, from characters and the last measured reply alone. */
function boundOf(request: ModelRequest, log: readonly Entry[]): { readonly bound: number; readonly guess: number; readonly estimated: boolean } {
  const anchor = measuredIn(request, log).at(-1);
  const start = anchor === undefined ? 0 : promptTokens(anchor.usage) + anchor.usage.output;
  const scale = scaleOf(request.model);
  let bound = start;
  let guess = start;
  let estimated = false;
  for (const { at, text, fixed } of piecesOf(request, log)) {
    if (anchor !== undefined && at < anchor.to) continue;
    bound += mostTokens(text) + fixed;
    guess += guessTokens(text) * scale + fixed;
    estimated = true;
  }
  return { bound, guess, estimated };
}

interface Weighed {
  readonly piece: Piece;
  /** In tokens of our own tokenizer. */
  readonly raw: number;
}

interface Account {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly estimated: boolean;
  readonly measured: number | undefined;
  readonly error: number | undefined;
}

/**
 * What was measured is shown as measured: the last reply's prompt and its own output are shared out among their blocks, and
 * only what was added since is estimated.
 */
function accountOf(weighed: readonly Weighed[], request: ModelRequest, log: readonly Entry[]): Account {
  const measured = measuredIn(request, log);
  const countedTo = (blocks: number): number => weighed.reduce((sum, { piece, raw }) => (piece.at < blocks ? sum + raw : sum), 0);
  const calibration = calibrate(measured, request.model, countedTo);
  const last = measured.at(-1);
  const stretch = (from: number, to: number, known: number | undefined): Weighed[] => {
    const within = weighed.filter(({ piece }) => piece.at >= from && piece.at < to);
    const counted = within.reduce((sum, { raw }) => sum + raw, 0);
    const factor = known === undefined || known === 0 || counted === 0 ? calibration.factor : known / counted;
    return within.map(({ piece, raw }) => ({ piece, raw: raw * factor }));
  };
  const end = Number.POSITIVE_INFINITY;
  const exact = last === undefined ? stretch(-1, end, undefined)
    : [...stretch(-1, last.from, promptTokens(last.usage)), ...stretch(last.from, last.to, last.usage.output), ...stretch(last.to, end, undefined)];
  const rows = rowsOf(exact);
  return {
    rows,
    total: rows.reduce((sum, { tokens }) => sum + tokens, 0),
    estimated: last === undefined || exact.some(({ piece }) => piece.at >= last.to),
    measured: last === undefined ? undefined : promptTokens(last.usage),
    error: errorOf(measured, calibration, countedTo),
  };
}

/** How far the estimate was off that could be made just before the last measured reply. */
function errorOf(measured: readonly Measured[], { factorBefore }: Calibration, countedTo: (blocks: number) => number): number | undefined {
  const last = measured.at(-1);
  if (last === undefined) return undefined;
  const anchor = measured.at(-2);
  const known = anchor === undefined ? 0 : promptTokens(anchor.usage) + anchor.usage.output;
  const estimate = known + (countedTo(last.from) - (anchor === undefined ? 0 : countedTo(anchor.to))) * factorBefore;
  return estimate / promptTokens(last.usage) - 1;
}

/** Whole numbers that add up to the rounded whole; pieces of one answer share a row. */
function rowsOf(weighed: readonly Weighed[]): Row[] {
  const rows: { row: Omit<Row, 'tokens'>; tokens: number }[] = [];
  let exact = 0;
  let given = 0;
  for (const { piece, raw } of weighed) {
    exact += raw;
    const tokens = Math.round(exact) - given;
    given += tokens;
    const { text: _text, fixed: _fixed, at: _at, ...row } = piece;
    const last = rows.at(-1);
    if (last !== undefined && row.group === 'answers' && last.row.group === 'answers' && last.row.entry === row.entry) last.tokens += tokens;
    else rows.push({ row, tokens });
  }
  return rows.map(({ row, tokens }) => ({ ...row, tokens }));
}

/** Which pins alone do not fit beside system text and tools: no compaction helps against them. */
async function stuckBy(rows: readonly Row[], limit: number, { pins }: MeterOptions, weigh: Meter['weigh']): Promise<string | undefined> {
  const views = await pins?.() ?? [];
  if (views.length === 0) return undefined;
  const sizes = await weigh(views.map(({ text }) => text ?? ''));
  const fixed = rows.reduce((sum, { group, tokens }) => (group === 'system' || group === 'tools' ? sum + tokens : sum), 0);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (fixed + all <= limit) return undefined;
  const largest = views.map(({ label }, at) => ({ label, size: sizes[at] ?? 0 })).sort((a, b) => b.size - a.size);
  const named = largest.slice(0, 3).map(({ label, size }) => `${label} (~${forPeople(size)})`).join(', ');
  const more = largest.length > 3 ? ` and ${count(largest.length - 3, 'more', 'more')}` : '';
  return `The pins alone have about ${forPeople(all)} tokens, and ${forPeople(Math.max(0, limit - fixed))} would fit: ${named}${more}. /unpin ${largest[0]?.label ?? ''} would free ${forPeople(largest[0]?.size ?? 0)}.`;
}
