import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessLine {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly name: string;
  readonly dead: boolean;
  /** Clock ticks since boot at its start: with the pid, unique. */
  readonly since: string;
}

/** Each command has a mark of its own in this variable: what it starts has it too, wherever it goes. */
export const MARK = 'PINION_TASK';

/**
 * Living processes that come from `leader`: its group and session, and whatever descends from it, a session of its own
 * included. With the `mark` of its environment also those that have left all of this. Linux only; elsewhere nothing is known
 * beyond the group.
 */
export function familyOf(leader: number, mark?: string): readonly ProcessLine[] {
  const all = processes();
  const bears = mark === undefined ? (): boolean => false : (pid: number): boolean => hasMark(pid, mark);
  const family = new Set(all.filter(({ group, session, pid, dead }) => group === leader || session === leader || pid === leader || (!dead && bears(pid))).map(({ pid }) => pid));
  for (let grown = true; grown;) {
    grown = false;
    for (const { pid, parent } of all) {
      if (family.has(parent) && !family.has(pid)) {
        family.add(pid);
        grown = true;
      }
    }
  }
  return all.filter(({ pid, dead }) => family.has(pid) && !dead);
}

/** The environment with which a process was started; that of other users cannot be read. */
function hasMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${MARK}=${mark}`);
  } catch {
    return false;
  }
}

function processes(): readonly ProcessLine[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((name) => processOf(Number(name)) ?? []);
}

function processOf(pid: number): ProcessLine | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/** `pid (name) state ppid pgrp session …`, start as the 22nd; the name may hold anything, parentheses too. */
function parseStat(line: string): ProcessLine | undefined {
  const match = /^(\d+) \((.*)\) (.+)$/s.exec(line);
  const [state, parent, group, session, ...rest] = match?.[3]?.split(' ') ?? [];
  if (match === null || state === undefined) return undefined;
  return { pid: Number(match[1]), name: match[2] ?? '', dead: state === 'Z' || state === 'X', parent: Number(parent), group: Number(group), session: Number(session), since: rest[15] ?? '' };
}

/** Whether that very process still lives, not a later one of its number. */
export function livesOn(member: ProcessLine): boolean {
  const now = processOf(member.pid);
  return now !== undefined && !now.dead && now.since === member.since;
}

/** Whether any process is left in a group; dead ones that nobody has collected yet do not count where that can be seen. */
export function groupLives(leader: number): boolean {
  if (process.platform === 'linux') return processes().some(({ group, dead }) => group === leader && !dead);
  try {
    process.kill(-leader, 0);
    return true;
  } catch {
    return false;
  }
}

/** Sends a signal to a process or (negative) group that may be gone already. */
export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    return;
  }
}
