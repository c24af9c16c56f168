// One set-up of a checkout at a time.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

const LOOK_AGAIN_MS = 200;

/**
 * Runs the task while this process alone holds the lock file. Waits for a living holder (`onWait` is told once), takes over
 * from a dead one. Resolves with what the task resolves with.
 */
export async function alone(file, task, onWait) {
  const mine = JSON.stringify(holder());
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, mine);
  try {
    for (let waited = false; !take(draft, file); waited = true) {
      if (!waited) onWait();
      await new Promise((resolve) => { setTimeout(resolve, LOOK_AGAIN_MS); });
    }
  } finally {
    rmSync(draft, { force: true });
  }
  const release = () => { if (read(file) === mine) rmSync(file, { force: true }); };
  process.once('exit', release);
  try {
    return await task();
  } finally {
    process.off('exit', release);
    release();
  }
}

function take(draft, file) {
  const seen = read(file);
  if (seen !== undefined) {
    if (isAlive(seen)) return false;
    moveAside(file, seen);
  }
  return link(draft, file);
}

/** Moved before it is judged: of two processes that see the same dead lock, one moves it and the other finds it gone. */
function moveAside(file, dead) {
  const aside = `${file}.dead-${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (read(aside) !== dead) link(aside, file);
  rmSync(aside, { force: true });
}

function link(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function holder() {
  return { pid: process.pid, host: hostname(), started: startOf(process.pid) };
}

function isAlive(text) {
  let held;
  try {
    held = JSON.parse(text);
  } catch {
    return false;
  }
  if (held.host !== hostname()) return true;
  try {
    process.kill(held.pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  return held.started === startOf(held.pid);
}

/** Tells two processes apart that bore one number; empty where the system does not say. */
function startOf(pid) {
  const stat = read(`/proc/${pid}/stat`) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
