import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { sanitise } from '#lib/terminal.ts';
import type { Entry, Event } from '#domain/entry.ts';
import { faultLine } from '#domain/fault.ts';
import type { Outcome } from '#domain/ports.ts';
import type { Call, CallId } from '#domain/tool.ts';
import { costOf } from '#accounting/cost.ts';
import { type Arguments, UsageError } from '#cli/arguments.ts';
import { cardText } from '#headless/card-text.ts';
import { failureOf, type PrintResult, resultOf } from '#headless/result.ts';
import { readStdin, withPiped } from '#headless/stdin.ts';
import { sweepDrafts } from '#session/drafts.ts';
import { interpret } from '#session/effects.ts';
import { configure } from './configuration.ts';
import { type Conversation, openConversation } from './conversation.ts';
import { commandLine, dispatch } from './dispatch.ts';
import { createDelivery, type Delivery } from './delivery.ts';
import { buildHouse, type House, type Workers } from './house.ts';
import { findPlace } from './place.ts';
import { sessionToResume } from './resuming.ts';

const say = (text: string): void => { process.stderr.write(`pinion: ${sanitise(text)}\n`); };

/** Print mode: one prompt, one answer on standard output, an exit code. */
export async function print(args: Arguments, workers: Workers): Promise<number> {
  const began = performance.now();
  const prompt = withPiped(args.prompt, await pipedIn(args.prompt === undefined));
  if (prompt === undefined || prompt.trim() === '') throw new UsageError('print mode needs a prompt: pinion -p "…", or text on standard input.');
  const place = findPlace(process.env);
  const configuration = configure(place, args);
  for (const warning of configuration.warnings()) say(warning);
  if (!configuration.isTrusted() && configuration.trust.wantsOf(configuration.project, place.cwd).length > 0) {
    say('this folder is not trusted: what its settings allow, set or run has no effect (--trust takes it up).');
  }
  const delivery = createDelivery();
  const house = buildHouse({ place, args, configuration, workers, asker: { ask: async () => undefined }, onNotice: say, tell: () => undefined, wake: delivery.wake });
  for (const line of sweepDrafts(place.home.drafts)) say(line);
  house.start();
  try {
    const conversation = openConversation(house, await sessionToResume(args, place));
    for (const notice of conversation.notices) say(notice);
    return await runPrint({ args, house, conversation, delivery, prompt, began });
  } finally {
    house.close();
  }
}

/** Too much of it is bad input. */
function pipedIn(patient: boolean): Promise<string | undefined> {
  return readStdin(process.stdin, patient).catch((error: unknown) => { throw new UsageError(messageOf(error)); });
}

interface Printing {
  readonly args: Arguments;
  readonly house: House;
  readonly conversation: Conversation;
  readonly delivery: Delivery;
  readonly prompt: string;
  readonly began: number;
}

/** What a run came to: a turn's outcome, and of a command its card or refusal. */
interface Done {
  readonly outcome: Outcome;
  readonly card?: string;
  readonly refused?: boolean;
}

async function runPrint({ args, house, conversation, delivery, prompt, began }: Printing): Promise<number> {
  const interrupt = new AbortController();
  let signalled: 130 | 143 | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    const code = signal === 'SIGINT' ? 130 : 143;
    if (signalled !== undefined) process.exit(code);
    signalled = code;
    interrupt.abort(new Error('interrupted'));
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const unpinned = await conversation.pin(args.pin);
    if (unpinned.length > 0) throw new UsageError(`--pin: ${unpinned.join(' ')}`);
    const from = conversation.session.log.length;
    const usdBefore = costOf(conversation.session.log).usd ?? 0;
    const begun: Done = commandLine(prompt) === undefined
      ? { outcome: await drain(conversation.turn(prompt, interrupt.signal)) }
      : await runCommand(house, conversation, prompt, interrupt.signal);
    const done = { ...begun, outcome: await delivery.untilQuiet(house, conversation, { outcome: begun.outcome, from }, interrupt.signal, () => drain(conversation.turn(undefined, interrupt.signal))) };
    for (const { id, title } of house.tasks.running(conversation.session)) say(`${id} still ran and is ended with the program: ${title}`);
    const entries = conversation.session.log.slice(from);
    for (const text of warningsIn(entries, done.outcome)) say(text);
    const unsaved = conversation.unsaved();
    if (unsaved !== undefined) say(`this session could not be saved: ${unsaved}`);
    const result = resultOf({
      sessionId: conversation.session.id, entries, outcome: done.outcome, durationMs: performance.now() - began,
      usd: Math.max(0, (costOf(conversation.session.log).usd ?? 0) - usdBefore), model: house.desk.id(), denials: deniedIn(entries),
    });
    return signalled ?? write(args, forCommand(result, done), done);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    conversation.close();
  }
}

/** What the user is to know besides the answer. Why a run failed is said as its result. */
function warningsIn(entries: readonly Entry[], outcome: Outcome): readonly string[] {
  const warnings = entries.flatMap((entry) => (entry.type === 'notice' && entry.level === 'warning' ? [entry.text] : []));
  return outcome.kind === 'answered' || outcome.kind === 'interrupted' ? warnings : warnings.slice(0, -1);
}

/** A command takes no turn; what it showed is its result, unless it came to nothing. */
function forCommand(result: PrintResult, { card, refused }: Done): PrintResult {
  if (card === undefined) return result;
  if (refused === true) return { ...result, subtype: 'error_during_execution', is_error: true, num_turns: 0, result: card };
  return { ...result, num_turns: 0, ...(!result.is_error && { result: card }) };
}

/** Prints the result and says how the process ends. */
function write(args: Arguments, result: PrintResult, { refused, outcome }: Done): number {
  const failure = failureOf(outcome);
  if (args.outputFormat === 'json') process.stdout.write(`${jsonLine(result)}\n`);
  else if (refused === true || failure !== undefined) say(failure ?? result.result);
  else if (result.result !== '') process.stdout.write(`${sanitise(result.result)}\n`);
  return refused === true ? 2 : failure === undefined ? 0 : 1;
}

/** JSON on one line that is safe to print on a terminal: 8-bit controls and what turns the writing direction, which JSON leaves as they are, are escaped too. */
function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Runs a turn to its end; what went wrong on the way, and what it waits for, is said beside the answer. */
async function drain(events: AsyncGenerator<Event, Outcome>): Promise<Outcome> {
  let next = await events.next();
  for (; next.done !== true; next = await events.next()) {
    const { value } = next;
    if (value.type === 'fault') say(faultLine(value));
    if (value.type === 'waiting') say(`${value.reason}; attempt ${value.attempt} in ${Math.ceil(value.ms / 1000)} s`);
  }
  return next.value;
}

async function runCommand(house: House, conversation: Conversation, line: string, signal: AbortSignal): Promise<Done> {
  const parsed = commandLine(line);
  let done: Done = { outcome: { kind: 'answered' }, card: '' };
  if (parsed === undefined) return done;
  const { keyTable } = await import('#ui/keys.ts');
  await conversation.commands();
  const effect = await dispatch(parsed, conversation.context('print', keyTable(house.configuration.settings().keys).help));
  await interpret(effect, line, {
    show(shown, card) {
      conversation.append([{ type: 'command', line: shown, card }]);
      done = { ...done, card: cardText(card) };
    },
    append: (entries) => { conversation.append(entries); },
    async invoke(skill, args, line) {
      const outcome = await drain(conversation.invoke(skill, args, line, signal, (message) => { done = { ...done, card: `/${skill}: ${message}`, refused: true }; }));
      if (done.refused !== true) done = { outcome };
    },
    async submit(prompt, shown) { done = { outcome: await drain(conversation.turn(prompt, signal, shown)) }; },
    async stopTask(id) {
      const stopped = await house.tasks.stop(id, conversation.session);
      done = 'problem' in stopped ? { ...done, card: stopped.problem, refused: true } : { ...done, card: `Stopped: ${stopped.task.title}` };
    },
    async compact(keep) {
      const outcome = await drain(conversation.compact(keep, signal));
      done = { outcome, card: outcome.kind === 'answered' ? 'The conversation is compacted; pins and todos are kept.' : '' };
    },
    mode(mode) {
      conversation.setMode(mode);
      conversation.append([{ type: 'mode', mode }]);
      done = { ...done, card: `Mode: ${mode}` };
    },
    refuse(_line, message) { done = { ...done, card: message, refused: true }; },
    exit: () => undefined,
  });
  return done;
}

/** Calls that had to be asked for while nobody was there. */
function deniedIn(entries: readonly Entry[]): readonly Call[] {
  const refused = new Set(entries.flatMap((entry) => (entry.type === 'toolResult' && entry.result.kind === 'refused' ? [entry.callId as string] : [])));
  return entries.flatMap((entry) => (entry.type === 'assistant' ? entry.content : [])).flatMap((block): Call[] => (
    block.type === 'tool_use' && refused.has(block.id) ? [{ id: block.id as CallId, tool: block.name, input: block.input as Json }] : []
  ));
}
