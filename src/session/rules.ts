import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { updateJson } from '#lib/atomic.ts';
import type { Json } from '#lib/brand.ts';
import { UserError } from '#lib/errors.ts';
import { realPathOf } from '#lib/within.ts';

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Adds an allow rule to the project's `.pinion/settings.local.json`, which is kept out of git. Throws a UserError rather than
 * write through a link, which could lead to any file of the user's, or over a file that cannot be read.
 */
export async function keepAllowRule(project: string, rule: string): Promise<void> {
  const folder = join(project, '.pinion');
  const file = join(folder, 'settings.local.json');
  if (realPathOf(file) !== join(realPathOf(project), '.pinion', 'settings.local.json')) throw new UserError(`${file} is reached by a symbolic link, and is not written through it.`);
  await updateJson(file, (now) => {
    if (now === undefined && existsSync(file)) throw new UserError(`${file} cannot be read as JSON, and is left as it is. Mend it, and rules can be kept in it.`);
    const fields = isFields(now) ? now : {};
    const permissions = isFields(fields['permissions']) ? fields['permissions'] : {};
    const allow = Array.isArray(permissions['allow']) ? permissions['allow'] : [];
    return { ...fields, permissions: { ...permissions, allow: allow.includes(rule) ? allow : [...allow, rule] } };
  }, 0o644);
  const ignore = join(folder, '.gitignore');
  if (lstatSync(ignore, { throwIfNoEntry: false }) === undefined) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(ignore, 'settings.local.json\n*.lock\n', { flag: 'wx' });
  }
}
