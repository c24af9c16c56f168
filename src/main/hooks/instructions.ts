import { dirname, relative } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { pathGlob } from '#lib/path-glob.ts';
import { isWithin } from '#lib/within.ts';
import type { Entry } from '#domain/entry.ts';
import type { ReminderBody } from '#domain/reminder.ts';
import type { Session } from '#domain/session.ts';
import { type Fields, fieldsOf, textOf } from '#hooks/answer.ts';
import type { HookDesk } from './desk.ts';

const NEVER = new AbortController().signal;
const KINDS: Readonly<Record<string, string>> = { user: 'User', project: 'Project', local: 'Local' };

/** Tells of instruction files that reminders have just brought along, each with what was imported into it. */
export async function tellInstructions(desk: HookDesk, reminders: readonly ReminderBody[], before: readonly Entry[], session: Session): Promise<void> {
  if (!desk.listens('InstructionsLoaded', session)) return;
  const since = before.findLastIndex(({ type }) => type === 'compaction') + 1;
  for (const { source, snapshot } of reminders) {
    if ((source !== 'memory' && source !== 'nested_memory') || !Array.isArray(snapshot)) continue;
    const toldIn = (log: readonly Entry[]): ReadonlySet<string> => new Set(log.flatMap((entry) => (entry.type === 'reminder' && entry.source === source ? filesIn(entry.snapshot) : [])));
    const known = toldIn(before.slice(since));
    const earlier = toldIn(before.slice(0, since));
    for (const file of snapshot.map((one: Json) => fieldsOf(one) ?? {})) {
      const path = textOf(file['path']);
      const kind = KINDS[textOf(file['scope']) ?? ''];
      // Notes are kept, not given.
      if (path === undefined || kind === undefined) continue;
      const globs = textsIn(file['when']);
      const reason = earlier.has(path) ? 'compact' : source === 'memory' ? 'session_start' : globs.length > 0 ? 'path_glob_match' : 'nested_traversal';
      const trigger = source === 'memory' ? undefined : triggerOf(path, globs, touched(reminders, before), desk.options.configuration.project);
      if (!known.has(path)) await tell(desk, session, reason, { file_path: path, memory_type: kind, ...(globs.length > 0 && { globs }), ...(trigger !== undefined && { trigger_file_path: trigger }) });
      for (const imported of textsIn(file['imports'])) if (!known.has(imported)) await tell(desk, session, 'include', { file_path: imported, memory_type: kind, parent_file_path: path });
    }
  }
}

async function tell(desk: HookDesk, session: Session, reason: string, fields: Fields): Promise<void> {
  await desk.hear('InstructionsLoaded', session, { names: [reason], fields: { ...fields, load_reason: reason } }, NEVER);
}

function textsIn(value: Json | undefined): readonly string[] {
  return (Array.isArray(value) ? value : []).filter((one): one is string => typeof one === 'string');
}

/** With what was imported into them. */
function filesIn(snapshot: Json): readonly string[] {
  return (Array.isArray(snapshot) ? snapshot : []).flatMap((one: Json) => [textOf(fieldsOf(one)?.['path']) ?? [], textsIn(fieldsOf(one)?.['imports'])].flat());
}

/** Files that the model was given or wrote, the newest first. */
function touched(reminders: readonly ReminderBody[], before: readonly Entry[]): readonly string[] {
  const earlier = before.toReversed().flatMap((entry) => (entry.type === 'toolResult' ? entry.result.files ?? [] : entry.type === 'reminder' ? entry.files ?? [] : []));
  return [...reminders.flatMap(({ files = [] }) => files), ...earlier].map(({ path }) => path);
}

/** The file for which an instruction file began to hold, as far as it can be told: one that fits its globs, or that lies below its folder. */
function triggerOf(path: string, globs: readonly string[], files: readonly string[], project: string): string | undefined {
  const folder = dirname(path).replace(/\/\.(?:claude|pinion|agents)(?:\/.*)?$/, '');
  if (globs.length === 0) return files.find((file) => file !== path && isWithin(folder, file));
  const fits = globs.flatMap((glob) => pathGlob(glob) ?? []);
  return files.find((file) => [project, folder].some((base) => isWithin(base, file) && fits.some((fit) => fit(relative(base, file)))));
}
