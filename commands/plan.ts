import type { Card } from '#domain/card.ts';
import { defineCommand, type KeptPlan } from '#domain/command.ts';

const WORDS = ['on', 'off', 'show', 'edit'] as const;

/** Turns plan mode on and off; shows and opens the plan. */
export default defineCommand({
  id: 'plan',
  group: 'At work',
  summary: 'Plan mode on or off: the model looks and plans only; show or edit its plan',
  usage: '[on | off | show | edit]',
  anytime: true,
  complete: () => WORDS,
  async run(args, context) {
    const word = args.trim();
    if (word === '' || word === 'on' || word === 'off') {
      const on = word === '' ? context.mode !== 'plan' : word === 'on';
      return { type: 'mode', mode: on ? 'plan' : 'default' };
    }
    if (word !== 'show' && word !== 'edit') return { type: 'refuse', message: 'It is /plan, /plan on, /plan off, /plan show or /plan edit.' };
    const plan = await context.plan();
    if (plan === undefined) return { type: 'refuse', message: 'There is no plan yet: the model makes one in plan mode (/plan on).' };
    return word === 'show' ? { type: 'show', card: cardOf(plan) } : { type: 'edit', file: plan.file };
  },
});

const SAID = { proposed: 'not answered yet', approved: 'approved', rejected: 'not approved' } as const;

function cardOf({ file, text, state }: KeptPlan): Card {
  return { title: `Plan (${SAID[state]})`, detail: file, body: [{ type: 'markdown', text }] };
}
