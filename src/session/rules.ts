import type { Json } from '#lib/brand.ts';
import { changeProjectSettings } from './write-settings.ts';

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds an allow rule to the project's `.pinion/settings.local.json`, which is kept out of git. Throws a UserError where that cannot be. */
export async function keepAllowRule(project: string, rule: string): Promise<void> {
  await changeProjectSettings(project, 'settings.local.json', (fields) => {
    const permissions = isFields(fields['permissions']) ? fields['permissions'] : {};
    const allow = Array.isArray(permissions['allow']) ? permissions['allow'] : [];
    return { ...fields, permissions: { ...permissions, allow: allow.includes(rule) ? allow : [...allow, rule] } };
  });
}
