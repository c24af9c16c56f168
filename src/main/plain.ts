import { createInterface } from 'node:readline';
import { sanitise } from '#lib/terminal.ts';
import type { Arguments } from '#cli/arguments.ts';
import { cardText } from '#headless/card-text.ts';
import type { Entry } from '#domain/entry.ts';
import type { Answer, Question } from '#domain/ports.ts';
import type { ScreenEvent } from '#ui/contract.ts';
import type { Workers } from './house.ts';
import type { Interactive } from './interactive.ts';
import { openInteractive } from './opening.ts';

type Asked = Extract<ScreenEvent, { type: 'ask' | 'pick' | 'secret' }>;

/**
 * The interactive program on a terminal that can only print lines (`TERM=dumb`, an editor's shell): one line in, plain lines
 * out, no cursor moved. Questions are answered by a line.
 */
export async function plain(args: Arguments, workers: Workers): Promise<number> {
  const opened = await openInteractive(args, workers);
  const { interactive } = opened;
  const asked: Asked[] = [];
  const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  /** A prompt stands at the start of the last line, and nothing was entered at it yet. */
  let prompted = false;
  const prompt = (): void => {
    if (!prompted) process.stdout.write('> ');
    prompted = true;
  };
  const write = (text: string): void => {
    process.stdout.write(`${prompted ? '\n' : ''}${text}\n`);
    prompted = false;
  };
  let streaming = false;
  let busy = false;
  let begun = false;
  const show = (event: ScreenEvent): void => {
    if (event.type === 'textDelta') {
      process.stdout.write(`${prompted ? '\n' : ''}${sanitise(event.text)}`);
      prompted = false;
      streaming = true;
      return;
    }
    if (streaming && (event.type === 'discarded' || (event.type === 'entry' && event.entry.type === 'assistant'))) {
      streaming = false;
      write('');
      if (event.type === 'entry') return;
    }
    if (event.type === 'ask' || event.type === 'pick' || event.type === 'secret') asked.push(event);
    if (event.type === 'settled') removeAsked(asked, event.id);
    const text = textOf(event);
    if (text !== undefined) write(text);
    if (event.type === 'busy' || event.type === 'idle') busy = event.type === 'busy';
    if (begun && (event.type === 'idle' || (!busy && (event.type === 'fault' || event.type === 'card' || (event.type === 'entry' && event.entry.type === 'command'))))) prompt();
  };
  lines.on('line', (line) => {
    prompted = false;
    const question = asked[0];
    if (question === undefined) interactive.submit(line);
    else answer(interactive, question, line.trim());
    if (question === undefined && line.trim() === '') prompt();
  });
  lines.on('close', () => { interactive.exit(); });
  lines.on('SIGINT', () => { if (!interactive.interrupt()) interactive.exit(); });
  const interrupt = (): void => { if (!interactive.interrupt()) interactive.exit(); };
  process.on('SIGINT', interrupt);
  void opened.begin(show).then(() => {
    begun = true;
    if (!busy) prompt();
  });
  await opened.left;
  process.off('SIGINT', interrupt);
  lines.close();
  await opened.close();
  return 0;
}

function removeAsked(asked: Asked[], id: number): void {
  const at = asked.findIndex((one) => one.id === id);
  if (at !== -1) asked.splice(at, 1);
}

function answer(interactive: Interactive, question: Asked, line: string): void {
  if (question.type === 'secret') return interactive.secret(question.id, line === '' ? undefined : line);
  if (question.type === 'pick') return interactive.pick(question.id, question.picker.items[Number(line) - 1]?.id);
  return interactive.answer(question.id, answerOf(line));
}

/** `y`, `a` and `n` (or 1, 2, 3); any other words are what to do instead. */
function answerOf(line: string): Answer {
  if (/^(?:y|yes|1)$/i.test(line)) return { kind: 'yes' };
  if (/^(?:a|always|2)$/i.test(line)) return { kind: 'always' };
  return line === '' || /^(?:n|no|3)$/i.test(line) ? { kind: 'no' } : { kind: 'no', instead: line };
}

function textOf(event: ScreenEvent): string | undefined {
  switch (event.type) {
    case 'entry': return entryText(event.entry);
    case 'replay': return event.entries.map(entryText).filter((text) => text !== undefined).join('\n\n');
    case 'card': return cardText(event.card);
    case 'fault': return sanitise(`! ${event.where}: ${event.message}`);
    case 'waiting': return sanitise(`(${event.reason}; trying again in ${Math.ceil(event.ms / 1000)} s)`);
    case 'doing': return sanitise(`(${event.what} …)`);
    case 'discarded': return '(the answer broke off and is asked for again)';
    case 'compacted': return `(${event.kept}/${event.of} pins kept)`;
    case 'ask': return questionText(event.question);
    case 'pick': return [event.picker.title, ...event.picker.items.map(({ label, detail }, i) => `  ${i + 1} ${label}${detail === undefined ? '' : ` (${detail})`}`), 'Number, or an empty line for none:'].map((line) => sanitise(line)).join('\n');
    case 'secret': return `${event.title}: ${event.hint}`;
    default: return undefined;
  }
}

function entryText(entry: Entry): string | undefined {
  switch (entry.type) {
    case 'assistant': return sanitise(entry.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')) || undefined;
    case 'toolResult': return cardText(entry.result.card);
    case 'command': return cardText(entry.card);
    case 'shell': return sanitise(`! ${entry.command}\n${entry.output}`);
    case 'prompt': return undefined;
    case 'notice': return sanitise(`! ${entry.text}`);
    default: return undefined;
  }
}

function questionText(question: Question): string {
  if (question.kind === 'goOn') return sanitise(`${question.text}\nGo on? y or n:`);
  if (question.kind === 'trust') return sanitise(`${question.folder} wants:\n${question.wants.map((want) => `- ${want}`).join('\n')}\nTrust it? y or n:`);
  if (question.kind === 'confirm') return sanitise(`${question.title}\n${question.lines.map((line) => `- ${line}`).join('\n')}\ny or n:`);
  if (question.kind === 'plan') return sanitise(`${question.plan}\nGo ahead? y, a (and accept edits), n, or what to change:`);
  if (question.kind === 'choices') return sanitise(question.questions.map(({ question: text, options }) => [text, ...options.map(({ label }, i) => `  ${i + 1} ${label}`)].join('\n')).join('\n'));
  const always = question.rules.length === 0 ? '' : `, a (always: ${question.rules.join(', ')})`;
  return `${cardText(question.card)}\n${sanitise(question.reason)}\ny (yes)${sanitise(always)}, n (no), or what to do instead:`;
}
