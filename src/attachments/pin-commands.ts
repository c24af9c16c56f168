import { stripVTControlCharacters } from 'node:util';
import { withDeadline } from '#lib/deadline.ts';
import { messageOf } from '#lib/errors.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import { cutToBytes, wellFormed } from '#lib/text.ts';
import { FILE_CONTENTS_LIMIT_BYTES, type StoredAttachment } from '#domain/attachment.ts';
import type { BlobHash } from '#domain/content.ts';
import type { Entry, EntryId } from '#domain/entry.ts';
import type { BlobPort } from '#domain/ports.ts';
import type { PinView } from '#domain/world.ts';
import { keptText } from './words.ts';

export interface CommandOutput {
  /** Both pipes, in the order in which they came. */
  readonly output: string;
  /** Null when it was killed or timed out. */
  readonly exitCode: number | null;
}

/** Runs one command line to its end. May reject (refused, no shell): the pin then keeps what it had. */
export type CommandRunner = (command: string, signal: AbortSignal) => Promise<CommandOutput>;

interface Doors {
  readonly blobs: BlobPort;
  readonly log: () => readonly Entry[];
  readonly run?: CommandRunner;
}

type StoredFile = Extract<StoredAttachment, { readonly kind: 'file' }>;

/** What the last run gave: its text, and when; `failure` if a later run gave nothing. */
interface Ran {
  readonly text: string | undefined;
  readonly at: string;
  readonly failure?: string;
}

export interface CommandPins {
  readonly view: (stored: StoredFile, command: string, signal: AbortSignal) => Promise<PinView>;
  /** Runs it now, because the user has just asked for its output. */
  readonly runNow: (stored: StoredFile, command: string, signal: AbortSignal) => Promise<PinView>;
}

/** Milliseconds: within a turn, and when the user waits for the output. */
const RUN_MS = 7000;
const ASKED_MS = 60_000;

/**
 * Pinned commands: run once for each prompt, never for a prompt that was there when the session was opened, so that resuming
 * a session runs nothing. Between runs the last output stands.
 */
export function createCommandPins(doors: Doors): CommandPins {
  const opened = promptAtOpening(doors.log());
  const runs = new Map<string, { readonly prompt: EntryId | undefined; readonly ran: Promise<Ran> }>();
  const run = async (stored: StoredFile, command: string, ms: number, signal: AbortSignal): Promise<Ran> => {
    const earlier = await runs.get(stored.id)?.ran ?? saidBefore(doors, stored.id);
    const { run: runner } = doors;
    try {
      if (runner === undefined) throw new Error('commands cannot be run here');
      const { output, exitCode } = await withDeadline(ms, signal, (deadline) => runner(command, deadline));
      if (exitCode === null) throw new Error('it was ended before it was done');
      return { text: render(stored, command, output, exitCode), at: new Date().toISOString() };
    } catch (error) {
      return { text: earlier?.text, at: earlier?.at ?? '', failure: messageOf(error) };
    }
  };
  return {
    async view(stored, command, signal) {
      const prompt = lastPrompt(doors.log());
      if (prompt === opened) {
        const said = saidBefore(doors, stored.id);
        return viewOf(stored, command, said ?? { text: undefined, at: '', failure: 'runs with the next prompt' });
      }
      const last = runs.get(stored.id);
      if (last !== undefined && last.prompt === prompt) return viewOf(stored, command, await last.ran);
      const ran = run(stored, command, RUN_MS, signal);
      runs.set(stored.id, { prompt, ran });
      return viewOf(stored, command, await ran);
    },
    runNow: async (stored, command, signal) => viewOf(stored, command, await run(stored, command, ASKED_MS, signal)),
  };
}

function lastPrompt(log: readonly Entry[]): EntryId | undefined {
  return log.findLast(({ type }) => type === 'prompt')?.id;
}

/** A prompt that nothing follows yet is the one that is being answered now: pins may be made when it is first asked for them. */
function promptAtOpening(log: readonly Entry[]): EntryId | undefined {
  return lastPrompt(log.at(-1)?.type === 'prompt' ? log.slice(0, -1) : log);
}

/** What the model was last given of it, by this process or an earlier one. */
function saidBefore({ log, blobs }: Doors, id: string): Ran | undefined {
  const last = log().findLast((entry) => entry.type === 'reminder' && entry.source === 'pins');
  if (last?.type !== 'reminder' || !Array.isArray(last.snapshot)) return undefined;
  for (const pin of last.snapshot) {
    if (pin === null || typeof pin !== 'object' || pin.id !== id || typeof pin.blob !== 'string') continue;
    const text = keptText(blobs, pin.blob as BlobHash);
    if (text !== undefined) return { text, at: last.at };
  }
  return undefined;
}

/** An exit code other than 0 is part of the output: a failing test run is what the user wants in view. */
function render(stored: StoredFile, command: string, output: string, exitCode: number): string {
  const text = wellFormed(stripVTControlCharacters(output)).replace(/\r\n?/g, '\n').trimEnd();
  const shown = stored.whole ? text : cutToBytes(text, FILE_CONTENTS_LIMIT_BYTES);
  const cut = shown === text ? [] : [`[cut: ${Buffer.byteLength(shown)} of ${Buffer.byteLength(text)} bytes shown]`];
  const code = exitCode === 0 ? [] : [`[exit code ${exitCode}]`];
  return [`Output of "${oneLine(command)}":`, shown === '' ? '(no output)' : shown, ...cut, ...code].join('\n');
}

function viewOf(stored: StoredFile, command: string, { text, at, failure }: Ran): PinView {
  const kept = text === undefined || failure === undefined ? '' : `; the output is as of ${at.slice(0, 16).replace('T', ' ')} UTC`;
  return {
    id: stored.id, label: `!${command}`, text, media: [], files: [],
    hash: sha256(`${text ?? ''}\0${failure ?? ''}`) as BlobHash,
    ...(failure !== undefined && { note: `not run: ${failure}${kept}` }),
  };
}
