import { oneLine } from '#lib/names.ts';
import { tokens } from '#lib/numbers.ts';
import { count, cutToLength } from '#lib/text.ts';
import { defineCommand } from '#domain/command.ts';
import type { CardBlock } from '#domain/card.ts';
import type { SkillView } from '#domain/skills.ts';

const BYTES_PER_TOKEN = 4;
const LONGEST = 100;

/** Skills and Markdown commands that are in effect, and what is wrong with those that are not. */
export default defineCommand({
  id: 'skills',
  group: 'At work',
  summary: 'Skills and Markdown commands; what there is, whose it is, where it lies',
  usage: '[<name>]',
  anytime: true,
  complete: async (_args, context) => (await context.skills()).map(({ name }) => name),
  async run(args, context) {
    const skills = await context.skills();
    const notes = context.skillNotes();
    const wanted = args.trim().replace(/^\//, '');
    if (wanted !== '') {
      const one = skills.find(({ name }) => name === wanted);
      return one === undefined ? { type: 'refuse', message: `There is no skill ${oneLine(wanted, 60)}: /skills lists them.` } : { type: 'show', card: { title: one.name, detail: who(one), body: about(one) } };
    }
    const left: readonly CardBlock[] = notes.length === 0 ? [] : [{ type: 'text', text: 'Not used:' }, { type: 'list', items: notes }];
    if (skills.length === 0) {
      return { type: 'show', card: { title: 'Skills', detail: 'none', body: [...left, { type: 'text', text: 'A skill is a folder with a SKILL.md in .pinion/skills or .claude/skills, of the project or of your home; a Markdown file in .claude/commands is a command.' }] } };
    }
    return {
      type: 'show',
      card: {
        title: 'Skills', detail: `${count(skills.filter(({ form }) => form === 'skill').length, 'skill')}, ${count(skills.filter(({ form }) => form === 'command').length, 'command')}`,
        body: [{ type: 'table', head: ['name', 'whose', '~tokens', 'for'], align: ['left', 'left', 'right', 'left'], rows: skills.map((skill) => [skill.name, who(skill), tokens(skill.bytes / BYTES_PER_TOKEN), short(skill.description)]) },
          { type: 'text', text: '/skills <name> tells more of one.' }, ...left],
      },
    };
  },
});

const short = (text: string): string => (text.length <= LONGEST ? text : `${cutToLength(text, LONGEST - 1)}…`);

function who({ scope, from, form }: SkillView): string {
  const whose = scope === 'user' ? 'yours' : scope === 'nested' ? from ?? 'a folder\'s' : 'project\'s';
  return form === 'command' ? `${whose} (command)` : whose;
}

function about({ description, file, bytes, argumentHint, userMayUse, modelMayUse, dormant, name }: SkillView): readonly CardBlock[] {
  const uses = [...(userMayUse ? [`you (/${name}${argumentHint === undefined ? '' : ` ${argumentHint}`})`] : []), ...(modelMayUse ? [`the model${dormant === true ? ' (once a file that it is for was touched)' : ''}`] : [])];
  return [
    { type: 'text', text: description === '' ? 'It does not say what it is for.' : description },
    { type: 'list', items: [`used by ${uses.length === 0 ? 'nobody' : uses.join(' and by ')}`, `~${tokens(bytes / BYTES_PER_TOKEN)} tokens`, file] },
  ];
}
