import { oneLine } from '#lib/names.ts';
import { conversationOf } from '#domain/folds.ts';
import type { SkillView } from '#domain/skills.ts';
import { absent, type World } from '#domain/world.ts';
import { defineSource } from '../define.ts';

/** Most UTF-16 units of the prompt that are looked at: a long paste says little about what is wanted. */
const MOST_PROMPT = 4000;
const MOST_ABOUT = 1536;
const MOST_FITTING = 3;
/** A skill that fits less well than this share of the best is not named. */
const NEARLY = 0.6;
/** So many of a short prompt's words must stand in the description; a long one is taken for one of so many words. */
const LEAST_SHARED = 0.3;
const FEW_WORDS = 10;
const STOP = new Set((
  'a an and any are as at be been but by can could did do does for from get give had has have help how i if in into is it its just let like make me my need new no not of on or our out '
  + 'please should show so some than that the their them then there these this those to up us use using want was we were what when where which who why will with would you your file files code project '
  + 'skill skills user asks ask work working'
).split(' '));

/**
 * Which skills fit the first prompt by their descriptions. Said once in a session, at its first prompt, and never reckoned anew:
 * the words stand in the log.
 */
export default defineSource<readonly string[]>({
  id: 'skill_discovery', on: ['prompt'], threads: 'main', cadence: 'once',
  async observe(world, signal) {
    const prompt = firstPrompt(world);
    if (prompt === undefined) return absent;
    const skills = (await world.skills(signal)).filter(({ modelMayUse, dormant }) => modelMayUse && dormant !== true);
    if (skills.length === 0 || !world.tools.has('Skill')) return absent;
    const fitting = await fit(prompt.slice(0, MOST_PROMPT), skills);
    return fitting.length === 0 ? absent : fitting.map((name) => oneLine(name));
  },
  revive: (stored) => (Array.isArray(stored) && stored.length > 0 && stored.every((name) => typeof name === 'string') ? stored : undefined),
  full: (now) => `By their descriptions these skills fit the prompt: ${now.join(', ')}.`,
});

/** The text of the prompt if it is the first of the session, in the user's own words. */
function firstPrompt({ log, prompt }: World): string | undefined {
  if (prompt?.type !== 'prompt' || prompt.skill !== undefined) return undefined;
  if (log.some(({ type }) => type === 'compaction')) return undefined;
  const [first] = conversationOf(log).filter(({ type }) => type === 'prompt' || type === 'assistant');
  return first?.id === prompt.id ? prompt.text : undefined;
}

/** Names of skills with which the prompt shares words that tell: two at least and a share of all, or the whole of the skill's name. The best first. */
async function fit(prompt: string, skills: readonly SkillView[]): Promise<readonly string[]> {
  const wanted = new Set(wordsOf(prompt));
  if (wanted.size === 0) return [];
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch<{ readonly id: number; readonly name: string; readonly description: string }>({
    fields: ['name', 'description'], tokenize: (text) => [...wordsOf(text)], processTerm: (term) => term, searchOptions: { boost: { name: 2 } },
  });
  index.addAll(skills.map(({ name, description }, id) => ({ id, name, description: description.slice(0, MOST_ABOUT) })));
  const found = index.search(prompt).filter(({ id, match }) => {
    const shared = Object.keys(match).filter((term) => wanted.has(term)).length;
    const called = wordsOf(skills[Number(id)]?.name ?? '');
    return (shared >= 2 && shared >= Math.min(wanted.size, FEW_WORDS) * LEAST_SHARED) || (called.length > 0 && called.every((word) => wanted.has(word)));
  });
  const [best] = found;
  return found.filter(({ score }) => best !== undefined && score >= best.score * NEARLY).slice(0, MOST_FITTING).flatMap(({ id }) => skills[Number(id)]?.name ?? []);
}

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** Words of any script, in one form: without case, marks and the commonest endings; words that tell nothing are left out. */
function wordsOf(text: string): readonly string[] {
  const plain = text.replace(/[_:./-]+/g, ' ').normalize('NFKD').replace(/\p{M}/gu, '').normalize('NFC').toLowerCase();
  return [...segmenter.segment(plain)].flatMap(({ segment, isWordLike }) => (isWordLike !== true || STOP.has(segment) || (segment.length < 2 && /^[a-z0-9]$/.test(segment)) ? [] : [stem(segment)]));
}

/** One form of `deploy`, `deploys`, `deploying` and `deployment`; good enough to compare by. */
function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word;
  const bare = word.replace(/(?:ments?|ings?|ed|es|s)$/, '').replace(/([bdgklmnprt])\1$/, '$1').replace(/e$/, '').replace(/(?:y|ie)$/, 'i');
  return bare.length < 2 ? word : bare;
}
