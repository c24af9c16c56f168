import { count } from '#lib/text.ts';
import { type Document, documentOf } from './in-view.ts';
import type { Rule } from './rule.ts';
import type { Exchange, View } from './view.ts';
import { fenced, firstLine, glance, keyOf, languageOf, linesOf, lookUp, someOf, valueOf } from './words.ts';

const SEE = /^(?:what (?:do|can) you see|what(?:'s| is)(?: all)? (?:pinned|in (?:your |the )?(?:context|view))|what (?:did|have) i pin(?:ned)?|what are (?:the|my) pins|(?:show|list)(?: me)?(?: the| my)? pins)\b/i;
const CHANGED = /^(?:what(?:'s| is| has| did)?(?: been)? changed?|what(?:'s| is) (?:new|different)|did (?:anything|something|\S+) change|any changes)\b/i;
const ASKED = /\bwhat (?:did|have) (?:i|we) (?:ask|say|said|talk|want|do|done|asked)\b|\bwhat was my (?:first|last|previous|earlier) (?:question|request|prompt)/i;
const PINNED = /\b(?:the|my) (?:pin|pinned)\b/i;
const WANTED = /\b(?:what(?:'s| is| are)|tell me|give me|say|says?(?: about)?) (?:its |the |my )?([\w .-]+?)(?: (?:in|of|from) [^?]*)?[?.!]*$/i;
const VALUE = /^(?:what(?:'s| is| are)|which|tell me|give me) (?:the |my |our )?([\w.-]+(?: [\w.-]+){0,2})(?: is (?:it|that|used|set))?[?.!]*$/i;
const MOST_LINES = 20;

/** Requests that are answered from what the conversation holds, without a tool. */
export const talkRules: readonly Rule[] = [
  { id: 'summary', example: '/compact', tools: [], anyLength: true, reply: (view) => (asksForSummary(view.ask) ? { say: summarise(view) } : undefined) },
  { id: 'see', example: 'What do you see?', tools: [], reply: (view) => (SEE.test(view.ask) ? { say: seen(view) } : undefined) },
  { id: 'changed', example: 'What changed?', tools: [], reply: (view) => (CHANGED.test(view.ask) ? { say: changes(view) } : undefined) },
  { id: 'asked', example: 'What did I ask before?', tools: [], reply: (view) => (ASKED.test(view.ask) ? { say: asked(view) } : undefined) },
  {
    id: 'count', example: 'Count to 20', tools: [],
    reply({ ask }) {
      const to = Number(/^count (?:from (?:1|one) )?(?:up )?to (\d{1,5})\b/i.exec(ask)?.[1] ?? 0);
      return to < 1 ? undefined : { say: Array.from({ length: to }, (_, i) => `${i + 1}. line ${i + 1}`).join('\n') };
    },
  },
  { id: 'mention', example: 'Summarise @README.md', tools: [], reply: mentioned },
  { id: 'pinned', example: 'What does the pinned file say about version?', tools: [], needs: '/pin package.json', reply: pinned },
];

/** Tried last: a question that something in view has the answer to. */
export const lookUpRule: Rule = {
  id: 'look-up', example: 'What is the version?', tools: [], needs: '/pin package.json, or another file with such a key in view',
  reply(view) {
    const key = keyOf(VALUE.exec(view.ask)?.[1] ?? '');
    const found = key === '' ? undefined : current(view).find(({ body }) => valueOf(body, key) !== undefined);
    return found === undefined ? undefined : { say: lookUp(found, key) };
  },
};

const documentsOf = (view: View): readonly Document[] => [...view.inView.documents.values()];
const current = (view: View): readonly Document[] => documentsOf(view).filter(({ stale }) => !stale);

function mentioned(view: View): ReturnType<Rule['reply']> {
  const names = [...view.ask.matchAll(/(?:^|\s)@(?:"([^"\n]+)"|([^\s"]*[^\s",;:?!.)]))/g)].map(([, quoted, word]) => (quoted ?? word ?? '').replace(/#L?(\d+)(?:-L?(\d+))?$/, (_, from: string, to = from) => `#${from}-${to}`));
  if (names.length === 0 || /\b(?:replace|rename|change|add|append|write|run|create|lines?)\b/i.test(view.ask)) return undefined;
  const found = names.map((name) => documentOf(view.inView, name));
  const notes = view.fresh.flatMap(({ kind, text }) => (kind === 'note' ? text.split('\n') : [])).filter((line) => names.some((name) => line.replace(/^@/, '').startsWith(name)));
  if (found.every((document) => document === undefined)) return notes.length === 0 ? undefined : { say: `I was shown nothing of it: ${notes.join('; ')}` };
  const wanted = WANTED.exec(view.ask.replace(/@\S+/, 'it'))?.[1];
  return { say: found.flatMap((document) => (document === undefined ? [] : [tellOf(document, wanted)])).join('\n\n') };
}

/** What was asked of a document, if it knows it, else what it is. */
function tellOf(document: Document, wanted: string | undefined): string {
  const key = wanted === undefined ? '' : keyOf(wanted);
  if (document.stale) return `${document.name} has changed, and I was not told how. Ask me to read it.`;
  return key === '' || /^(?:in|it|this|that|there|inside|about|file|of it)\b/i.test(key) ? glance(document) : lookUp(document, key);
}

function pinned(view: View): ReturnType<Rule['reply']> {
  if (!PINNED.test(view.ask) || view.done.length > 0 || /^(?:replace|rename|change|add|append|write|run|create)\b/i.test(view.ask)) return undefined;
  const pins = documentsOf(view).filter(({ mentioned, kind }) => !mentioned && kind !== 'instructions');
  if (pins.length === 0) return { say: 'I see nothing that is pinned. Pin something with /pin.' };
  const key = keyOf(/\b(?:about|of|for) (?:the |its )?([\w .-]+?)[?.!]*$/i.exec(view.ask)?.[1] ?? /(?:what(?:'s| is)|tell me) the ([\w .-]+?) (?:in|of) (?:the|my) pin/i.exec(view.ask)?.[1] ?? '');
  const holding = key === '' ? pins : pins.filter(({ body }) => body.toLowerCase().includes(key.toLowerCase()));
  if (key !== '') return { say: (holding.length === 0 ? pins : holding).map((pin) => tellOf(pin, key)).join('\n\n') };
  return { say: pins.map((pin) => [glance(pin), '', fenced(someOf(linesOf(pin.body), MOST_LINES), languageOf(pin.name))].join('\n')).join('\n\n') };
}

function seen(view: View): string {
  const documents = documentsOf(view);
  const notes = view.fresh.flatMap(({ kind, text }) => (kind === 'note' ? [firstLine(text, 120)] : []));
  const { todos } = view.inView;
  const open = todos.filter(({ status }) => status !== 'completed').length;
  return [
    documents.length === 0 ? 'I see no documents: nothing is pinned or mentioned.' : 'I see these documents:',
    ...documents.map((document) => `- ${document.kind === 'note' ? `**${document.name}**: ${firstLine(document.body, 120)}` : glance(document)}${document.stale ? ' It has changed since, and I was not told how.' : ''}`),
    ...(todos.length === 0 ? [] : ['', `And a todo list with ${count(todos.length, 'item')}, ${open} open.`]),
    ...(notes.length === 0 ? [] : ['', 'And I was told:', ...notes.slice(0, 12).map((line) => `- ${line}`)]),
  ].join('\n');
}

function changes(view: View): string {
  const told = view.told.filter(({ kind }) => kind === 'changed' || kind === 'gone' || kind === 'unpinned');
  if (told.length === 0) return 'I was told of no change.';
  const last = told.slice(-5);
  return [
    told.length > last.length ? `I was told of ${told.length} changes, last of these:` : `I was told of ${told.length === 1 ? 'this change' : 'these changes'}:`,
    '', ...last.flatMap((change) => [fenced(someOf(wholeOf(view, change).split('\n'), 2 * MOST_LINES), 'diff'), '']),
  ].join('\n').trimEnd();
}

/** A change that was told by the new text has that text behind it. */
function wholeOf({ told }: View, change: View['told'][number]): string {
  const next = told[told.indexOf(change) + 1];
  return change.kind === 'changed' && change.text.endsWith('now reads:') && next?.kind === 'shown' ? `${change.text}\n${next.document.body.trimEnd()}` : change.text;
}

function asked({ before, summary }: View): string {
  const earlier = summary === undefined ? [] : ['From the summary of what came before:', '', summary];
  if (before.length === 0) return earlier.length === 0 ? 'This is your first request.' : earlier.join('\n');
  return [...earlier, ...(earlier.length === 0 ? [] : ['']), earlier.length === 0 ? 'You asked:' : 'Since then you asked:', '', ...before.map(({ ask }, i) => `${i + 1}. ${firstLine(ask, 200)}`)].join('\n');
}

const COMPACTION = /^The conversation is about to be replaced by a summary/;

/** Whether the words are the program's own, which asks for a summary. */
export function asksForSummary(ask: string): boolean {
  return COMPACTION.test(ask);
}

/** What was asked, done and answered, so that questions about it can be answered later. */
function summarise({ ask, before, summary }: View): string {
  const keep = /\n\nThe user asks that this be kept above all: ([\s\S]+)$/.exec(ask)?.[1];
  return [
    ...(keep === undefined ? [] : [`To be kept above all: ${keep.trim()}`, '']),
    ...(summary === undefined ? [] : [summary, '']),
    ...(before.length === 0 ? ['Nothing was asked since.'] : ['The user asked:', ...before.map(exchangeLine)]),
  ].join('\n');
}

function exchangeLine({ ask, calls, answer }: Exchange): string {
  const done = calls.length === 0 ? '' : ` (${firstLine(calls.slice(0, 6).join(', '), 200)})`;
  return `- ${firstLine(ask, 200)}${done}: ${answer === '' ? 'not answered' : firstLine(answer, 200)}`;
}
