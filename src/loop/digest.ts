import { cutToLength } from '#lib/text.ts';
import type { Entry } from '#domain/entry.ts';
import { compactionOf, conversationOf, knownFilesOf } from '#domain/folds.ts';

const PROMPTS = 20;
const FILES = 40;

/** A summary made without a model, for a conversation that no model can be given any more: what the user asked, the files, the last words. */
export function digestOf(log: readonly Entry[]): string {
  const conversation = conversationOf(log);
  const before = compactionOf(log)?.summary ?? '';
  const prompts = conversation.flatMap((entry) => (entry.type === 'prompt' ? [`- ${cutToLength(entry.text.replace(/\s+/g, ' ').trim(), 400)}`] : []));
  const files = [...knownFilesOf(log).values()].map(({ path, how }) => `- ${path} (${how})`);
  const said = conversation.flatMap((entry) => (entry.type === 'assistant' ? entry.content : [])).flatMap((block) => (block.type === 'text' ? [block.text.trim()] : []));
  return [
    'This summary was made by the program, because the conversation had become too long for a model to summarise.',
    section('Summary before that', before === '' ? [] : [cutToLength(before, 6000)]),
    section('What the user asked, latest last', prompts.slice(-PROMPTS)),
    section('Files that were read or changed', files.slice(-FILES)),
    section('The last answer', said.filter((text) => text !== '').slice(-1).map((text) => cutToLength(text, 3000))),
  ].filter((text) => text !== '').join('\n\n');
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}:\n${lines.join('\n')}`;
}
