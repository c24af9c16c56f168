import { expect, it } from 'vitest';
import type { Command, CommandContext } from '#domain/command.ts';
import { completeCommand } from '#main/complete-command.ts';

const command = (id: string, more: Partial<Command> = {}): Command => ({ id, summary: `does ${id}`, run: () => ({ type: 'exit' }), ...more });
const context = {
  commands: [command('pin', { usage: '<path>', complete: () => ['docs/', 'readme.md'] }), command('plan', { usage: '[on | off]' }), command('exit')],
} as unknown as CommandContext;

it('lists commands with what they do; what one takes is told when it is the only one', async () => {
  expect(await completeCommand('/p', context)).toEqual([{ insert: '/pin', label: '/pin', detail: 'does pin' }, { insert: '/plan', label: '/plan', detail: 'does plan' }]);
  expect(await completeCommand('/pi', context)).toEqual([{ insert: '/pin', label: '/pin <path>', detail: 'does pin' }]);
  expect(await completeCommand('/exit', context)).toEqual([{ insert: '/exit', label: '/exit', detail: 'does exit' }]);
});

it('completes the word at the cursor, and goes on in a folder', async () => {
  expect(await completeCommand('/pin ', context)).toEqual([{ insert: 'docs/', label: 'docs/', more: true }, { insert: 'readme.md', label: 'readme.md' }]);
  expect(await completeCommand('/pin --path re', context)).toEqual([{ insert: 'readme.md', label: 'readme.md' }]);
  expect(await completeCommand('/plan o', context)).toEqual([]);
});
