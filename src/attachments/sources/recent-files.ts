import { basename, dirname } from 'node:path';
import type { Entry } from '#domain/entry.ts';
import { conversationOf, planOf } from '#domain/folds.ts';
import type { Part } from '#domain/content.ts';
import type { FileTouch } from '#domain/tool.ts';
import { absent, type Loaded, type MemoryFile, type World } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { filePinsOf, instructionPaths, knownNow, mentioningText, nestedPaths } from '../known.ts';
import { pathLine } from '../words.ts';

/** Files that are given again, and bytes of each: about 5,000 tokens of code. */
const MOST_FILES = 5;
const MOST_BYTES = 15_000;
/** Files that are tried: some are gone, or no text. */
const MOST_TRIED = 15;

interface Recent {
  readonly shown: readonly Loaded[];
  /** Paths of those that are too large. */
  readonly large: readonly string[];
}

/**
 * After a compaction: the files that the model had read, written or been given last, as they are on disk now. They count as read. Not what has
 * another voice: pins, mentions, instruction files, kept notes, skills, the plan.
 */
export default defineSource<Recent>({
  id: 'recent_files', on: ['prompt', 'step'], threads: 'all', cadence: 'once', limits: { ms: 3000, tokens: 27_000 }, capped: 'parts',
  async observe(world, signal) {
    const paths = await recentIn(world, signal);
    const shown: Loaded[] = [];
    const large: string[] = [];
    for (const path of paths.slice(0, MOST_TRIED)) {
      if (shown.length + large.length >= MOST_FILES) break;
      const loaded = await world.files.load(path, MOST_BYTES, signal);
      signal.throwIfAborted();
      const [touch] = loaded.files;
      if (touch === undefined || loaded.parts.length === 0 || loaded.parts.some(({ type }) => type === 'media')) continue;
      if (touch.how === 'partial') large.push(path);
      else shown.push(loaded);
    }
    return shown.length + large.length === 0 ? absent : { shown, large };
  },
  keep: ({ shown, large }) => ({ shown: pathsOf(shown), large: [...large] }),
  revive: (stored) => (stored !== null && typeof stored === 'object' ? { shown: [], large: [] } : undefined),
  full: ({ shown, large }): readonly Part[] => [
    { type: 'text', text: 'Files that you had read or written before the summary, as they are now:' },
    ...shown.flatMap(({ parts }) => parts),
    ...(large.length === 0 ? [] : [{ type: 'text' as const, text: `Too large to be given again: ${large.map(pathLine).join(', ')}` }]),
  ],
  files: ({ shown }) => shown.flatMap(({ files }) => files.map((touch): FileTouch => ({ ...touch, how: 'read' }))),
});

function pathsOf(shown: readonly Loaded[]): string[] {
  return shown.flatMap(({ files }) => files.map(({ path }) => path));
}

/** Real paths, the last touched first. None but in the first moments after a compaction. */
async function recentIn(world: World, signal: AbortSignal): Promise<readonly string[]> {
  const { log } = world;
  const at = log.findLastIndex(({ type }) => type === 'compaction');
  if (at === -1 || log.slice(at).some(({ type }) => type === 'assistant')) return [];
  const before = log.slice(0, at);
  const text = mentioningText(world);
  const mentioned = text.includes('@') && world.thread === 'main' ? await world.mentions.named(text) : [];
  const plan = planOf(log)?.file;
  const others = new Set([
    ...knownNow(log).keys(), ...filePinsOf(log).map(({ path }) => path), ...mentioned, ...instructionPaths(before), ...nestedPaths(before), ...(plan === undefined ? [] : [plan]),
  ]);
  const touched = touchedIn(before).filter((path) => !others.has(path));
  if (touched.length === 0) return [];
  const told = await world.memory.files(signal);
  const folders = told.flatMap(({ path, scope }) => (scope === 'notes' ? [dirname(path)] : []));
  const instructions = new Set([...told, ...await nestedNow(touched, [...knownNow(log).keys(), ...mentioned], world, signal)].map(({ path }) => path));
  return touched.filter((path) => !folders.includes(dirname(path)) && !instructions.has(path));
}

/** What this very moment brings along as instructions, where one of the files may be that. */
async function nestedNow(touched: readonly string[], known: readonly string[], { memory }: World, signal: AbortSignal): Promise<readonly MemoryFile[]> {
  return touched.some((path) => /\.md$/i.test(path)) && known.length > 0 ? await memory.nested(known, signal) : [];
}

/** What a skill's call or an earlier compaction gave was not what the model was working on. */
function touchedIn(log: readonly Entry[]): readonly string[] {
  const touched = new Set<string>();
  const given = new Set<string>();
  for (const entry of conversationOf(log).toReversed()) {
    if (entry.type === 'toolResult' && entry.tool !== 'Skill') for (const { path, how } of (entry.result.files ?? []).toReversed()) if (LOOKED.has(how)) touched.add(path);
    if (entry.type !== 'reminder' || (entry.source !== 'at_mentioned_files' && entry.source !== 'recent_files')) continue;
    for (const { path } of (entry.files ?? []).toReversed()) (entry.source === 'recent_files' ? given : touched).add(path);
  }
  return [...touched, ...given].filter((path) => !/^(?:AGENTS|CLAUDE)(?:\.local)?\.md$/.test(basename(path)));
}

const LOOKED: ReadonlySet<FileTouch['how']> = new Set(['read', 'partial', 'write', 'mention']);
