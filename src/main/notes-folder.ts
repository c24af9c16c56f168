import { resolve } from 'node:path';
import { notesFolder } from '#session/home.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';

/** Folder of the notes of this project; undefined where none are kept. */
export function notesFolderOf(place: Place, configuration: Configuration): string | undefined {
  const { autoMemory, autoMemoryDirectory } = configuration.settings();
  if (!autoMemory) return undefined;
  return autoMemoryDirectory === undefined ? notesFolder(place.home, configuration.project) : resolve(configuration.project, autoMemoryDirectory.replace(/^~(?=\/|$)/, place.userHome));
}
