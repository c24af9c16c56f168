import { defineFold } from '#lib/fold.ts';
import type { BlobHash } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { MISSING_HASH } from '#domain/tool.ts';

/** A file that the session has to do with. `before`: of its bytes before the first of our writes, `none` where it was not there. */
export interface Touched {
  readonly path: string;
  readonly written: boolean;
  readonly hash: BlobHash;
  readonly before?: BlobHash | 'none';
}

/** Every file that was given to the model or written by one of our tools, by real path, the newest touch last. */
export const touchedOf = defineFold<Entry, ReadonlyMap<string, Touched>>(new Map(), (now, entry) => {
  const files = entry.type === 'toolResult' ? entry.result.files : entry.type === 'reminder' ? entry.files : undefined;
  if (files === undefined || files.length === 0) return now;
  const next = new Map(now);
  for (const { path, hash, how } of files) {
    const old = next.get(path);
    const writes = entry.type === 'toolResult' && (how === 'write' || how === 'heard');
    const before = old?.before ?? (writes && old?.written !== true ? beforeOf(old, entry.tool) : undefined);
    next.delete(path);
    next.set(path, { path, hash, written: old?.written === true || writes, ...(before !== undefined && { before }) });
  }
  return next;
});

/** What nobody had seen and Write has made was not there; what Edit changed unseen was, but nobody kept it. */
function beforeOf(old: Touched | undefined, tool: string): BlobHash | 'none' | undefined {
  if (old === undefined) return tool === 'Write' ? 'none' : undefined;
  return old.hash === MISSING_HASH ? 'none' : old.hash;
}

const LOOKING: ReadonlySet<string> = new Set(['Read', 'Glob', 'Grep', 'LSP', 'ToolSearch', 'TodoWrite', 'WebFetch', 'WebSearch', 'Skill', 'AskUserQuestion']);

/** Grows with whatever may have changed files: prompts (the user was at work meanwhile), and calls that do more than look. */
export const stirredOf = defineFold<Entry, number>(0, (now, entry) => (entry.type === 'prompt' || (entry.type === 'toolResult' && !LOOKING.has(entry.tool)) ? now + 1 : now));
