import { sanitise } from '#lib/terminal.ts';
import type { Entry, Event } from '#domain/entry.ts';
import { faultLine } from '#domain/fault.ts';
import type { Outcome } from '#domain/ports.ts';
import { costOf } from '#accounting/cost.ts';
import type { Arguments } from '#cli/arguments.ts';
import { jsonLine } from '#headless/lines.ts';
import { failureOf, type PrintResult } from '#headless/result.ts';
import { createDelivery, type Delivery } from '#main/delivery.ts';
import type { Workers } from '#main/house.ts';
import { openPrint, type PrintRoom, promptIn, say } from './open.ts';
import { createDenials } from './denials.ts';
import { type Done, exitCodeOf, type Heard, resultFor, runPrompt } from './run.ts';
import { untilSignal } from './signals.ts';

/** Print mode: one prompt, one answer on standard output, an exit code. With stream-json, in the room of its own. */
export async function print(args: Arguments, workers: Workers): Promise<number> {
  if (args.outputFormat === 'stream-json') {
    const { printStream } = await import('./stream.ts');
    return printStream(args, workers);
  }
  const began = performance.now();
  const prompt = await promptIn(args);
  const delivery = createDelivery();
  const denials = createDenials();
  let apiMs = 0;
  const room = await openPrint({
    args, workers, asker: { ask: async () => undefined }, tell: () => undefined, wake: delivery.wake,
    overhear: { took: (_session, ms) => { apiMs += ms; }, agent: denials.agent },
  });
  try {
    return await runOnce({ args, room, delivery, prompt, began, heard: () => ({ apiMs, denied: denials.take() }) });
  } finally {
    await room.close();
  }
}

interface Printing {
  readonly args: Arguments;
  readonly room: PrintRoom;
  readonly delivery: Delivery;
  readonly prompt: string;
  readonly began: number;
  readonly heard: () => Heard;
}

async function runOnce({ args, room: { house, conversation, structure }, delivery, prompt, began, heard }: Printing): Promise<number> {
  const interrupt = untilSignal();
  const drain = (events: AsyncGenerator<Event, Outcome>): Promise<Outcome> => drained(events, args.verbose);
  const { session } = conversation;
  try {
    const from = session.log.length;
    const begun = { at: began, from, usd: costOf(session.log).usd ?? 0, apiMs: 0 };
    const first = await runPrompt({ house, conversation, drain }, { text: prompt }, interrupt.signal);
    const again = (): Promise<Outcome> => drain(conversation.turn(undefined, interrupt.signal));
    const quiet = { ...first, outcome: await delivery.untilQuiet(house, conversation, { outcome: first.outcome, from }, interrupt.signal, again) };
    const done = await structure?.insist(quiet, conversation, from, again) ?? quiet;
    for (const { id, title } of house.tasks.running(session)) say(`${id} still ran and is ended with the program: ${title}`);
    for (const text of warningsIn(session.log.slice(from), done.outcome)) say(text);
    const unsaved = conversation.unsaved();
    if (unsaved !== undefined) say(`this session could not be saved: ${unsaved}`);
    const code = interrupt.code();
    // Who interrupts a text wants no more of it; who reads JSON waits for the object.
    if (code !== undefined && args.outputFormat === 'text') return code;
    const ended = write(args, resultFor({ house, conversation }, done, begun, heard()), done);
    return code ?? ended;
  } finally {
    interrupt.end();
  }
}

/** What the user is to know besides the answer. Why a run failed is said as its result. */
function warningsIn(entries: readonly Entry[], outcome: Outcome): readonly string[] {
  const warnings = entries.flatMap((entry) => (entry.type === 'notice' && entry.level === 'warning' ? [entry.text] : []));
  return outcome.kind === 'answered' || outcome.kind === 'interrupted' ? warnings : warnings.slice(0, -1);
}

/** Prints the result and says how the process ends. */
function write(args: Arguments, result: PrintResult, done: Done): number {
  const failure = failureOf(done.outcome);
  if (args.outputFormat === 'json') process.stdout.write(`${jsonLine(result)}\n`);
  else if (done.refused === true || failure !== undefined) say(failure ?? result.result);
  else if (result.result !== '') process.stdout.write(`${sanitise(result.result)}\n`);
  return exitCodeOf(done);
}

/** Runs a turn to its end; what went wrong on the way, and what it waits for, is said beside the answer; `verbose`: each call too. */
async function drained(events: AsyncGenerator<Event, Outcome>, verbose: boolean): Promise<Outcome> {
  let next = await events.next();
  for (; next.done !== true; next = await events.next()) {
    const line = lineOf(next.value, verbose);
    if (line !== undefined) say(line);
  }
  return next.value;
}

function lineOf(event: Event, verbose: boolean): string | undefined {
  if (event.type === 'fault') return faultLine(event);
  if (event.type === 'waiting') return `${event.reason}; attempt ${event.attempt} in ${Math.ceil(event.ms / 1000)} s`;
  if (!verbose) return undefined;
  if (event.type === 'toolStarted') return event.card.title;
  if (event.type === 'doing') return `${event.what} …`;
  if (event.type !== 'entry') return undefined;
  const { entry } = event;
  if (entry.type === 'toolResult') return entry.result.kind === 'ok' ? undefined : `${entry.result.card.title}: ${entry.result.card.detail ?? entry.result.kind}`;
  if (entry.type === 'assistant') return `${entry.model}: ${entry.usage.input + entry.usage.cacheRead + entry.usage.cacheWrite} tokens in, ${entry.usage.output} out`;
  return entry.type === 'reminder' ? `told the model: ${entry.source} (${entry.form})` : undefined;
}
