import { copyFileSync, existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { messageOf, UserError } from '#lib/errors.ts';
import { isWithin, realPathOf } from '#lib/within.ts';
import { addServer } from '#mcp/config/write.ts';
import { changeOwnSettings, changeProjectSettings } from '#session/write-settings.ts';
import { valueAt, withKey } from '#session/setting-keys.ts';
import type { ImportPlan, ImportTargets } from './import-plan.ts';

type Fields = Readonly<Record<string, Json>>;

/** What was written; what could not be, one line each. */
export interface Imported {
  readonly written: readonly string[];
  readonly problems: readonly string[];
  /** The settings as they were before. */
  readonly backup: string | undefined;
}

/** Writes a plan down. What fails costs its own part only. */
export async function applyImport(plan: ImportPlan, targets: ImportTargets, project: string): Promise<Imported> {
  const written: string[] = [];
  const problems: string[] = [];
  const attempt = async (what: string, task: () => Promise<void>): Promise<void> => {
    try {
      await task();
      written.push(what);
    } catch (error) {
      problems.push(messageOf(error));
    }
  };
  const wantsSettings = plan.settings.length + plan.rules.length > 0;
  const backup = wantsSettings && existsSync(targets.settings) ? `${targets.settings}.before-import` : undefined;
  if (wantsSettings) {
    await attempt(targets.settings, async () => {
      if (backup !== undefined) copyFileSync(targets.settings, backup);
      const change = (fields: Fields): Fields => withPlan(fields, plan);
      if (targets.scope === 'user') await changeOwnSettings(targets.settings, change);
      else await changeProjectSettings(project, 'settings.json', change);
    });
  }
  for (const { name, config } of plan.servers) await attempt(`server ${name} (${targets.servers.file})`, () => addServer(targets.servers, name, config));
  for (const { path, text } of plan.documents) await attempt(path, () => Promise.resolve().then(() => { writeNew(path, text, targets.folder); }));
  return { written, problems, backup: written.includes(targets.settings) ? backup : undefined };
}

function withPlan(fields: Fields, plan: ImportPlan): Fields {
  const set = plan.settings.reduce((now, { key, value }) => withKey(now, key, value), fields);
  return plan.rules.reduce<Fields>((now, { list, rule }) => {
    const before = valueAt(now, `permissions.${list}`);
    return withKey(now, `permissions.${list}`, [...(Array.isArray(before) ? before as readonly Json[] : []), rule]);
  }, set);
}

/** Never over a file that is there, and never through a link out of the folder. */
function writeNew(path: string, text: string, folder: string): void {
  const at = dirname(path);
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true || !isWithin(realPathOf(folder), realPathOf(at))) throw new UserError(`${path} is reached by a symbolic link, and is not written through it.`);
  mkdirSync(at, { recursive: true, mode: 0o755 });
  writeFileSync(path, text, { flag: 'wx', mode: 0o644 });
}
