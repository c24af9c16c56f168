import type { Command } from '#domain/command.ts';
import type { SkillView } from '#domain/skills.ts';
import { cutToLength } from '#lib/text.ts';

const LONGEST_SUMMARY = 100;

/** Slash commands of the skills and Markdown commands that the user may call. A built-in command goes before one of the same name. */
export function withSkills(builtIn: readonly Command[], skills: readonly SkillView[]): readonly Command[] {
  const taken = new Set(builtIn.flatMap(({ id, aliases = [] }) => [id, ...aliases]));
  return [...builtIn, ...skills.filter(({ name, userMayUse }) => userMayUse && !taken.has(name)).map(commandOf)];
}

function commandOf({ name, description, scope, form, from, argumentHint }: SkillView): Command {
  const whose = scope === 'user' ? `your ${form}` : scope === 'nested' ? `${form} of ${from ?? 'a folder'}` : `${form} of this project`;
  const said = description.length <= LONGEST_SUMMARY ? description : `${cutToLength(description, LONGEST_SUMMARY - 1)}…`;
  return {
    id: name, summary: said === '' ? whose : `${said} (${whose})`, ...(argumentHint !== undefined && { usage: argumentHint }),
    run: (args) => ({ type: 'invoke', skill: name, args }),
  };
}
