import type { Json } from '#lib/brand.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToLength } from '#lib/text.ts';
import type { SkillView } from '#domain/skills.ts';
import { absent, type World } from '#domain/world.ts';
import { defineSource } from '../define.ts';

/** A skill as the listing names it: one line, and what tells one state of it from another. */
interface Listed {
  readonly name: string;
  readonly about: string;
  readonly mark: string;
}

interface Listing {
  readonly skills: readonly Listed[];
  /** Characters that the lines of one reminder may take in all. */
  readonly room: number;
}

/** The listing takes this share of the model's window, at about so many characters a token. */
const SHARE = 0.01;
const CHARACTERS_PER_TOKEN = 4;
/** Where the window is not known. */
const ROOM = 8000;
/** Short enough for every window: it is not worth reckoning what the next request weighs. */
const SHORT = 1200;
const MOST_ABOUT = 1536;
/** A description that would be shorter says nothing: the name alone does. */
const LEAST_ABOUT = 12;
const MOST_NAMES = 400;

/** Which skills the model can load: names and descriptions at first, then only what is new, changed or gone. */
export default defineSource<Listing>({
  id: 'skill_listing', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange', limits: { ms: 1000, tokens: 24_000 },
  async observe(world, signal) {
    const skills = (await world.skills(signal)).filter(({ modelMayUse, dormant }) => modelMayUse && dormant !== true).map(listed);
    if (skills.length === 0 || !world.tools.has('Skill')) return absent;
    return { skills, room: await roomFor(skills, world) };
  },
  keep: ({ skills }) => skills.map(({ name, mark }) => [name, mark]),
  revive: (stored) => {
    if (!Array.isArray(stored)) return undefined;
    const skills = stored.map(revived);
    return skills.every((skill) => skill !== undefined) ? { skills, room: 0 } : undefined;
  },
  full: (now) => `Skills (the Skill tool loads one):\n${lines(now.skills, now.room)}`,
  delta: (before, now) => {
    const was = new Map(before.skills.map(({ name, mark }) => [name, mark]));
    const is = new Set(now.skills.map(({ name }) => name));
    const fresh = now.skills.filter(({ name }) => !was.has(name));
    const changed = now.skills.filter(({ name, mark }) => was.has(name) && was.get(name) !== mark);
    const gone = before.skills.filter(({ name }) => !is.has(name));
    return [
      ...(fresh.length > 0 ? [`New skills:\n${lines(fresh, now.room)}`] : []),
      ...(changed.length > 0 ? [`Skills whose description changed:\n${lines(changed, now.room)}`] : []),
      ...(gone.length > 0 ? [`No longer there: ${names(gone)}.`] : []),
    ].join('\n') || undefined;
  },
  gone: () => 'There are no skills to load any more.',
});

function listed({ name, description, argumentHint }: SkillView): Listed {
  const about = [description.slice(0, MOST_ABOUT), ...(argumentHint === undefined ? [] : [`(arguments: ${argumentHint})`])].join(' ').trim();
  return { name: oneLine(name), about: about.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '), mark: sha256(about).slice(0, 8) };
}

async function roomFor(skills: readonly Listed[], world: World): Promise<number> {
  if (skills.reduce((sum, { name, about }) => sum + name.length + about.length + 4, 0) <= SHORT) return ROOM;
  const { window } = await world.usage().catch(() => ({ window: 0 }));
  return window > 0 ? Math.max(SHORT, Math.floor(window * SHARE * CHARACTERS_PER_TOKEN)) : ROOM;
}

/** Names in any case; what room is left is shared among the descriptions, the long ones cut to one length. */
function lines(skills: readonly Listed[], room: number): string {
  const shown = skills.slice(0, MOST_NAMES);
  const left = room - shown.reduce((sum, { name }) => sum + name.length + 4, 0);
  const most = fairLength(shown.map(({ about }) => about.length), left);
  const cut = shown.filter(({ about }) => about.length > most).length;
  return [
    ...shown.map(({ name, about }) => `- ${name}${about === '' || most < LEAST_ABOUT ? '' : `: ${about.length <= most ? about : `${cutToLength(about, most - 1)}…`}`}`),
    ...(cut > 0 ? [`[${most < LEAST_ABOUT ? 'descriptions left out' : `${count(cut, 'description')} cut to ${most} characters`}: the list is limited to ${room}]`] : []),
    ...(skills.length > shown.length ? [`[${count(skills.length - shown.length, 'further skill')} not named]`] : []),
  ].join('\n');
}

/** The length to which texts must be cut at most so that all of them fit. */
function fairLength(lengths: readonly number[], room: number): number {
  let left = room;
  let waiting = lengths.length;
  for (const length of lengths.toSorted((a, b) => a - b)) {
    const share = Math.floor(left / waiting);
    if (length > share) return Math.max(0, share);
    left -= length;
    waiting -= 1;
  }
  return MOST_ABOUT * 2;
}

function names(skills: readonly Listed[]): string {
  return `${skills.slice(0, MOST_NAMES).map(({ name }) => name).join(', ')}${skills.length > MOST_NAMES ? ` and ${skills.length - MOST_NAMES} more` : ''}`;
}

function revived(stored: Json): Listed | undefined {
  if (!Array.isArray(stored)) return undefined;
  const [name, mark] = stored as readonly Json[];
  return typeof name === 'string' && typeof mark === 'string' ? { name, about: '', mark } : undefined;
}
