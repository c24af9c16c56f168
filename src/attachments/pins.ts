import { DeadlineError, withDeadline } from '#lib/deadline.ts';
import { messageOf } from '#lib/errors.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import type { StoredAttachment } from '#domain/attachment.ts';
import type { PinLookup, PinOptions } from '#domain/command.ts';
import type { BlobHash } from '#domain/content.ts';
import type { DocumentPort, PathPort } from '#domain/documents.ts';
import type { Entry } from '#domain/entry.ts';
import { attachmentsOf } from '#domain/folds.ts';
import type { BlobPort } from '#domain/ports.ts';
import type { PinPort, PinView } from '#domain/world.ts';
import { MemoryAttachment } from './kinds/memory.ts';
import { createCommandPins, type CommandRunner } from './pin-commands.ts';
import { viewDirectory, viewFile, viewGlob } from './pin-files.ts';
import { lookUpPin } from './pin-lookup.ts';
import { keptText } from './words.ts';

/** What pins need of the outside. */
export interface PinDoors {
  readonly paths: PathPort;
  readonly documents: DocumentPort;
  readonly blobs: BlobPort;
  /** The session's directory: globs are matched below it, labels are looked up from it. */
  readonly cwd: string;
  readonly log: () => readonly Entry[];
  /** Files below `cwd` that are not ignored, relative, with `/`: what a glob is matched against. */
  readonly files: (signal: AbortSignal) => Promise<readonly string[]>;
  /** Runs a command that the user pinned, as `!` would; without it commands cannot be pinned. */
  readonly run?: CommandRunner;
}

export interface Pins extends PinPort {
  /**
   * Looks up what the user wants to pin: `src/a.ts`, `src/a.ts#10-40`, `docs/`, `src/**\/*.ts`, `!git status`, `note any text`,
   * `memory:slug any text`. `cwd` is the directory from which a relative path is measured. Changes nothing; never throws.
   */
  lookUp(text: string, options: PinOptions, cwd?: string): Promise<PinLookup>;
}

/** Milliseconds that one pin may take; it costs itself only, so all of them together stay within the source's ten seconds. */
const FILE_MS = 5000;
const COMMAND_MS = 8000;

/** The pins of one session. */
export function createPins(doors: PinDoors): Pins {
  const commands = createCommandPins(doors);
  const view = async (stored: StoredAttachment, signal: AbortSignal): Promise<PinView> => {
    const ms = stored.kind === 'file' && stored.target.type === 'command' ? COMMAND_MS : FILE_MS;
    try {
      return await withDeadline(ms, signal, (deadline) => viewOf(stored, doors, commands, deadline));
    } catch (error) {
      if (signal.aborted) throw error;
      return unreadable(stored.id, labelOf(stored), error instanceof DeadlineError ? `took longer than ${ms / 1000} s` : messageOf(error));
    }
  };
  return {
    views: (signal) => Promise.all(pinsOf(doors.log()).map((stored) => view(stored, signal))),
    async lookUp(text, options, cwd = doors.cwd) {
      try {
        return await lookUpPin(text, options, { ...doors, cwd }, (stored) => view(stored, new AbortController().signal), commands.runNow);
      } catch (error) {
        return { ok: false, message: messageOf(error) };
      }
    },
  };
}

/** Memories, then files; the todo list speaks for itself. */
function pinsOf(log: readonly Entry[]): readonly StoredAttachment[] {
  const all = attachmentsOf(log);
  const kindOf = (at: StoredAttachment): string => (at.kind === 'text' ? at.as : at.kind);
  return [...all.filter((at) => kindOf(at) === 'memory'), ...all.filter((at) => kindOf(at) === 'file')];
}

async function viewOf(stored: StoredAttachment, doors: PinDoors, commands: ReturnType<typeof createCommandPins>, signal: AbortSignal): Promise<PinView> {
  const label = labelOf(stored);
  if (stored.kind === 'memory') return fixed(stored.id, label, new MemoryAttachment(stored.slug, stored.text).render());
  if (stored.kind === 'text') return fixed(stored.id, label, stored.text);
  if (stored.kind === 'todo') return unreadable(stored.id, label, 'is the todo list');
  if (stored.form === 'path') return fixed(stored.id, label, `Pinned path: ${oneLine(label)}`);
  if (stored.form === 'snapshot') {
    const text = keptText(doors.blobs, stored.snapshot?.hash ?? null);
    return text === undefined ? unreadable(stored.id, label, 'its frozen text is no longer kept: pin it again') : fixed(stored.id, label, text);
  }
  switch (stored.target.type) {
    case 'file': return await viewFile(stored, stored.target, doors, signal);
    case 'directory': return await viewDirectory(stored, stored.target.path, doors);
    case 'glob': return await viewGlob(stored, stored.target.pattern, doors, signal);
    case 'command': return await commands.view(stored, stored.target.command, signal);
  }
}

function labelOf(stored: StoredAttachment): string {
  return stored.kind === 'memory' ? `memory: ${stored.slug}` : stored.id.replace(/^file:/, '');
}

function fixed(id: string, label: string, text: string): PinView {
  return { id, label, text, media: [], hash: sha256(text) as BlobHash, files: [] };
}

function unreadable(id: string, label: string, note: string): PinView {
  return { id, label, text: undefined, media: [], hash: sha256(`unreadable\0${note}`) as BlobHash, files: [], note };
}
