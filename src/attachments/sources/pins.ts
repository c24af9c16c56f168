import type { Json } from '#lib/brand.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import type { BlobHash, Part } from '#domain/content.ts';
import { type FileTouch, MISSING_HASH } from '#domain/tool.ts';
import { absent, type PinView, type World } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { instructionPaths, knownNow, nestedPaths } from '../known.ts';
import { bodyOf, changeOf, inViewAsInstructions, joined, keepText, keptText } from '../words.ts';

interface SaidPin {
  readonly id: string;
  readonly label: string;
  /** Over what counts as its state: the bytes inside the cut. */
  readonly hash: BlobHash;
  readonly text: string | undefined;
  readonly blob: BlobHash | null;
  readonly note: string | undefined;
  readonly media: readonly Part[];
  readonly files: PinView['files'];
  /** The last line that is shown of a file that was cut. */
  readonly upTo: number | null;
  /** The model knows it as it is now from elsewhere: every byte from its own write or because it read the file since, or that it is gone. */
  readonly own: boolean;
}

/** What is pinned: whole at first, then what came, changed and went. The todo list is a source of its own. */
export default defineSource<readonly SaidPin[]>({
  id: 'pins', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange',
  // A pin is what must not be lost: the fit of the whole request decides whether it is too large, not this cap.
  limits: { ms: 10_000, tokens: 250_000 },
  async observe(world, signal) {
    const views = await world.pins.views(signal);
    if (views.length === 0) return absent;
    const instructions = new Set((await world.memory.files(signal)).map(({ path }) => path));
    return views.map((view) => saidPin(instructions.has(view.files[0]?.path ?? '') ? pointer(view) : view, world));
  },
  keep: (now) => now.map(({ id, label, hash, blob, note, upTo }) => ({ id, label, hash, blob, note: note ?? null, ...(upTo !== null && { upTo }) })),
  revive: (stored, world) => {
    if (!Array.isArray(stored)) return undefined;
    const pins = stored.map((pin) => revivePin(pin, world));
    return pins.every((pin) => pin !== undefined) ? pins : undefined;
  },
  full: (now) => joined([{ type: 'text', text: 'Pinned by the user; each change is told here:' }, ...now.flatMap(whole)]),
  delta(before, now) {
    const went = before.filter(({ id }) => !now.some((pin) => pin.id === id)).map(({ label }): Part => ({ type: 'text', text: `No longer pinned: ${oneLine(label)}` }));
    const parts = [...news(before, now).flatMap(({ pin, was }) => (was === undefined ? whole(pin) : changed(was, pin))), ...went];
    // What the model knows from elsewhere is kept without words: the next change is told against it.
    const known = now.some((pin) => pin.own && before.some(({ id, hash }) => id === pin.id && hash !== pin.hash));
    return parts.length === 0 && !known ? undefined : joined(parts);
  },
  gone: () => 'Nothing is pinned any more.',
  files: (now, before) => (before === undefined ? now : news(before, now).map(({ pin }) => pin)).flatMap(({ files }) => files.map((touch) => (touch.how === 'partial' || touch.how === 'heard' ? touch : { ...touch, how: 'pin' as const }))),
  notes: (now, before) => (before === undefined ? now : news(before, now).map(({ pin }) => pin)).flatMap(({ label, note }) => (note === undefined ? [] : [`${oneLine(label)}: ${note}`])),
});

/** The model has an instruction file in view as one: told twice, each change would be told twice as well. */
function pointer(view: PinView): PinView {
  const text = inViewAsInstructions(view.label);
  return { id: view.id, label: view.label, text, media: [], hash: sha256(text) as BlobHash, files: [] };
}

function saidPin(view: PinView, world: World): SaidPin {
  const known = knownNow(world.log);
  const own = view.files.length > 0 && view.files.every(({ path, hash }) => isKnown(known.get(path), hash) || goesAsInstructions(path, hash, world));
  const { id, label, hash, text, media, files, note } = view;
  const cut = view.files.some(({ how }) => how === 'partial') && !/#\d+-\d+$/.test(label);
  const upTo = cut && text !== undefined ? bodyOf(text).split('\n').length - 1 : null;
  return { id, label, hash, text, media, files, note, own, upTo, blob: text === undefined ? null : keepText(world.blobs, text) };
}

/** Of an instruction file it is told in its own place that it went. */
function goesAsInstructions(path: string, hash: BlobHash, { log }: World): boolean {
  return hash === MISSING_HASH && (instructionPaths(log).includes(path) || nestedPaths(log).includes(path));
}

function isKnown(touch: FileTouch | undefined, hash: BlobHash): boolean {
  return touch?.hash === hash && touch.how !== 'partial' && touch.how !== 'heard';
}

function revivePin(stored: Json, world: World): SaidPin | undefined {
  if (stored === null || typeof stored !== 'object' || !('id' in stored)) return undefined;
  const { id, label, hash, blob, note } = stored;
  if (typeof id !== 'string' || typeof label !== 'string' || typeof hash !== 'string' || (blob !== null && typeof blob !== 'string')) return undefined;
  const kept = blob as BlobHash | null;
  return { id, label, hash: hash as BlobHash, blob: kept, text: keptText(world.blobs, kept), note: typeof note === 'string' ? note : undefined, media: [], files: [], upTo: null, own: false };
}

/** Pins that came, and those whose state is another one than the model was given. */
function news(before: readonly SaidPin[], now: readonly SaidPin[]): readonly { pin: SaidPin; was: SaidPin | undefined }[] {
  return now.map((pin) => ({ pin, was: before.find(({ id }) => id === pin.id) })).filter(({ pin, was }) => {
    if (was === undefined) return true;
    // What was said to be gone and is back is told whatever the model knew of it before.
    if (was.text === undefined && pin.text !== undefined) return true;
    return !pin.own && (pin.hash !== was.hash || pin.label !== was.label || (pin.text === undefined && pin.note !== was.note));
  });
}

function whole(pin: SaidPin): readonly Part[] {
  const label = oneLine(pin.label);
  if (pin.text === undefined && pin.media.length === 0) return [{ type: 'text', text: `Pinned: ${label} (${pin.note ?? 'cannot be read now'})` }];
  return [{ type: 'text', text: withNote(pin.text ?? `Pinned: ${label}`, pin.note) }, ...pin.media];
}

function changed(was: SaidPin, pin: SaidPin): readonly Part[] {
  if (pin.text === undefined || was.text === undefined || pin.media.length > 0) return whole(pin);
  const label = oneLine(pin.label);
  const change = changeOf(`Pinned ${label}`, was.text, pin.text, Number(/#(\d+)-\d+$/.exec(pin.label)?.[1] ?? 1));
  if (change !== undefined) return [{ type: 'text', text: withNote(change, pin.note) }];
  return [{ type: 'text', text: `Pinned ${label}: ${pin.note ?? 'as before'}` }];
}

function withNote(text: string, note: string | undefined): string {
  return note === undefined ? text : `${text}\n[${note}]`;
}
