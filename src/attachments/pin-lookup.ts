import { stat } from 'node:fs/promises';
import picomatch from 'picomatch';
import { sha256 } from '#lib/hash.ts';
import { fsPath, oneLine } from '#lib/names.ts';
import { FILE_CONTENTS_LIMIT_BYTES, type PinTarget, type StoredAttachment } from '#domain/attachment.ts';
import type { PinLookup, PinOptions } from '#domain/command.ts';
import type { PathLookup, PathPort } from '#domain/documents.ts';
import type { Entry } from '#domain/entry.ts';
import { attachmentsOf } from '#domain/folds.ts';
import type { BlobPort } from '#domain/ports.ts';
import type { PinView } from '#domain/world.ts';
import type { CommandPins, CommandRunner } from './pin-commands.ts';

interface Doors {
  readonly paths: PathPort;
  readonly blobs: BlobPort;
  readonly cwd: string;
  readonly log: () => readonly Entry[];
  readonly run?: CommandRunner;
}

type StoredFile = Extract<StoredAttachment, { readonly kind: 'file' }>;
interface Found { readonly target: PinTarget; readonly label: string; readonly note?: string }

const RANGE = /^(?<path>.+?)(?:#L?|:)(?<from>[1-9]\d{0,8})(?:-L?(?<to>[1-9]\d{0,8}))?$/;

/** What the user wants to pin, as an entry to append; or one line that says why not. */
export async function lookUpPin(written: string, options: PinOptions, doors: Doors, view: (stored: StoredFile) => Promise<PinView>, runNow: CommandPins['runNow']): Promise<PinLookup> {
  const text = written.trim().replace(/^file:/, '');
  const memory = memoryOf(text, doors.log());
  if (memory !== undefined) return memory;
  if (options.snapshot && options.pathOnly) return refuse('--snapshot and --path exclude each other: pin the contents or the path.');
  const found = text.startsWith('!') ? findCommand(text.slice(1).trim(), doors) : await findPath(unquote(text), doors);
  if (typeof found === 'string') return refuse(found);
  if (options.pathOnly && found.target.type !== 'file') return refuse('--path is for files.');
  const live: StoredFile = { kind: 'file', id: `file:${found.label}`, form: options.pathOnly ? 'path' : 'live', whole: options.whole, target: found.target };
  if (!options.snapshot) return pinned(live, found, options.pathOnly ? undefined : await cutNote(live));
  const now = found.target.type === 'command' ? await runNow(live, found.target.command, new AbortController().signal) : await view(live);
  if (now.text === undefined || (found.target.type === 'command' && now.note !== undefined)) return refuse(`${found.label} cannot be frozen: ${now.note ?? 'there is no text to freeze'}.`);
  if (now.media.length > 0) return refuse(`${found.label} cannot be frozen: only text can. Pin it without --snapshot.`);
  const snapshot = doors.blobs.put(Buffer.from(now.text));
  if (snapshot === undefined) return refuse(`${found.label} cannot be frozen: its text is too large to keep, or the disk is full.`);
  return pinned({ ...live, form: 'snapshot', snapshot }, found);
}

function pinned(attachment: StoredFile, { label, note }: Found, more?: string): PinLookup {
  const notes = [note, more].filter((line) => line !== undefined).join('; ');
  return { ok: true, id: attachment.id, kind: 'file', label, entry: { type: 'attach', attachment, by: 'user' }, ...(notes !== '' && { note: notes }) };
}

function refuse(message: string): PinLookup {
  return { ok: false, message };
}

function memoryOf(text: string, log: readonly Entry[]): PinLookup | undefined {
  const note = /^note\s+(?<text>\S.*)$/s.exec(text)?.groups?.['text'];
  const named = /^memory:(?<slug>\S+)\s+(?<text>\S.*)$/s.exec(text)?.groups;
  const body = note ?? named?.['text'];
  if (body === undefined) return undefined;
  const slug = named?.['slug'] ?? freeSlug(body, log);
  const id = `memory:${slug}`;
  return { ok: true, id, kind: 'memory', label: `memory: ${slug}`, entry: { type: 'attach', attachment: { kind: 'memory', id, slug, text: body }, by: 'user' } };
}

/** From the first words; a number behind it where another memory bears the name. */
function freeSlug(text: string, log: readonly Entry[]): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g)?.slice(0, 6).join('-').slice(0, 48);
  const slug = words ?? sha256(text).slice(0, 8);
  const taken = new Map(attachmentsOf(log).flatMap((at) => (at.kind === 'memory' ? [[at.slug, at.text] as const] : [])));
  let free = slug;
  for (let n = 2; taken.has(free) && taken.get(free) !== text; n += 1) free = `${slug}-${n}`;
  return free;
}

function findCommand(command: string, doors: Doors): Found | string {
  if (command === '') return 'What command? Write /pin !git status, for example.';
  if (doors.run === undefined) return 'Commands cannot be pinned here.';
  return { target: { type: 'command', command }, label: `!${command}` };
}

async function findPath(text: string, doors: Doors): Promise<Found | string> {
  if (text === '') return 'What is to be pinned? A path, path#10-40, a folder, a glob, "!command", or "note" and a text.';
  const literal = await doors.paths.lookUp(text, doors.cwd);
  if (literal.kind !== 'missing' || literal.denied) return targetOf(literal);
  const range = RANGE.exec(text)?.groups;
  const from = Number(range?.['from']);
  const to = Number(range?.['to'] ?? from);
  const ranged = range?.['path'] === undefined ? undefined : await doors.paths.lookUp(range['path'], doors.cwd);
  if (ranged !== undefined && ranged.kind !== 'missing') {
    return ranged.kind === 'file' ? targetOf(ranged, { from: Math.min(from, to), to: Math.max(from, to) }) : `${oneLine(ranged.label)} is no file: lines cannot be pinned of it.`;
  }
  if (picomatch.scan(text).isGlob) {
    return text.startsWith('/') || text.startsWith('~') || text.split('/').includes('..') ? `A glob is matched below ${oneLine(doors.cwd)}; "${oneLine(text)}" leads out of it.` : { target: { type: 'glob', pattern: text }, label: text };
  }
  return `No such file or folder: ${oneLine(text)}`;
}

function targetOf(found: PathLookup, lines?: { readonly from: number; readonly to: number }): Found | string {
  if (found.denied) return `${oneLine(found.label)} cannot be pinned: a permission rule denies reading it.`;
  const note = found.outside ? { note: `lies outside the workspace (${oneLine(found.real)})` } : {};
  if (found.kind === 'directory') return { target: { type: 'directory', path: found.real }, label: `${found.label.replace(/\/$/, '')}/`, ...note };
  if (found.kind !== 'file') return `${oneLine(found.label)} cannot be pinned: it is neither a file nor a folder.`;
  const label = lines === undefined ? found.label : `${found.label}#${lines.from}-${lines.to}`;
  return { target: { type: 'file', path: found.real, ...(lines !== undefined && { lines }) }, label, ...note };
}

async function cutNote({ whole, target }: StoredFile): Promise<string | undefined> {
  if (whole || target.type !== 'file' || target.lines !== undefined) return undefined;
  const { size } = await stat(fsPath(target.path));
  return size > FILE_CONTENTS_LIMIT_BYTES ? `text beyond ${FILE_CONTENTS_LIMIT_BYTES} of ${size} bytes is left out; --whole keeps it all in view` : undefined;
}

function unquote(text: string): string {
  return /^"(?<inner>[^"]+)"$/.exec(text)?.groups?.['inner'] ?? /^'(?<inner>[^']+)'$/.exec(text)?.groups?.['inner'] ?? text;
}
