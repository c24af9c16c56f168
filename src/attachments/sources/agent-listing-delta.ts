import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import type { Json } from '#lib/brand.ts';
import { cutToLength } from '#lib/text.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

/** What each type of sub-agent is for, by its name. */
type Listing = Readonly<Record<string, string>>;

const LONGEST_NAME = 64;
const LONGEST = 240;
/** Digits of a description's hash: enough to see that it changed. */
const KEPT = 8;

/** Which types of sub-agents there are, and when to use each. Later only what came, went or is told otherwise. */
export default defineSource<Listing>({
  id: 'agent_listing_delta', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange', limits: { tokens: 3000 },
  async observe({ tools, agents }, signal) {
    if (!tools.has('Task')) return absent;
    const types = await agents.types(signal);
    return types.length === 0 ? absent : Object.fromEntries(types.map(({ name, description }) => [oneLine(name, LONGEST_NAME), cutToLength(oneLine(description, 1000), LONGEST)]));
  },
  keep: (now) => Object.fromEntries(Object.entries(now).map(([name, what]) => [name, keptAs(what)])),
  revive: (stored) => (isListing(stored) ? stored : undefined),
  full: (now) => ['Types of sub-agents (Task):', ...linesOf(now)].join('\n'),
  delta: (before, now) => {
    const news = Object.fromEntries(Object.entries(now).filter(([name, what]) => before[name] !== keptAs(what)));
    const gone = Object.keys(before).filter((name) => !(name in now));
    if (Object.keys(news).length === 0 && gone.length === 0) return undefined;
    return ['Types of sub-agents (Task), changed:', ...linesOf(news), ...gone.map((name) => `- ${name}: there is none any more`)].join('\n');
  },
  gone: () => 'There are no sub-agents any more.',
});

function linesOf(listing: Listing): readonly string[] {
  return Object.entries(listing).map(([name, what]) => (what === '' ? `- ${name}` : `- ${name}: ${what}`));
}

function keptAs(what: string): string {
  return sha256(what).slice(0, KEPT);
}

function isListing(stored: Json): stored is Listing {
  return stored !== null && typeof stored === 'object' && !Array.isArray(stored) && Object.values(stored).every((value) => typeof value === 'string');
}
