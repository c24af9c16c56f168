import type { Rule, Turn } from './rule.ts';
import { fileRules } from './rules-files.ts';
import { talkRules } from './rules-talk.ts';
import { workRules } from './rules-work.ts';
import type { View } from './view.ts';

/** In the order in which they are tried. */
export const rules: readonly Rule[] = [
  {
    id: 'help', example: 'What can you do?', tools: [],
    reply: ({ ask }) => (/^(?:help|hi|hello|hey|what can you do|who are you)\b/i.test(ask) ? { say: table() } : undefined),
  },
  ...talkRules, ...workRules,
  ...fileRules,
];

/** What the demo model says to a request. */
export function replyTo(view: View): Turn {
  for (const rule of rules) {
    const turn = rule.reply(view);
    if (turn === undefined) continue;
    if (turn.call === undefined || view.tools.has(turn.call.tool)) return turn;
    return { say: `For that I would need the tool ${turn.call.tool}, which I was not given here.` };
  }
  return { say: unknown(view) };
}

function unknown(view: View): string {
  const last = view.done.at(-1);
  if (last !== undefined) return last.text;
  const some = rules.filter(({ tools }) => tools.length > 0).slice(0, 6).map(({ example }) => `- ${example}`);
  return ['I am the demo model: a set of rules, not an AI, so I understand plain requests only. Try one of these, or ask "What can you do?":', '', ...some, '', 'With a key (/login) a real model answers.'].join('\n');
}

function table(): string {
  return ['I am the demo model: rule-based, offline, free, and not an AI. I drive the real tools with plain requests such as:', '', ...rules.map(({ example, tools }) => `- ${example}${tools.length === 0 ? '' : ` (${tools.join(', ')})`}`), '', 'With a key (/login, or ANTHROPIC_API_KEY) a real model answers.'].join('\n');
}
