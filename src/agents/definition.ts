import { basename } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { readFrontMatter } from '#lib/front-matter.ts';
import { oneLine } from '#lib/names.ts';
import { cutToLength } from '#lib/text.ts';
import type { AgentType } from '#domain/agents.ts';
import { PERMISSION_MODES } from '#domain/entry.ts';
import type { Effort } from '#domain/content.ts';

/** A name that a person can type behind `@agent-`, and that stands in a line of a reminder as it is. */
export const TYPE_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_.:-]{0,63}$/u;

const LONGEST_DESCRIPTION = 1000;
const LONGEST_REMINDER = 2000;
const LONGEST_PROMPT = 100_000;
const MOST_STEPS = 500;
const EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** `problems`: one line each, without the file's name; a type with problems can still be used. */
export interface Definition {
  readonly type: AgentType | undefined;
  readonly problems: readonly string[];
}

type Fields = Readonly<Record<string, Json>>;

/** A type of sub-agent from a Markdown file. What the file says wrongly is left out and said. */
export async function definitionOf(text: string, file: string, scope: 'user' | 'project'): Promise<Definition> {
  const { fields, body, problem } = await readFrontMatter(text);
  const problems = problem === undefined ? [] : [problem];
  if (textOf(fields['name']) === undefined && textOf(fields['description']) === undefined) return { type: undefined, problems: [...problems, 'it is no agent: it begins with no name and description between two lines of ---'] };
  const name = textOf(fields['name']) ?? basename(file, '.md');
  if (!TYPE_NAME.test(name)) return { type: undefined, problems: [...problems, `"${oneLine(name, 60)}" is no name for an agent: letters, digits, - and _, at most 64`] };
  const prompt = cutToLength(body.trim(), LONGEST_PROMPT);
  if (prompt === '') return { type: undefined, problems: [...problems, 'it has no text that could be its instructions'] };
  const note = (what: string): undefined => { problems.push(what); };
  const description = textOf(fields['description']);
  if (description === undefined) note('it has no description, so that nobody knows when to use it');
  return { type: { ...ruled(fields, note), name, scope, prompt, file, description: oneLine((description ?? '').replace(/\s+/g, ' '), LONGEST_DESCRIPTION) }, problems };
}

/** All but name, description and text. */
function ruled(fields: Fields, note: (what: string) => undefined): Omit<AgentType, 'name' | 'description' | 'scope' | 'prompt' | 'file'> {
  const tools = namesIn(fields['tools']);
  const model = textOf(fields['model']);
  const effort = EFFORTS.find((one) => one === fields['effort']) ?? unless(fields['effort'], `effort: it is one of ${EFFORTS.join(', ')}`, note);
  const mode = PERMISSION_MODES.find((one) => one === fields['permissionMode']) ?? unless(fields['permissionMode'], `permissionMode: it is one of ${PERMISSION_MODES.join(', ')}`, note);
  const maxSteps = stepsOf(fields['maxTurns']) ?? unless(fields['maxTurns'], `maxTurns: it is a number from 1 to ${MOST_STEPS}`, note);
  const reminder = textOf(fields['reminder'] ?? fields['criticalSystemReminder_EXPERIMENTAL']);
  return {
    disallowedTools: namesIn(fields['disallowedTools']) ?? [],
    ...(tools !== undefined && { tools }),
    ...(model !== undefined && model !== 'inherit' && { model }),
    ...(effort !== undefined && { effort }),
    ...(mode !== undefined && { mode }),
    ...(maxSteps !== undefined && { maxSteps }),
    ...(fields['background'] === true && { background: true }),
    ...(fields['hooks'] !== undefined && fields['hooks'] !== null && { hooks: fields['hooks'] }),
    ...(reminder !== undefined && { reminder: cutToLength(reminder, LONGEST_REMINDER) }),
  };
}

function unless(value: Json | undefined, what: string, note: (what: string) => undefined): undefined {
  return value === undefined || value === null ? undefined : note(what);
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : typeof value === 'number' ? String(value) : undefined;
}

function stepsOf(value: Json | undefined): number | undefined {
  const steps = typeof value === 'string' ? Number(value) : value;
  return typeof steps === 'number' && Number.isInteger(steps) && steps >= 1 && steps <= MOST_STEPS ? steps : undefined;
}

/**
 * `Read, Grep` or a list; of `Bash(git *)` the tool's name: what it may run the permissions say. Undefined: nothing was said,
 * or everything (`*`).
 */
function namesIn(value: Json | undefined): readonly string[] | undefined {
  const words = Array.isArray(value) ? value.flatMap((one: Json) => (typeof one === 'string' ? [one] : [])) : typeof value === 'string' ? value.split(/,(?![^(]*\))/) : undefined;
  const names = words?.map((word) => word.trim().replace(/\(.*$/s, '').trim()).filter((word) => word !== '');
  return names === undefined || names.includes('*') ? undefined : [...new Set(names)];
}
