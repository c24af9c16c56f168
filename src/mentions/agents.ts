import { candidatesIn } from './candidates.ts';

const LONGEST = 64;
const BARE = /^agent-([\p{L}\p{N}][\p{L}\p{N}_.:-]*)/iu;
const QUOTED = /^([\p{L}\p{N}][\p{L}\p{N}_.:-]*) \(agent\)$/iu;

/** Names that a text mentions as agents, `@agent-name` or `@"name (agent)"`, in order, each once. Whether there is one is not looked at. */
export function mentionedAgents(text: string): readonly string[] {
  const names = candidatesIn(text).map((candidate) => (candidate.form === 'quoted' ? QUOTED : BARE).exec(candidate.text)?.[1]?.replace(/[._:-]+$/, ''));
  return [...new Set(names.filter((name): name is string => name !== undefined && name !== '' && name.length <= LONGEST))];
}

/** How an agent is mentioned. */
export function agentMention(name: string): string {
  return `@agent-${name}`;
}
