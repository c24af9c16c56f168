import { count } from '#lib/text.ts';
import type { Rule, Turn } from './rule.ts';
import type { View } from './view.ts';
import { fenced, lastOf, linesOf, someOf, sorry } from './words.ts';

const USE = /^(?:use|load|follow|apply)(?: the)? skill [`"]?([\p{L}\p{N}][\p{L}\p{N}:_.-]{0,99}?)[`"]?(?: (?:for|on|with|about) ([^\n]{1,500}?))?[.!]*$/iu;
/** A skill's text, as it comes from the tool or in place of the prompt with which the user called it. */
const SKILL = /^Skill ([^\n]{1,200}?)\. The files that it speaks of lie in [^\n]*\.\n\n([\s\S]*)$/;
const SHOWN_LINES = 10;

/** Skills, by their names; what they say is shown, for rules can follow nothing. */
export const skillRules: readonly Rule[] = [
  { id: 'skill', example: 'Use the skill keeper', tools: ['Skill'], needs: 'a skill of that name', anyLength: true, reply: use },
];

function use(view: View): Turn | undefined {
  const called = SKILL.exec(view.ask);
  if (called !== null) return { say: told(called) };
  const [, skill, args] = view.ask.length > 1000 ? [] : USE.exec(view.ask) ?? [];
  if (skill === undefined) return undefined;
  const done = lastOf(view, 'Skill');
  if (done === undefined) return { call: { tool: 'Skill', input: { skill, ...(args !== undefined && { args }) } } };
  if (done.failed) return { say: sorry(`use the skill ${skill}`, done) };
  return { say: told(SKILL.exec(done.text) ?? ['', skill, done.text]) };
}

function told([, name = '', text = '']: readonly string[]): string {
  const lines = linesOf(text);
  return [`The skill ${name} is in view, ${count(lines.length, 'line')}:`, '', fenced(someOf(lines, SHOWN_LINES)), '', 'I am a set of rules and cannot follow it; a real model would.'].join('\n');
}
