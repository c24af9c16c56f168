import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { updateJson } from '#lib/atomic.ts';
import type { Json } from '#lib/brand.ts';
import { messageOf, UserError } from '#lib/errors.ts';
import { realPathOf } from '#lib/within.ts';

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Changes a settings file of the user's own. Throws a UserError where it cannot be understood or written; it is then left as it was. */
export async function changeOwnSettings(file: string, change: (fields: Fields) => Fields): Promise<void> {
  await rewrite(file, change, 0o600);
}

/**
 * Changes a settings file of the project; the local one is kept out of git. Throws a UserError rather than write through a link,
 * which could lead to any file of the user's, or over a file that cannot be understood.
 */
export async function changeProjectSettings(project: string, name: 'settings.json' | 'settings.local.json', change: (fields: Fields) => Fields): Promise<void> {
  const file = join(project, '.pinion', name);
  if (realPathOf(file) !== join(realPathOf(project), '.pinion', name)) throw new UserError(`${file} is reached by a symbolic link, and is not written through it.`);
  await rewrite(file, change, 0o644);
  const ignore = join(dirname(file), '.gitignore');
  if (name !== 'settings.local.json' || lstatSync(ignore, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(ignore, 'settings.local.json\n*.lock\n', { flag: 'wx' });
}

async function rewrite(file: string, change: (fields: Fields) => Fields, mode: number): Promise<void> {
  try {
    await updateJson(file, (now) => {
      if (!isFields(now) && existsSync(file)) throw new UserError(`${file} cannot be read as one JSON object, and is left as it is. Mend it, and settings can be written there.`);
      return change(isFields(now) ? now : {});
    }, mode);
  } catch (error) {
    throw error instanceof UserError ? error : new UserError(`${file} cannot be written: ${messageOf(error)}`);
  }
}
