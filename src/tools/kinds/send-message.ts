import * as z from 'zod';
import { oneLine } from '#lib/names.ts';
import { defineTool } from '../define.ts';
import { someText } from '../fields.ts';
import { done, failed } from '../result.ts';
import description from './send-message.md';

const input = z.strictObject({
  to: z.string().trim().min(1).max(40).describe('A name, `lead` or `*`'),
  message: someText.describe('Text; at most 16 KiB'),
});

/** Puts a message into a teammate's mailbox. A sub-agent has it where it has a mailbox itself: whoever opens its thread gives it. */
export const sendMessage = defineTool({
  id: 'SendMessage',
  description,
  effect: 'reads',
  threads: 'main',
  deferred: 'Writes to a teammate (an agent with a name), the lead or all',
  input,
  title: ({ to }) => `Message to ${oneLine(to, 40)}`,
  async *run({ to, message }, { agents, session }) {
    const title = `Message to ${oneLine(to, 40)}`;
    const result = await agents.send(to, message, session);
    if ('problem' in result) return failed(title, result.problem);
    const names = result.sent.join(', ');
    return done(`Sent to ${names}.`, { title: `Message to ${names}`, body: [{ type: 'text', text: message }] });
  },
});
