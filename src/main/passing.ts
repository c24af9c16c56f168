import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Place } from './place.ts';

/** A place whose sessions, and all that belongs to them, lie in a folder that is gone at the end. */
export function passingPlace(place: Place): { readonly place: Place; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'pinion-'));
  const remove = (): void => { rmSync(folder, { recursive: true, force: true, maxRetries: 2 }); };
  process.once('exit', remove);
  const inIt = (name: string): string => join(folder, name);
  const home = { ...place.home, sessions: inIt('sessions'), blobs: inIt('blobs'), teams: inIt('teams'), tasks: inIt('tasks'), plans: inIt('plans') };
  return {
    place: { ...place, home },
    remove() {
      remove();
      process.off('exit', remove);
    },
  };
}
