import type { Rule, Turn } from './rule.ts';
import type { View } from './view.ts';
import { lastOf, sorry } from './words.ts';

const PLAN = /^(?:make a |a )?plan(?: for| to)?:?\s+(\S[^\n]*)$/i;
const ASK = /^(?:ask me|let me choose|which one|choose):?\s+([^\n?]+?)[?.]?$/i;
/** Names of questions and options are short. */
const LONGEST = 60;

/** Requests that lead to a question of the program's own: a plan to approve, answers to choose from. */
export const modeRules: readonly Rule[] = [
  { id: 'plan', example: 'Plan: read the lamp, change it, check it', tools: ['ExitPlanMode'], needs: 'plan mode (/plan on)', reply: layPlan },
  { id: 'ask-me', example: 'Ask me: red, blue or green?', tools: ['AskUserQuestion'], reply: askBack },
];

function layPlan(view: View): Turn | undefined {
  const wish = PLAN.exec(view.ask)?.[1];
  if (wish === undefined) return undefined;
  const steps = wish.split(/,\s*(?:then |and )?|;\s*|\s+then\s+/).map((step) => step.trim().replace(/[.!]+$/, '')).filter((step) => step !== '');
  const done = lastOf(view, 'ExitPlanMode');
  if (done === undefined) return { call: { tool: 'ExitPlanMode', input: { plan: [`# Plan: ${steps[0] ?? ''}`, '', ...steps.map((step, n) => `${n + 1}. ${step}`)].join('\n') } } };
  if (done.text.startsWith('Plan mode is not on')) return { say: 'Plan mode is not on: `/plan on` turns it on.' };
  if (done.failed) return { say: sorry('begin', done) };
  return { say: 'The plan is approved. I am a set of rules and cannot carry out any plan: ask for one step after the other.' };
}

function askBack(view: View): Turn | undefined {
  const labels = ASK.exec(view.ask)?.[1]?.split(/,\s*(?:or )?|\s+or\s+/).map((label) => label.trim().slice(0, LONGEST)).filter((label) => label !== '') ?? [];
  if (labels.length < 2 || labels.length > 4 || new Set(labels).size < labels.length) return undefined;
  const done = lastOf(view, 'AskUserQuestion');
  if (done === undefined) return { call: { tool: 'AskUserQuestion', input: { questions: [{ question: 'Which one?', header: 'Choice', options: labels.map((label) => ({ label, description: '' })) }] } } };
  if (done.failed) return { say: sorry('ask you', done) };
  const chosen = /^- Which one\? → ([^\n]*)$/m.exec(done.text)?.[1];
  return { say: chosen === undefined ? done.text : `You chose: ${chosen}.` };
}
