import type { Json } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import { LEAD } from '#domain/agents.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

/** Who is in the team and what each is there for, as seen by one of them. */
interface Team {
  readonly self: string;
  /** By name: type and task. */
  readonly others: Readonly<Record<string, string>>;
}

const LONGEST_TASK = 160;

/** Who is in the team: a teammate is told its own name, the lead and what each of the others does. Later only who came or went. */
export default defineSource<Team>({
  id: 'team_context', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange', limits: { tokens: 1500 },
  observe: ({ agents }) => {
    const self = agents.self();
    if (self !== undefined && !self.named) return absent;
    const name = self?.name ?? LEAD;
    const others = agents.members().filter((member) => member.name !== name && member.state !== 'ended');
    if (self === undefined && others.length === 0) return absent;
    return { self: oneLine(name, 40), others: Object.fromEntries(others.map((one) => [oneLine(one.name, 40), `${oneLine(one.type, 64)}, ${oneLine(one.title, LONGEST_TASK)}`])) };
  },
  keep: ({ self, others }) => ({ self, others }),
  revive: (stored) => (isTeam(stored) ? stored : undefined),
  full: ({ self, others }) => {
    const lines = linesOf(others);
    return self === LEAD
      ? ['Your teammates (SendMessage reaches them):', ...lines].join('\n')
      : [`You are ${self}, a teammate. The lead is the main conversation, named \`${LEAD}\`.`, ...(lines.length === 0 ? ['There are no other teammates now.'] : ['The others:', ...lines])].join('\n');
  },
  delta: (before, now) => {
    const came = Object.fromEntries(Object.entries(now.others).filter(([name, what]) => before.others[name] !== what));
    const went = Object.keys(before.others).filter((name) => !(name in now.others));
    const lines = [...linesOf(came), ...went.map((name) => `- ${name}: works no more`)];
    return lines.length === 0 ? undefined : ['The team, changed:', ...lines].join('\n');
  },
  gone: () => 'There are no teammates at work or waiting any more.',
});

function linesOf(others: Team['others']): readonly string[] {
  return Object.entries(others).map(([name, what]) => `- ${name} (${what})`);
}

function isTeam(stored: Json): stored is Json & Team {
  if (stored === null || typeof stored !== 'object' || !('self' in stored) || !('others' in stored)) return false;
  const { self, others } = stored;
  return typeof self === 'string' && typeof others === 'object' && others !== null && !Array.isArray(others) && Object.values(others).every((what) => typeof what === 'string');
}
