import * as z from 'zod';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { defineTool } from '../define.ts';
import { someText } from '../fields.ts';
import { done, failed } from '../result.ts';
import description from './skill.md';

const input = z.strictObject({
  skill: someText.describe('Its name'),
  args: z.string().optional().describe('Put in where the skill says $ARGUMENTS'),
});

export const skill = defineTool({
  id: 'Skill',
  description,
  effect: 'reads',
  input,
  title: titleOf,
  async *run({ skill: name, args = '' }, { skills, session, signal }) {
    const title = titleOf({ skill: name, args });
    yield 'loading';
    const loaded = await skills.load(name, args, 'model', session, signal);
    if ('problem' in loaded) return failed(title, `${loaded.problem}.`);
    const { text, parts, notes, files, view } = loaded;
    const detail = notes.length === 0 ? count(text.split('\n').length, 'line') : `${count(text.split('\n').length, 'line')}, ${count(notes.length, 'note')}`;
    return done(
      [{ type: 'text', text }, ...parts, ...(notes.length === 0 ? [] : [{ type: 'text' as const, text: notes.map((note) => `[${note}]`).join('\n') }])],
      { title, detail, body: [{ type: 'text', text: `${view.file}\n\n${text}${notes.map((note) => `\n[${note}]`).join('')}` }] },
      { files },
    );
  },
});

function titleOf({ skill: name, args = '' }: { readonly skill: string; readonly args?: string | undefined }): string {
  return `Skill ${oneLine(name, 80)}${args.trim() === '' ? '' : ` ${oneLine(args.trim(), 80)}`}`;
}
