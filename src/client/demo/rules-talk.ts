import type { Rule } from './rule.ts';
import type { View } from './view.ts';
import { glance, lookUp } from './words.ts';

const COMPACTION = /about to be replaced by a summary/;

/** Requests that are answered from what the conversation holds, without a tool. */
export const talkRules: readonly Rule[] = [
  {
    id: 'summary', example: '/compact', tools: [],
    reply: (view) => (COMPACTION.test(view.ask) ? { say: summarise(view) } : undefined),
  },
  {
    id: 'see', example: 'What do you see?', tools: [],
    reply: (view) => (/\bwhat (?:do|can) you see\b|\bwhat is (?:pinned|in (?:your )?(?:context|view))\b/i.test(view.ask) ? { say: seen(view) } : undefined),
  },
  {
    id: 'changed', example: 'What changed?', tools: [],
    reply: (view) => (/^what (?:has )?changed\b/i.test(view.ask) ? { say: changes(view) } : undefined),
  },
  {
    id: 'asked', example: 'What did I ask before?', tools: [],
    reply: (view) => (/\bwhat did i (?:ask|say)\b/i.test(view.ask) ? { say: asked(view) } : undefined),
  },
  {
    id: 'count', example: 'Count to 20', tools: [],
    reply({ ask }) {
      const to = Number(/^count (?:from 1 )?to (\d{1,5})\b/i.exec(ask)?.[1] ?? 0);
      return to < 1 ? undefined : { say: Array.from({ length: to }, (_, i) => `${i + 1}. line ${i + 1}`).join('\n') };
    },
  },
  {
    id: 'mention', example: 'Summarise @README.md', tools: [],
    reply(view) {
      if (!/(?:^|\s)@\S/.test(view.ask) || view.done.length > 0 || view.freshDocuments.length === 0 || /\b(?:replace|change|add|append|write|run)\b/i.test(view.ask)) return undefined;
      const wanted = /\b(?:tell me|what is|what's) (?:its |the )([\w .-]+?)(?:\s+(?:in|of)\b.*)?\??$/i.exec(view.ask)?.[1];
      return { say: view.freshDocuments.map((document) => (wanted === undefined ? glance(document) : lookUp(document, wanted))).join('\n\n') };
    },
  },
];

function seen(view: View): string {
  const notes = view.fresh.flatMap((text) => text.split('\n\n')).map((text) => text.split('\n')[0] ?? '').filter((line) => line !== '' && !line.startsWith('File "') && !line.startsWith('<'));
  return [
    view.documents.length === 0 ? 'I see no documents.' : 'I see these documents:', ...view.documents.map((document) => `- ${glance(document)}`),
    ...(notes.length === 0 ? [] : ['', 'And I was told:', ...notes.slice(0, 12).map((line) => `- ${line}`)]),
  ].join('\n');
}

function changes(view: View): string {
  const told = view.reminders.flatMap((text) => text.split('\n\n')).filter((text) => /changed|no longer|is gone|now reads/i.test(text.split('\n')[0] ?? ''));
  if (told.length === 0) return 'I was told of no change.';
  return ['I was told of these changes:', '', ...told.slice(-5).flatMap((text) => ['```', text, '```'])].join('\n');
}

function asked(view: View): string {
  const before = view.asks.slice(0, -1);
  if (before.length === 0) return view.summary === undefined ? 'This is your first request.' : `Before this, as the summary has it:\n\n${view.summary.split('\n').slice(1).join('\n').trim()}`;
  return ['You asked:', ...before.map((text, i) => `${i + 1}. ${text.split('\n')[0]}`)].join('\n');
}

function summarise(view: View): string {
  const asks = view.asks.slice(0, -1);
  const earlier = view.summary === undefined ? [] : [view.summary.split('\n').slice(1).join('\n').trim(), ''];
  return [...earlier, 'The user asked:', ...asks.map((text) => `- ${text.split('\n')[0]?.slice(0, 200)}`), '', 'All of it was answered.'].join('\n');
}
