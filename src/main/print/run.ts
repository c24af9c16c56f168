import { randomUUID } from 'node:crypto';
import type { Json } from '#lib/brand.ts';
import { UserError } from '#lib/errors.ts';
import type { Entry, Event } from '#domain/entry.ts';
import type { Outcome } from '#domain/ports.ts';
import type { Call } from '#domain/tool.ts';
import { costOf } from '#accounting/cost.ts';
import { cardText } from '#headless/card-text.ts';
import { jsonLine } from '#headless/lines.ts';
import { failureOf, type ModelUsage, type PrintResult, resultOf } from '#headless/result.ts';
import { interpret } from '#session/effects.ts';
import type { PromptBody } from '#loop/query.ts';
import type { Conversation } from '#main/conversation.ts';
import { commandLine, dispatch } from '#main/dispatch.ts';
import type { House } from '#main/house.ts';
import { deniedIn } from './denials.ts';

/** What a run came to: a turn's outcome, and of a command its card or refusal. */
export interface Done {
  readonly outcome: Outcome;
  readonly card?: string;
  readonly refused?: boolean;
  /** Of a run that is to come to JSON of a certain shape: that. */
  readonly output?: Json;
  /** It did not come to it. */
  readonly unfit?: true;
}

/** Lets a turn run to its end, and shows what happens. */
export type Drain = (events: AsyncGenerator<Event, Outcome>) => Promise<Outcome>;

export interface Runner {
  readonly house: House;
  readonly conversation: Conversation;
  readonly drain: Drain;
}

/** One prompt or slash command, to its end. */
export function runPrompt(runner: Runner, prompt: PromptBody, signal: AbortSignal): Promise<Done> {
  const { conversation, drain } = runner;
  if (commandLine(prompt.text) !== undefined && prompt.media === undefined) return runCommand(runner, prompt.text, signal);
  return drain(conversation.turn(prompt, signal)).then((outcome) => ({ outcome }));
}

async function runCommand({ house, conversation, drain }: Runner, line: string, signal: AbortSignal): Promise<Done> {
  const parsed = commandLine(line);
  let done: Done = { outcome: { kind: 'answered' }, card: '' };
  if (parsed === undefined) return done;
  const { keyTable } = await import('#ui/keys.ts');
  await conversation.commands();
  /** What cannot be done for a reason that is the user's to know is a refusal. */
  const settled = async (task: () => Promise<void>): Promise<void> => {
    try {
      await task();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      done = { ...done, card: error.message, refused: true };
    }
  };
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
    configure: (change) => settled(async () => { if (change !== undefined) done = { ...done, card: cardText(await (await import('#main/settings/config-change.ts')).changeSetting(house, change)) }; }),
    import: (wanted) => settled(async () => (await import('#main/settings/import-run.ts')).runImport(house, wanted, { show: (card) => { done = { ...done, card: cardText(card) }; } })),
    refuse(_line, message) { done = { ...done, card: message, refused: true }; },
    exit: () => undefined,
  });
  return done;
}

/** How the process ends after a run. */
export function exitCodeOf({ refused, outcome }: Done): 0 | 1 | 2 {
  return refused === true ? 2 : failureOf(outcome) === undefined ? 0 : 1;
}

/** Where a run began. */
export interface Begun {
  /** `performance.now()`. */
  readonly at: number;
  /** How long the log was. */
  readonly from: number;
  readonly usd: number;
  /** Milliseconds that the model's answers had taken before. */
  readonly apiMs: number;
}

/** What was heard beside the conversation's own log: milliseconds that answers have taken, and what sub-agents were refused in this run. */
export interface Heard {
  readonly apiMs: number;
  readonly denied: readonly Call[];
}

/** What a run came to, as it is printed. */
export function resultFor({ house, conversation }: Pick<Runner, 'house' | 'conversation'>, done: Done, begun: Begun, { apiMs, denied }: Heard): PrintResult {
  const { session } = conversation;
  const entries = session.log.slice(begun.from);
  const result = resultOf({
    sessionId: session.id, entries, outcome: done.outcome, durationMs: performance.now() - begun.at, apiMs: apiMs - begun.apiMs,
    usd: Math.max(0, (costOf(session.log).usd ?? 0) - begun.usd), model: house.desk.id(), denials: [...deniedIn(entries), ...denied],
    models: modelsIn(house, entries), uuid: randomUUID(),
  });
  return forCommand(forOutput(result, done), done);
}

/** What a program reads in place of an answer is the result. */
function forOutput(result: PrintResult, { output, unfit }: Done): PrintResult {
  if (unfit === true) return { ...result, subtype: 'error_max_structured_output_retries' };
  if (output === undefined) return result;
  return { ...result, ...(!result.is_error && { result: jsonLine(output) }), structured_output: output };
}

/** A command takes no turn; what it showed is its result, unless it came to nothing. */
function forCommand(result: PrintResult, { card, refused }: Done): PrintResult {
  if (card === undefined) return result;
  if (refused === true) return { ...result, subtype: 'error_during_execution', is_error: true, num_turns: 0, result: card, terminal_reason: 'refused', errors: [card] };
  return { ...result, num_turns: 0, ...(!result.is_error && { result: card }) };
}

function modelsIn({ desk }: House, entries: readonly Entry[]): Readonly<Record<string, ModelUsage>> {
  const searches = (model: string): number => entries.reduce((sum, entry) => sum + ('usage' in entry && entry.model === model ? entry.usage.searches ?? 0 : 0), 0);
  return Object.fromEntries(costOf(entries).perModel.map(({ model, usd, input, output, cacheRead, cacheWrite }) => {
    const { window, maxOutput } = desk.factsOf(model);
    return [model, {
      inputTokens: input, outputTokens: output, cacheReadInputTokens: cacheRead, cacheCreationInputTokens: cacheWrite, webSearchRequests: searches(model), costUSD: usd ?? 0,
      contextWindow: window, maxOutputTokens: maxOutput,
    }];
  }));
}
