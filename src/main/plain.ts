import { createInterface } from 'node:readline';
import { sanitise } from '#lib/terminal.ts';
import type { Arguments } from '#cli/arguments.ts';
import { cardText } from '#headless/card-text.ts';
import type { Entry } from '#domain/entry.ts';
import { faultLine } from '#domain/fault.ts';
import { hookLine, taskLine } from '#ui/blocks.ts';
import type { ScreenEvent } from '#ui/contract.ts';
import type { Workers } from './house.ts';
import type { Interactive } from './interactive.ts';
import { openInteractive } from './opening.ts';
import { type LineQuestion, lineQuestion } from './plain-questions.ts';

/**
 * The interactive program on a terminal that can only print lines (`TERM=dumb`, an editor's shell): one line in, plain lines
 * out, no cursor moved. Questions are answered by a line.
 */
export async function plain(args: Arguments, workers: Workers): Promise<number> {
  const opened = await openInteractive(args, workers);
  const { interactive } = opened;
  const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const face = createFace(interactive);
  lines.on('line', face.line);
  lines.on('close', () => { interactive.exit(); });
  const interrupt = (): void => { if (!interactive.interrupt()) interactive.exit(); };
  lines.on('SIGINT', interrupt);
  process.on('SIGINT', interrupt);
  void opened.begin(face.show).then(face.begun);
  await opened.left;
  process.off('SIGINT', interrupt);
  lines.close();
  await opened.close();
  return 0;
}

/** What is written where, and who answers to a line. */
function createFace(interactive: Interactive) {
  const { prompt, write, stream, endStream } = createPrinter();
  /** Open questions, oldest first: only the first one was written, and a line answers it. */
  let asked: readonly LineQuestion[] = [];
  let busy = false;
  let begun = false;
  const ask = (next: readonly LineQuestion[]): void => {
    const [first] = next;
    if (first !== undefined && first !== asked[0]) write(first.text);
    asked = next;
  };
  const settle = (event: ScreenEvent): void => {
    if (event.type === 'ask' || event.type === 'pick' || event.type === 'secret' || event.type === 'queue') ask([...asked, lineQuestion(event)]);
    if (event.type === 'settled') ask(asked.filter(({ id }) => id !== event.id));
    if (event.type === 'edit') interactive.edited(event.id, `this terminal can only print lines; the file is ${event.file}`);
    if (event.type === 'busy' || event.type === 'idle') busy = event.type === 'busy';
  };
  return {
    show(event: ScreenEvent): void {
      if (event.type === 'textDelta') return stream(sanitise(event.text));
      const answered = event.type === 'entry' && event.entry.type === 'assistant';
      if ((answered || event.type === 'discarded') && endStream() && answered) return undefined;
      const text = textOf(event);
      if (text !== undefined) write(text);
      settle(event);
      if (begun && (event.type === 'idle' || (!busy && comesOfACommand(event)))) prompt();
      return undefined;
    },
    line(line: string): void {
      const [question, ...others] = asked;
      write();
      if (question === undefined) {
        interactive.submit(line);
        if (line.trim() === '') prompt();
        return;
      }
      const next = question.take(line.trim(), interactive);
      if (next !== undefined) ask([next, ...others]);
    },
    begun(): void {
      begun = true;
      if (!busy) prompt();
    },
  };
}

function comesOfACommand(event: ScreenEvent): boolean {
  return event.type === 'fault' || event.type === 'card' || event.type === 'draft' || (event.type === 'entry' && event.entry.type === 'command');
}

/** Lines out, one after the other, with the prompt and streamed text in their places. */
function createPrinter() {
  /** A prompt stands at the start of the last line, and nothing was entered at it yet. */
  let prompted = false;
  let streaming = false;
  return {
    prompt(): void {
      if (!prompted) process.stdout.write('> ');
      prompted = true;
    },
    /** Without a text: a line was entered, at the prompt if there was one. */
    write(text?: string): void {
      if (text !== undefined) process.stdout.write(`${prompted ? '\n' : ''}${text}\n`);
      prompted = false;
    },
    stream(text: string): void {
      process.stdout.write(`${prompted ? '\n' : ''}${text}`);
      prompted = false;
      streaming = true;
    },
    /** Whether a text was being streamed: its last line is ended. */
    endStream(): boolean {
      if (streaming) process.stdout.write('\n');
      const was = streaming;
      streaming = false;
      return was;
    },
  };
}

function textOf(event: ScreenEvent): string | undefined {
  switch (event.type) {
    case 'entry': return entryText(event.entry);
    case 'replay': return event.entries.map(entryText).filter((text) => text !== undefined).join('\n\n');
    case 'card': return cardText(event.card);
    case 'fault': return sanitise(`! ${faultLine(event)}`);
    case 'waiting': return sanitise(`(${event.reason}; trying again in ${Math.ceil(event.ms / 1000)} s)`);
    case 'doing': return sanitise(`(${event.what} …)`);
    case 'discarded': return '(the answer broke off and is asked for again)';
    case 'compacted': return event.of === 0 ? undefined : `(${event.kept}/${event.of} pins kept)`;
    case 'insert': return sanitise(`(mentioned in the editor: ${event.text})`);
    case 'draft': return sanitise(`(taken back: ${event.text})`);
    default: return undefined;
  }
}

function entryText(entry: Entry): string | undefined {
  switch (entry.type) {
    case 'assistant': return sanitise(entry.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')) || undefined;
    case 'toolResult': return cardText(entry.result.card);
    case 'command': return cardText(entry.card);
    case 'shell': return sanitise(`! ${entry.command}\n${entry.output}`);
    case 'task': {
      const line = taskLine(entry.task);
      return line === undefined ? undefined : `(${line})`;
    }
    case 'prompt': return undefined;
    case 'notice': return sanitise(`! ${entry.text}`);
    case 'hookContext': return `(${hookLine(entry)})`;
    default: return undefined;
  }
}
