import { isDeepStrictEqual } from 'node:util';
import type { Done } from './in-view.ts';
import type { Rule, Turn } from './rule.ts';
import { agentRules, newsIn } from './rules-agents.ts';
import { fileRules } from './rules-files.ts';
import { initRule } from './rules-init.ts';
import { modeRules } from './rules-modes.ts';
import { skillRules } from './rules-skills.ts';
import { asksForSummary, lookUpRule, talkRules } from './rules-talk.ts';
import { taskRules } from './rules-tasks.ts';
import { todoRules } from './rules-todos.ts';
import { webRules } from './rules-web.ts';
import { workRules } from './rules-work.ts';
import type { Conversation, Exchange, Open, View } from './view.ts';
import { firstLine, plain } from './words.ts';

const HELP = /^(?:help|\?|hi|hello|hey|good (?:morning|day|evening)|who are you|what are you|are you (?:an ai|a bot|claude|real)|what can (?:you|i) (?:do|ask|say)|what do you (?:know|understand)|there|demo)\b[^\n]{0,40}$/i;

/** In the order in which they are tried. Each has an example for the README's table; `/compact` is no prompt, but asks the model too. */
export const rules: readonly Rule[] = [
  { id: 'help', example: 'What can you do?', tools: [], reply: ({ ask }) => (HELP.test(ask) ? { say: table() } : undefined) },
  initRule,
  ...skillRules,
  ...modeRules,
  ...talkRules,
  ...todoRules,
  ...taskRules,
  ...agentRules,
  ...workRules,
  ...webRules,
  ...fileRules,
  lookUpRule,
  { id: 'go-on', example: 'Go on', tools: [], needs: 'a request that was interrupted', reply: ({ ask }) => (GO_ON.test(ask) ? { say: 'There is nothing to go on with.' } : undefined) },
];

const GO_ON = /^(?:go on|continue|carry on|try again|again|once more|resume)[.!]*$/i;
/** Characters beyond which a request is none of the plain ones. */
const LONG = 2000;
const SEARCH = 'ToolSearch';
const LOOKS = new Set(['Read', 'Glob', 'Grep', SEARCH]);
/** Calls for one turn, after which it ends whatever was asked. */
const MOST_CALLS = 30;
const STOPPED = /\(interrupted by the user\)$|^The user interrupted the call|^Interrupted by the user|^Not run: the user |^The user refused this call|^The user does not (?:approve the plan\.|want to answer)|^There is no result: the call was cut off/;
const REFUSED = /^The user refused this call and said: ([\s\S]+)$/;

/** What the demo model says to a request: one call at a time, and at the end an answer to all that is open. */
export function replyTo(talk: Conversation): Turn {
  if (talk.calls.length >= MOST_CALLS) return { say: `I stop here: I have made ${talk.calls.length} calls for this.` };
  const summary = talk.open.find(({ text }) => asksForSummary(text));
  const asks: Open[] = summary === undefined ? [...talk.open] : [summary];
  const before: Exchange[] = [...talk.before];
  let said: string[] = [];
  let from = 0;
  for (let ask = asks.shift(); ask !== undefined; ask = asks.shift()) {
    const goesOn = GO_ON.test(plain(ask.text));
    if (goesOn && said.length > 0) continue;
    const words = goesOn ? lastAsked(before) ?? ask.text : ask.text;
    const work = workOn(plain(words), { talk, before, from, careful: ask.loose && !asks.every(({ text }) => GO_ON.test(plain(text))) });
    from = work.next;
    before.push({ ask: ask.text, calls: [], answer: '' });
    // What was said beside a call that has a result now was said then.
    if (work.called) said = [];
    if (work.turn?.say !== undefined) said.push(work.turn.say);
    if (work.instead !== undefined) asks.unshift({ text: work.instead, loose: false });
    if (work.turn?.call !== undefined) return { ...work.turn, ...(said.length > 0 && { say: said.join('\n\n') }) };
  }
  if (said.length > 0) return { say: said.join('\n\n') };
  return { say: (talk.open.length === 0 ? newsIn(talk.news) : undefined) ?? 'All right, I leave that.' };
}

/** What "go on" means. */
function lastAsked(before: readonly Exchange[]): string | undefined {
  return before.findLast((one) => !GO_ON.test(plain(one.ask)))?.ask;
}

interface Work {
  /** Undefined when the user stopped it. */
  readonly turn: Turn | undefined;
  /** What the user wants instead. */
  readonly instead?: string;
  /** Index of the first call that was not made for these words. */
  readonly next: number;
  readonly called: boolean;
}

interface Working {
  readonly talk: Conversation;
  readonly before: readonly Exchange[];
  /** Index of the first call that may be its own. */
  readonly from: number;
  /** Change and run nothing: the user may have taken it back. */
  readonly careful: boolean;
}

/** Goes through a request again with the results that are there, up to its answer or its next call. */
function workOn(ask: string, { talk, before, from, careful }: Working): Work {
  const done: Done[] = [];
  let next = from;
  for (;;) {
    const turn = answerTo({ ...talk, ask, done, before }) ?? { say: unknown(talk.calls.slice(next)) };
    const { call } = turn;
    if (careful && call !== undefined && !LOOKS.has(call.tool)) return { turn: { say: `I did not do this: "${firstLine(ask, 80)}". Say it again if you still want it.` }, next, called: false };
    const at = call === undefined ? -1 : talk.calls.findIndex(({ tool }, index) => index >= next && tool === call.tool);
    const made = talk.calls[at];
    if (made === undefined) return { turn: sameAgain(turn, done), next, called: done.length > 0 };
    next = at + 1;
    if (made.failed && STOPPED.test(made.text)) {
      const instead = REFUSED.exec(made.text)?.[1];
      return { turn: undefined, next, called: true, ...(instead !== undefined && { instead }) };
    }
    done.push(made);
  }
}

/** A call that has just failed is not made again as it was. */
function sameAgain(turn: Turn, done: readonly Done[]): Turn {
  const last = done.at(-1);
  const same = turn.call !== undefined && last?.failed === true && last.tool === turn.call.tool && isDeepStrictEqual(last.input, turn.call.input);
  return same ? { say: `That failed just now, so I do not try it again: ${last.text}` } : turn;
}

function answerTo(view: View): Turn | undefined {
  for (const rule of rules) {
    if (view.ask.length > LONG && rule.anyLength !== true) continue;
    const turn = rule.reply(view);
    if (turn === undefined) continue;
    if (turn.call === undefined || view.tools.has(turn.call.tool)) return turn;
    // Once it is loaded it is among the tools, and the search is passed over.
    if (view.tools.has(SEARCH) && !view.done.some(({ tool, failed }) => tool === SEARCH && !failed)) return { call: { tool: SEARCH, input: { query: `select:${turn.call.tool}` } } };
    return { say: `For that I would need the tool ${turn.call.tool}, which I was not given here.` };
  }
  return undefined;
}

/** Calls of another model may be left over in the middle of a turn: what they gave is all that can be told. */
function unknown(calls: readonly Done[]): string {
  const last = calls.at(-1);
  const some = rules.filter(({ tools, needs }) => tools.length > 0 && needs === undefined).slice(0, 6).map(({ example }) => `- ${example}`);
  return [
    ...(last === undefined || last.text === '' ? [] : [`${last.tool} gave this:`, '', last.text.slice(0, 2000), '']),
    'I am the demo model: a set of rules, no AI. I did not understand that. I understand plain requests such as:', '', ...some, '', '"What can you do?" shows all of them. With a key (/login) a real model answers.',
  ].join('\n');
}

function table(): string {
  return [
    'I am the demo model: a set of rules, no AI. I work offline and cost nothing, and I drive the real tools. I understand plain requests such as:', '',
    ...rules.map(({ example, tools, needs }) => `- ${example}${tools.length === 0 ? '' : ` → ${tools.join(', ')}`}${needs === undefined ? '' : ` (needs ${needs})`}`), '',
    'With a key (/login, or ANTHROPIC_API_KEY) a real model answers.',
  ].join('\n');
}
