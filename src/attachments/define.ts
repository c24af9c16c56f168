import { isDeepStrictEqual } from 'node:util';
import type { Json } from '#lib/brand.ts';
import type { Part } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { stepsSince } from '#domain/folds.ts';
import type { Form, Moment, ReminderBody, SourceId } from '#domain/reminder.ts';
import type { FileTouch } from '#domain/tool.ts';
import { absent, type Absent, type StoredBefore, type World } from '#domain/world.ts';
import { cap } from './cap.ts';
import { due, type Cadence } from './policy.ts';

export interface SourceLimits {
  /** Milliseconds until a look counts as failed. */
  readonly ms: number;
  /** Tokens (about) that one reminder may take; what is beyond is cut, with a line that says so. */
  readonly tokens: number;
}

const LIMITS: SourceLimits = { ms: 1000, tokens: 2000 };

/** What a source says: text, or parts where media stand between. An empty list speaks without words (it delivers `userTexts`). */
export type Words = string | readonly Part[];

interface Common<S> {
  /** Names the kind in settings, in `/context` and in the log. */
  readonly id: string;
  readonly on: readonly Moment[];
  /** `main`: not asked in sub-agents. */
  readonly threads: 'all' | 'main';
  readonly limits?: Partial<SourceLimits>;
  /** Speaks only where the settings name it in `remindersOn`. */
  readonly byDefault?: 'off';
  /** What the token cap cuts: text anywhere (default), or whole parts, where a part holds an envelope. */
  readonly capped?: 'text' | 'parts';
  /** Looks and changes nothing; `absent` when there is nothing to speak of. May throw: that costs this source's words only. */
  observe(world: World, signal: AbortSignal): S | Absent | Promise<S | Absent>;
  /** A stored snapshot taken back; undefined when it is none (another version wrote it) or what it points at is gone. */
  revive(stored: Json, world: World): S | undefined;
  /** Undefined where there is nothing that the model does not know already. */
  full(now: S): Words | undefined;
  /** Said once when it became absent. `before` is undefined when the stored snapshot cannot be read. */
  gone?(before: S | undefined, world: World): Words | undefined;
  /** Files of which these words give the model bytes, or which it is told are gone. `before` is there for a delta only. */
  files?(now: S, before: S | undefined): readonly FileTouch[];
  /** What was left out, for the user's eyes, one line each; the words say it too. */
  notes?(now: S, before: S | undefined): readonly string[];
  /** The user's own words that this reminder delivers. */
  userTexts?(now: S): readonly string[];
}

/** What is stored of a snapshot; without it the snapshot itself, which then must be JSON. */
type Kept<S> = [S] extends [Json] ? { keep?(now: S): Json } : { keep(now: S): Json };

/** What a cadence owes beside `full`: a source that lacks it does not compile. */
type Owed<S> =
  | { readonly cadence: 'once' | 'always' }
  | { readonly cadence: 'onChange'; /** Undefined where nothing in it is news. */ delta(before: S, now: S): Words | undefined }
  | { readonly cadence: { readonly everySteps: number; readonly fullEvery: number }; brief(now: S): Words | undefined; gone(before: S | undefined, world: World): Words | undefined }
  | { readonly cadence: { readonly sinceWrite: number; readonly between: number }; wrote(entry: Entry): boolean };

export type SourceSpec<S> = Common<S> & Kept<S> & Owed<S>;

/** What a source said, with what was left out for the user to know. */
export interface Spoken {
  readonly reminder: ReminderBody;
  readonly notes: readonly string[];
}

/** A source with its snapshot type closed over: what the shelf holds and the collector asks. */
export interface Source {
  readonly id: SourceId;
  readonly on: ReadonlySet<Moment>;
  readonly threads: 'all' | 'main';
  readonly cadence: Cadence;
  readonly limits: SourceLimits;
  readonly byDefault: 'on' | 'off';
  /** Looks, and says what is due, if anything. Rejects when the look fails. */
  speak(world: World, before: StoredBefore, signal: AbortSignal): Promise<Spoken | undefined>;
}

/** Turns one kind's definition into a source: the one place that knows both its snapshot type and the policy. */
export function defineSource<S>(spec: SourceSpec<S>): Source {
  const limits = { ...LIMITS, ...spec.limits };
  const id = spec.id as SourceId;
  return {
    id, limits, byDefault: spec.byDefault ?? 'on', on: new Set(spec.on), threads: spec.threads, cadence: spec.cadence,
    async speak(world, stored, signal) {
      const now = await spec.observe(world, signal);
      if (now === absent) return farewell(spec, world, stored, limits);
      const snapshot = keep(spec, now);
      const { before, revived } = recall(spec, world, stored, snapshot);
      const form = due(spec.cadence, before, snapshot, 'wrote' in spec ? stepsSince(world.log, (entry) => spec.wrote(entry)) : 0);
      if (form === undefined) return undefined;
      const earlier = form === 'delta' ? revived : undefined;
      const words = wordsOf(spec, form, now, earlier);
      if (words === undefined) return undefined;
      const said = speech(id, world.moment, form, words, snapshot, limits, spec.capped);
      const files = spec.files?.(now, earlier) ?? [];
      const userTexts = spec.userTexts?.(now) ?? [];
      return {
        reminder: { ...said.reminder, ...(files.length > 0 && { files }), ...(userTexts.length > 0 && { userTexts }) },
        notes: [...spec.notes?.(now, earlier) ?? [], ...said.notes],
      };
    },
  };
}

function keep<S>(spec: SourceSpec<S>, now: S): Json {
  return spec.keep === undefined ? now as Json : spec.keep(now);
}

/** A snapshot equal to the present one needs no reviving: nothing is going to be reckoned from it. */
function recall<S>(spec: SourceSpec<S>, world: World, stored: StoredBefore, now: Json): { before: StoredBefore; revived: S | undefined } {
  if (stored.kind !== 'sent' || stored.gone || isDeepStrictEqual(stored.snapshot, now)) return { before: stored, revived: undefined };
  const revived = spec.revive(stored.snapshot, world);
  return revived === undefined
    ? { before: { kind: 'lost', stepsAgo: stored.stepsAgo, times: stored.times }, revived }
    : { before: stored, revived };
}

function wordsOf<S>(spec: SourceSpec<S>, form: Form, now: S, before: S | undefined): Words | undefined {
  if (form === 'delta' && 'delta' in spec && before !== undefined) return spec.delta(before, now);
  if (form === 'brief' && 'brief' in spec) return spec.brief(now);
  return spec.full(now);
}

function farewell<S>(spec: SourceSpec<S>, world: World, stored: StoredBefore, limits: SourceLimits): Spoken | undefined {
  if (stored.kind !== 'sent' || stored.gone || spec.gone === undefined) return undefined;
  const words = spec.gone(spec.revive(stored.snapshot, world), world);
  return words === undefined ? undefined : speech(spec.id as SourceId, world.moment, 'gone', words, null, limits, spec.capped);
}

function speech(source: SourceId, moment: Moment, form: Form, words: Words, snapshot: Json, limits: SourceLimits, how: 'text' | 'parts' = 'text'): Spoken {
  const said: readonly Part[] = typeof words === 'string' ? [{ type: 'text', text: words }] : words;
  const { parts, leftOut } = cap(said, limits.tokens, how);
  return { reminder: { type: 'reminder', moment, source, form, parts, snapshot }, notes: leftOut === undefined ? [] : [leftOut] };
}
