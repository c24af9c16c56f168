import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { updateJson } from '#lib/atomic.ts';

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds an allow rule to the project's `.pinion/settings.local.json`, which is kept out of git. */
export async function keepAllowRule(project: string, rule: string): Promise<void> {
  const folder = join(project, '.pinion');
  await updateJson(join(folder, 'settings.local.json'), (now) => {
    const fields = isFields(now) ? now : {};
    const permissions = isFields(fields['permissions']) ? fields['permissions'] : {};
    const allow = Array.isArray(permissions['allow']) ? permissions['allow'] : [];
    return { ...fields, permissions: { ...permissions, allow: allow.includes(rule) ? allow : [...allow, rule] } };
  }, 0o644);
  const ignore = join(folder, '.gitignore');
  if (!existsSync(ignore)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(ignore, 'settings.local.json\n*.lock\n');
  }
}
