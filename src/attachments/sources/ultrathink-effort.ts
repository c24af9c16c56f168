import type { EntryOf } from '#domain/entry.ts';
import { conversationOf, undeliveredOf } from '#domain/folds.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

/** Fenced blocks (one that is not closed runs to the end), then spans in backticks. */
const CODE = /^(?<fence>`{3,}|~{3,})[^\n]*\n[^]*?(?:^\k<fence>[`~]*[ \t]*$|$(?![^]))|(?<ticks>`+)(?!`)[^]*?(?<!`)\k<ticks>(?!`)/gm;
const KEYWORD = /(?<![\w/.@#-])ultrathink(?![\w/-]|\.\w)/i;
const ID = 'ultrathink_effort';

/** That the user asked for more thought on this message, by the word `ultrathink` in it; the model's effort stays as it is. */
export default defineSource<string>({
  id: ID, on: ['prompt', 'step'], threads: 'all', cadence: 'always',
  observe: ({ prompt, log }) => {
    const message = [...undeliveredOf(log).toReversed(), ...(prompt === undefined ? [] : [prompt])].find((one) => asksForThought(wordsOf(one)));
    const said = message === undefined || conversationOf(log).some((entry) => entry.type === 'reminder' && entry.source === ID && entry.snapshot === message.id);
    return said ? absent : message.id;
  },
  revive: () => undefined,
  full: () => 'The user asks for more thought on this message (ultrathink): other ways are weighed before one is chosen, and the result is checked before it is given. This holds for this turn.',
});

/** Of a skill's text not what its commands put out. */
function wordsOf(message: EntryOf<'prompt' | 'queued'>): string {
  return message.type === 'prompt' ? message.mentions ?? message.skill?.mentions ?? message.text : message.text;
}

/** Not where the word stands in code, a path or a longer word. */
export function asksForThought(text: string): boolean {
  return /ultrathink/i.test(text) && KEYWORD.test(text.replace(CODE, ' '));
}
