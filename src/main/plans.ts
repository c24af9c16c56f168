import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { readSmallFile } from '#lib/small-file.ts';
import { isWithin, realPathOf } from '#lib/within.ts';
import type { KeptPlan } from '#domain/command.ts';
import { planOf } from '#domain/folds.ts';
import type { Session } from '#domain/session.ts';
import { protectedAs } from '#gate/protect.ts';

const LONGEST_SLUG = 40;
const LARGEST = 256 * 1024;

/** Of what decides what runs or is told later, the folders in which plans may lie. */
const FOR_PLANS = /^\.(?:pinion|claude)\/plans(?:\/|$)/;

/**
 * Where plans are kept: as the settings say (relative to the project, `~` for home), else with the program's own state. There
 * too where a folder of the project leads out of it by a link, or what lies in it decides what runs or is told later.
 */
export function plansFolder(setting: string | undefined, { project, userHome, own }: { readonly project: string; readonly userHome: string; readonly own: string }): string {
  if (setting === undefined || setting.trim() === '') return own;
  if (setting === '~' || setting.startsWith('~/')) return join(userHome, setting.slice(1));
  if (isAbsolute(setting)) return setting;
  const folder = resolve(project, setting);
  if (!isWithin(project, folder)) return folder;
  const inProject = isWithin(realPathOf(project), realPathOf(folder));
  const below = relative(project, folder);
  return inProject && (FOR_PLANS.test(below) || protectedAs(folder, project) === undefined) ? folder : own;
}

/**
 * Keeps a plan's text in a file and gives its real path. A plan that takes the place of one which was not approved has its file;
 * an approved one stays. Throws when it cannot be written.
 */
export function keepPlanIn(folder: string, text: string, session: Session): string {
  const before = planOf(session.log);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const real = realpathSync(folder);
  const again = before !== undefined && before.state !== 'approved' && dirname(before.file) === real && !isLink(before.file);
  const file = again ? before.file : freeName(real, text, session.id);
  writeFileAtomic.sync(file, `${text.trimEnd()}\n`, { mode: 0o600 });
  return file;
}

function freeName(folder: string, text: string, sessionId: string): string {
  const first = text.split('\n').find((line) => /[a-z0-9]/i.test(line)) ?? '';
  const slug = first.toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, LONGEST_SLUG).replace(/^-+|-+$/g, '') || 'plan';
  const base = `${slug}-${sessionId.replace(/[^A-Za-z0-9]/g, '').slice(0, 8)}`;
  for (let n = 1; ; n += 1) {
    const file = join(folder, `${base}${n === 1 ? '' : `-${n}`}.md`);
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return file;
  }
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** The newest plan as its file stands now; as it was laid before the user where the file is gone. */
export function planNow(session: Session): KeptPlan | undefined {
  const plan = planOf(session.log);
  if (plan === undefined) return undefined;
  const { file, state } = plan;
  try {
    return { file, state, text: readSmallFile(file, LARGEST).trimEnd() };
  } catch {
    return { file, state, text: plan.text };
  }
}
