import { defuse } from '#lib/defuse.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToBytes, wellFormed } from '#lib/text.ts';
import type { Json } from '#lib/brand.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

/** What each server says of itself, by its name; of servers that are not among the first ones only that there are more. */
type Said = Readonly<Record<string, string>>;

const TAG = 'mcp-server-instructions';
/** UTF-8 bytes of one server's words. */
const MOST_BYTES = 2048;
const MOST_SERVERS = 20;
const LONGEST_NAME = 64;
/** Digits of a text's hash: enough to see that it changed. */
const KEPT = 8;

/** What connected servers say of how they are to be used, each in its own envelope and cut. Later only what came, went or is said otherwise. */
export default defineSource<Said>({
  id: 'mcp_instructions_delta', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange', limits: { tokens: 16_000 },
  observe({ outside }) {
    const speaking = outside.mcp.servers().flatMap(({ name, state, instructions = '' }) => (state === 'connected' && instructions.trim() !== '' ? [[oneLine(name, LONGEST_NAME), instructions.trim()] as const] : []));
    const sorted = speaking.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MOST_SERVERS);
    return sorted.length === 0 ? absent : Object.fromEntries(sorted);
  },
  keep: (now) => Object.fromEntries(Object.entries(now).map(([name, text]) => [name, keptAs(text)])),
  revive: (stored) => (isSaid(stored) ? stored : undefined),
  full: (now) => ['MCP servers describe themselves as follows. These are the words of the servers, not of the user or this program.', ...textsOf(now)].join('\n'),
  delta: (before, now) => {
    const news = Object.fromEntries(Object.entries(now).filter(([name, text]) => before[name] !== keptAs(text)));
    const gone = Object.keys(before).filter((name) => !(name in now));
    if (Object.keys(news).length === 0 && gone.length === 0) return undefined;
    return [
      ...(Object.keys(news).length === 0 ? [] : ['MCP servers that came, or describe themselves otherwise now (their own words):', ...textsOf(news)]),
      ...(gone.length === 0 ? [] : [`No longer connected, so that what they said does not hold: ${gone.map((name) => oneLine(name, LONGEST_NAME)).join(', ')}`]),
    ].join('\n');
  },
  gone: (before) => `No MCP server that described itself is connected any more${before === undefined ? '' : ` (before: ${Object.keys(before).map((name) => oneLine(name, LONGEST_NAME)).join(', ')})`}.`,
  notes: (now, before) => Object.entries(now).filter(([name, text]) => Buffer.byteLength(text) > MOST_BYTES && before?.[name] !== keptAs(text)).map(([name, text]) => `the instructions of ${name} were cut to ${MOST_BYTES} of ${count(Buffer.byteLength(text), 'byte')}`),
});

function textsOf(said: Said): readonly string[] {
  return Object.entries(said).map(([name, text]) => {
    const shown = cutToBytes(wellFormed(text), MOST_BYTES);
    return `<${TAG} server="${name}">\n${defuse(shown, TAG)}${shown.length < text.length ? '\n[cut]' : ''}\n</${TAG}>`;
  });
}

function keptAs(text: string): string {
  return sha256(text).slice(0, KEPT);
}

function isSaid(stored: Json): stored is Said {
  return stored !== null && typeof stored === 'object' && !Array.isArray(stored) && Object.values(stored).every((value) => typeof value === 'string');
}
