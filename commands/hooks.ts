import { oneLine } from '#lib/names.ts';
import { bothEnds, count } from '#lib/text.ts';
import type { CardBlock } from '#domain/card.ts';
import { defineCommand, type Effect } from '#domain/command.ts';
import type { HookView } from '#domain/hooks.ts';

const LONGEST_WHAT = 160;
const LONGEST_SAID = 120;
const STATES = { ready: 'runs', new: 'not agreed to', off: 'refused' } as const;

/** Which hooks there are, from which file, what they did last, and what is wrong with them. */
export default defineCommand({
  id: 'hooks',
  group: 'At work',
  summary: 'Hooks, their files, what each did last; approve, refuse: those of the folder',
  usage: '[<event> | approve | refuse]',
  anytime: true,
  complete: async (_args, context) => [...new Set([...(await context.hooks()).hooks.map(({ event }) => event), 'approve', 'refuse'])],
  async run(args, context): Promise<Effect> {
    const wanted = args.trim();
    if (wanted === 'approve' || wanted === 'refuse') return { type: 'hooks', what: wanted };
    const { hooks, problems, off } = await context.hooks();
    const shown = wanted === '' ? hooks : hooks.filter(({ event }) => event.toLowerCase() === wanted.toLowerCase());
    if (wanted !== '' && shown.length === 0) return { type: 'refuse', message: `There is no hook at "${oneLine(wanted, 60)}": /hooks lists them.` };
    const notes: readonly CardBlock[] = [
      ...(off === undefined ? [] : [{ type: 'text', text: `None runs: ${off}.` } as const]),
      ...(problems.length === 0 ? [] : [{ type: 'text', text: 'Left out:' } as const, { type: 'list', items: problems } as const]),
      ...(shown.some(({ state }) => state !== 'ready') ? [{ type: 'text', text: '/hooks approve agrees to those of the folder that do not run.' } as const] : []),
    ];
    if (shown.length === 0) return { type: 'show', card: { title: 'Hooks', detail: 'none', body: [...notes, { type: 'text', text: 'They stand under "hooks" in settings files (.claude or .pinion, of your home or of the project), and in skills and agents.' }] } };
    const waiting = shown.filter(({ state }) => state === 'new').length;
    return {
      type: 'show',
      card: { title: 'Hooks', detail: `${count(shown.length, 'hook')}${waiting === 0 ? '' : `, ${waiting} not agreed to`}`, body: [...shown.flatMap(blocksOf), ...notes] },
    };
  },
});

function blocksOf({ event, matcher, type, what, from, state, last }: HookView): readonly CardBlock[] {
  const when = last === undefined ? 'not run yet' : `last at ${last.at.toTimeString().slice(0, 8)} (${last.name}, ${last.ms} ms): ${bothEnds(last.said, LONGEST_SAID)}`;
  return [
    { type: 'text', text: `${event}${matcher === '' ? '' : ` (${bothEnds(matcher, 80)})`}: ${type === 'command' ? '' : `${type}: `}${bothEnds(what, LONGEST_WHAT)}` },
    { type: 'list', items: [`${STATES[state]}; from ${oneLine(from, 120)}`, when] },
  ];
}
