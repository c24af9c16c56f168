import { open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { UserError } from '#lib/errors.ts';
import { cutToLength } from '#lib/text.ts';
import type { Entry } from '#domain/entry.ts';
import type { SessionSummary } from '#domain/session.ts';
import { decodeEntry } from './decode.ts';
import { decodeHead } from './file.ts';
import { type Home, sessionFolder } from './home.ts';

/** Enough for the head and the first prompt of nearly every session; a list of thousands must not read whole files. */
const HEAD_BYTES = 64 * 1024;
const AT_ONCE = 10;
const FIRST_WORDS = 120;

/** Stored sessions that hold a prompt, a pin, a todo or an option: those of `cwd` first, newest first in each group. Files that cannot be read are left out. */
export async function listSessions(home: Home, cwd: string): Promise<readonly SessionSummary[]> {
  const own = sessionFolder(home, cwd);
  const folders = (await names(home.sessions)).map((name) => join(home.sessions, name));
  const files = (await Promise.all(folders.map(async (folder) => (await names(folder)).filter((name) => name.endsWith('.jsonl')).map((name) => join(folder, name))))).flat();
  const summaries: SessionSummary[] = [];
  for (let from = 0; from < files.length; from += AT_ONCE) {
    const some = await Promise.all(files.slice(from, from + AT_ONCE).map(summarise));
    summaries.push(...some.filter((summary): summary is SessionSummary => summary !== undefined && !(summary instanceof UserError)));
  }
  const isOwn = (summary: SessionSummary): boolean => summary.file.startsWith(`${own}/`);
  return summaries.sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)) || b.modifiedMs - a.modifiedMs);
}

/** The newest session of a directory, for `-c`. Throws a UserError when a newer version of the program wrote it. */
export async function newestSession(home: Home, cwd: string): Promise<SessionSummary | undefined> {
  const own = sessionFolder(home, cwd);
  const files = (await names(own)).filter((name) => name.endsWith('.jsonl')).map((name) => join(own, name));
  const dated = await Promise.all(files.map(async (file) => ({ file, ms: (await stat(file).catch(() => undefined))?.mtimeMs ?? 0 })));
  for (const { file } of dated.sort((a, b) => b.ms - a.ms)) {
    const summary = await summarise(file);
    // Whoever wants the newest one is not served by the one before it.
    if (summary instanceof UserError) throw summary;
    if (summary !== undefined) return summary;
  }
  return undefined;
}

async function names(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}

const KEPT: ReadonlySet<Entry['type']> = new Set(['attach', 'option', 'shell', 'queued']);

async function summarise(file: string): Promise<SessionSummary | UserError | undefined> {
  try {
    const { size, mtimeMs } = await stat(file);
    const lines = (await beginning(file)).split('\n');
    const head = decodeHead(lines[0] ?? '');
    const entries = lines.slice(1).map((line) => decodeEntry(line));
    const prompt = entries.find((entry) => entry?.type === 'prompt');
    // What was pinned, set, run or queued before the first prompt is something to go on with.
    const holds = prompt !== undefined || entries.some((entry) => entry !== undefined && KEPT.has(entry.type));
    // A first prompt beyond the part that was read: the session is real, its first words are not at hand.
    if (!holds && (head === undefined || size <= HEAD_BYTES)) return undefined;
    return {
      id: head?.id ?? basename(file, '.jsonl'), file, cwd: head?.cwd ?? '', modifiedMs: mtimeMs, bytes: size,
      firstWords: cutToLength((prompt?.type === 'prompt' ? prompt.shown ?? prompt.text : '').replace(/\s+/g, ' ').trim(), FIRST_WORDS),
      ...(head?.branch !== undefined && { branch: head.branch }),
    };
  } catch (error) {
    return error instanceof UserError ? error : undefined;
  }
}

async function beginning(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await handle.close();
  }
}
