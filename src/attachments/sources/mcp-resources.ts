import type { MentionedResource } from '#domain/mcp.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { mentioningText } from '../known.ts';
import { unsaid } from '../words.ts';

/** Lines about what is missing, of all resources. */
const MOST_NOTES = 40;

/**
 * Resources of MCP servers that a prompt, or words queued while the model worked, mention as `@server:uri`. What cannot be read is
 * one line each, and costs no other.
 */
export default defineSource<readonly MentionedResource[]>({
  id: 'mcp_resources', on: ['prompt', 'step'], threads: 'all', cadence: 'always', limits: { ms: 10_000, tokens: 60_000 }, capped: 'parts',
  async observe(world, signal) {
    const text = mentioningText(world);
    if (!text.includes('@')) return absent;
    const mentioned = await world.outside.mcp.mentioned(text, signal);
    return mentioned.length === 0 ? absent : mentioned;
  },
  keep: (now) => now.map(({ server, uri }) => `${server}:${uri}`.slice(0, 100)).slice(0, 15),
  revive: () => undefined,
  full: (now) => {
    const parts = now.flatMap((one) => one.parts);
    const notes = now.flatMap((one) => one.notes);
    const more = [...unsaid(notes.slice(0, MOST_NOTES), parts), ...(notes.length > MOST_NOTES ? [`[${notes.length - MOST_NOTES} more notes left out]`] : [])];
    return [...parts, ...(more.length === 0 ? [] : [{ type: 'text' as const, text: more.join('\n') }])];
  },
  notes: (now) => now.flatMap(({ notes }) => notes),
});
