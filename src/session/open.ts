import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '#lib/errors.ts';
import { count, wellFormed } from '#lib/text.ts';
import { type PidLock, takeLock } from '#lib/pid-lock.ts';
import type { Entry } from '#domain/entry.ts';
import { LOG_VERSION, type LogHead, openWriter, readLog } from './file.ts';
import { type Home, sessionFolder } from './home.ts';
import { LogSession } from './session.ts';

export interface OpenSession {
  readonly session: LogSession;
  readonly file: string;
  /** What the user should know of the opening: lines that were skipped, a fork. */
  readonly notices: readonly string[];
  /** Why entries cannot be written at present (disk full …); undefined while all is well. */
  unsaved(): string | undefined;
  /** Gives the lock back. */
  close(): void;
}

export interface Place {
  readonly home: Home;
  readonly cwd: string;
  readonly branch?: string;
}

/** A new session. Its file is made with the first entry, so that a start without a word leaves nothing behind. */
export function newSession(place: Place, entries: readonly Entry[] = [], forkOf?: string, id: string = randomUUID()): OpenSession {
  const file = join(sessionFolder(place.home, place.cwd), `${id}.jsonl`);
  const head: LogHead = {
    type: 'session', version: LOG_VERSION, id, cwd: place.cwd, at: new Date().toISOString(),
    ...(place.branch !== undefined && { branch: place.branch }), ...(forkOf !== undefined && { forkOf }),
  };
  const opened = record(id, file, entries, [JSON.stringify(head), ...entries.map((entry) => JSON.stringify(entry))], []);
  if (entries.length > 0) opened.flush();
  return opened;
}

/**
 * Opens a stored session to go on with it. While another process has it open, a copy under a new id is made and said.
 * Throws a UserError for a log of a newer version.
 */
export function resumeSession(file: string, place: Place): OpenSession {
  const { head, entries, skipped } = readLog(file);
  const damaged = damage(skipped);
  const lock = lockFor(file);
  const id = head?.id ?? fileId(file);
  if (lock === 'taken') {
    const fork = newSession(place, entries, id);
    return { ...fork, notices: [...damaged, 'This session is open in another process: going on in a copy of it.'] };
  }
  return record(id, file, entries, [], damaged, lock);
}

/** A new session that begins as a copy of a stored one, which stays as it is. Throws a UserError for a log of a newer version. */
export function forkSession(file: string, place: Place, id?: string): OpenSession {
  const { head, entries, skipped } = readLog(file);
  return { ...newSession(place, entries, head?.id ?? fileId(file), id), notices: damage(skipped) };
}

function damage(skipped: number): readonly string[] {
  return skipped === 0 ? [] : [`${count(skipped, 'line')} of this session's log could not be read and ${skipped === 1 ? 'was' : 'were'} left out.`];
}

/** The log of a thread of its own (a sub-agent's), in a given file: gone on with where it is there. Throws a UserError while another process has it open. */
export function openThread(file: string, id: string, place: Place): OpenSession {
  if (!existsSync(file)) {
    const head: LogHead = { type: 'session', version: LOG_VERSION, id, cwd: place.cwd, at: new Date().toISOString(), ...(place.branch !== undefined && { branch: place.branch }) };
    return record(id, file, [], [JSON.stringify(head)], []);
  }
  const { head, entries } = readLog(file);
  const lock = lockFor(file);
  if (lock === 'taken') throw new UserError(`its log is open in another process (${file})`);
  return record(head?.id ?? id, file, entries, [], [], lock);
}

/** Where no lock can be written no record can be either: the session goes on unsaved, and says so at its first entry. */
function lockFor(file: string): PidLock | 'taken' | undefined {
  try {
    return takeLock(lockOf(file)) ?? 'taken';
  } catch {
    return undefined;
  }
}

const lockOf = (file: string): string => `${file}.lock`;
const fileId = (file: string): string => file.slice(file.lastIndexOf('/') + 1).replace(/\.jsonl$/, '');

function record(id: string, file: string, entries: readonly Entry[], first: readonly string[], notices: readonly string[], taken?: PidLock): OpenSession & { flush(): void } {
  let lock = taken;
  let unsaved: string | undefined;
  let before = first;
  const writer = openWriter(file);
  const write = (records: readonly string[]): void => {
    if (lock === undefined) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      lock = takeLock(lockOf(file));
    }
    for (const text of [...before, ...records]) unsaved = writer.write(text);
    before = [];
  };
  const keep = (records: readonly string[]): void => {
    try {
      write(records);
    } catch (error) {
      unsaved = error instanceof Error ? error.message : String(error);
      before = [...before, ...records];
    }
  };
  return {
    session: new LogSession(id, entries, (entry) => { keep([wellFormed(JSON.stringify(entry))]); }),
    file,
    notices,
    flush: () => { keep([]); },
    unsaved: () => unsaved,
    close: () => {
      writer.close();
      lock?.release();
      lock = undefined;
    },
  };
}

/** The log of a session id: one of this directory, else one of any other. Undefined when there is none. */
export function sessionFile(place: Place, id: string): string | undefined {
  if (!/^[\w-]+$/.test(id)) return undefined;
  const folders = [sessionFolder(place.home, place.cwd), ...foldersIn(place.home.sessions)];
  return folders.map((folder) => join(folder, `${id}.jsonl`)).find((file) => existsSync(file));
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
