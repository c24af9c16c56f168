import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SHELL_FOLDER } from './process.ts';

const DAY_MS = 86_400_000;
/** Output of tasks is kept so long after it was last written to. */
const OUTPUT_DAYS = 14;

/** Removes output of tasks (in `folder`) that nobody wrote to for two weeks, and what killed programs left in the folder for temporary files. Never throws. */
export function sweepTasks(folder: string, now = Date.now(), temporary = tmpdir()): void {
  for (const session of namesIn(folder)) {
    const at = join(folder, session);
    for (const name of namesIn(at)) if (/^shell-\d+\.log(?:\.old)?$/.test(name)) removeOld(join(at, name), now - OUTPUT_DAYS * DAY_MS);
    quietly(() => { rmdirSync(at); });
  }
  for (const name of namesIn(temporary)) if (name.startsWith(SHELL_FOLDER)) removeOld(join(temporary, name), now - DAY_MS);
}

/** Of the user's own only: others write to the folder for temporary files too. */
function removeOld(path: string, before: number): void {
  quietly(() => {
    const { mtimeMs, uid } = lstatSync(path);
    if (mtimeMs < before && uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function quietly(does: () => void): void {
  try {
    does();
  } catch {
    return;
  }
}
