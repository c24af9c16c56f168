import { cutToBytes } from '#lib/text.ts';
import { oneLine } from '#lib/names.ts';
import { compactionOf, excludedOf } from '#domain/folds.ts';
import type { Entry } from '#domain/entry.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

/** A skill's text as the model was given it. */
interface Invoked {
  readonly name: string;
  readonly text: string;
}

/** UTF-8 bytes that one token is taken to be, as where caps are kept. */
const BYTES_PER_TOKEN = 3;
const EACH = 5000 * BYTES_PER_TOKEN;
const ALL = 25_000 * BYTES_PER_TOKEN;

/**
 * After a compaction: what the skills said that were in use before, as they said it then. The log has their texts, so that a
 * resumed session says the same.
 */
export default defineSource<readonly Invoked[]>({
  id: 'invoked_skills', on: ['prompt', 'step'], threads: 'all', cadence: 'once', limits: { ms: 1000, tokens: 26_000 },
  observe({ log }) {
    if (compactionOf(log) === undefined) return absent;
    const invoked = beforeCompaction(log);
    return invoked.length === 0 ? absent : invoked;
  },
  keep: (now) => now.slice(0, 20).map(({ name }) => oneLine(name, 80)),
  revive: () => undefined,
  full: (now) => {
    const texts: string[] = [];
    const left: string[] = [];
    let room = ALL;
    for (const { name, text } of now) {
      const shown = cutToBytes(text, Math.min(EACH, room));
      if (room < EACH && shown !== text) left.push(oneLine(name, 80));
      else texts.push(`## ${oneLine(name)}\n${shown}${shown === text ? '' : `\n[cut: the first ${Buffer.byteLength(shown)} of ${Buffer.byteLength(text)} bytes]`}`);
      room -= Buffer.byteLength(shown);
    }
    return [
      'Skills that were loaded before the summary, the newest first, as they read then. This is history: steps that they tell of may be done already.',
      ...texts, ...(left.length > 0 ? [`[left out for length: ${left.slice(0, 20).join(', ')}${left.length > 20 ? ' and more' : ''}]`] : []),
    ].join('\n\n');
  },
});

/** Newest first, each skill once. What was rewound, left out or is still open as the prompt is not among them. */
function beforeCompaction(log: readonly Entry[]): readonly Invoked[] {
  const end = log.findLastIndex(({ type }) => type === 'compaction');
  const compaction = log[end];
  const standing: Entry[] = [];
  const excluded = excludedOf(log);
  for (const entry of log.slice(0, end)) {
    if (entry.type === 'rewind') standing.length = Math.max(0, standing.findIndex(({ id }) => id === entry.to) + 1) || standing.length;
    else standing.push(entry);
  }
  const asked = new Map<string, string>();
  const found = new Map<string, Invoked>();
  for (const entry of standing) {
    const one = invokedIn(entry, asked);
    const open = compaction?.type === 'compaction' && compaction.openPrompt === entry.id;
    if (one === undefined || excluded.has(entry.id) || open) continue;
    found.delete(one.name);
    found.set(one.name, one);
  }
  return [...found.values()].reverse();
}

/** `asked` gathers which skill each call of the Skill tool names. */
function invokedIn(entry: Entry, asked: Map<string, string>): Invoked | undefined {
  if (entry.type === 'assistant') {
    for (const block of entry.content) {
      if (block.type === 'tool_use' && block.name === 'Skill') asked.set(block.id, nameIn(block.input));
    }
  }
  if (entry.type === 'prompt' && entry.skill !== undefined) return { name: entry.skill.name, text: entry.text };
  if (entry.type !== 'toolResult' || entry.tool !== 'Skill' || entry.result.kind !== 'ok') return undefined;
  const text = entry.result.content.find((part) => part.type === 'text')?.text;
  return text === undefined ? undefined : { name: asked.get(entry.callId) ?? 'skill', text };
}

function nameIn(input: unknown): string {
  const name = typeof input === 'object' && input !== null && 'skill' in input ? input.skill : undefined;
  return typeof name === 'string' ? name.trim().replace(/^\//, '') : 'skill';
}
