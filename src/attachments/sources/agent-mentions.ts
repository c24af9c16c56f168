import { oneLine } from '#lib/names.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { mentioningText } from '../known.ts';

interface Meant {
  readonly name: string;
  readonly what: 'type' | 'teammate';
}

/** Which sub-agent the user means by `@agent-name` or `@"name (agent)"`. A name that no agent has says nothing. */
export default defineSource<readonly Meant[]>({
  id: 'agent_mentions', on: ['prompt', 'step'], threads: 'main', cadence: 'always', limits: { tokens: 500 },
  async observe(world, signal) {
    const text = mentioningText(world);
    const named = text.includes('@') ? world.mentions.agents(text) : [];
    if (named.length === 0) return absent;
    const types = (await world.agents.types(signal)).map(({ name }): Meant => ({ name, what: 'type' }));
    const known = [...world.agents.members().map(({ name }): Meant => ({ name, what: 'teammate' })), ...types];
    const meant = named.flatMap((name) => known.find((one) => one.name.toLowerCase() === name.toLowerCase()) ?? []);
    return meant.length === 0 ? absent : [...new Map(meant.map((one) => [one.name, one])).values()];
  },
  keep: (now) => now.map(({ name }) => oneLine(name, 64)),
  revive: () => undefined,
  full: (now) => now.map(({ name, what }) => (what === 'type'
    ? `The user mentions the sub-agent ${oneLine(name, 64)} (Task, subagent_type "${oneLine(name, 64)}") and wants it to do what concerns it.`
    : `The user mentions the teammate ${oneLine(name, 64)} (SendMessage reaches it) and wants it to do what concerns it.`)).join('\n'),
});
