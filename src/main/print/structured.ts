import * as z from 'zod';
import type { Json } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import type { Entry } from '#domain/entry.ts';
import type { Outcome } from '#domain/ports.ts';
import { defineSource, type Source } from '#attachments/define.ts';
import type { Tool } from '#tools/define.ts';
import { done, failed } from '#tools/result.ts';
import type { Conversation } from '#main/conversation.ts';
import { readOutputSchema } from './json-schema.ts';
import type { Done } from './run.ts';
import description from './structured-output.md';

const TOOL = 'StructuredOutput';
/** So many answers that do not fit, or give nothing, and the run has failed. */
const MOST_TRIES = 5;
const NONE_FITS = `the model gave no output that fits --json-schema in ${MOST_TRIES} tries`;

/** What a run that is to come to JSON of a certain shape has beside our own: the tool that takes the result, and what tells of it. */
export interface Structure {
  readonly tools: readonly Tool[];
  readonly sources: readonly Source[];
  /**
   * Has the model answer again where a run has ended without a result. `from`: how long the log was before the run; `again`
   * takes a turn without a prompt.
   */
  insist(run: Done, conversation: Conversation, from: number, again: () => Promise<Outcome>): Promise<Done>;
}

/** Throws a UsageError where the schema cannot be used. */
export function openStructure(given: string, cwd: string): Structure {
  const { schema, check } = readOutputSchema(given, cwd);
  return { tools: [outputTool(schema, check)], sources: [source], insist };
}

async function insist(run: Done, { session }: Conversation, from: number, again: () => Promise<Outcome>): Promise<Done> {
  const entries = (): readonly Entry[] => session.log.slice(from);
  if (run.refused === true || !entries().some(({ type }) => type === 'assistant')) return run;
  let { outcome } = run;
  while (outcome.kind === 'answered' && outputIn(entries()) === undefined && triesIn(entries()) < MOST_TRIES) {
    const before = session.log.length;
    outcome = await again();
    // Nothing tells the model: the kind of reminder is switched off.
    if (!session.log.slice(before).some(({ type }) => type === 'assistant')) break;
  }
  const output = outputIn(entries());
  if (output !== undefined) return { ...run, outcome, output };
  const without = outcome.kind === 'answered' || (outcome.kind === 'stopped' && triesIn(entries()) >= MOST_TRIES);
  return without ? { ...run, outcome: { kind: 'stopped', message: `${NONE_FITS}${lastWords(entries())}` }, unfit: true } : { ...run, outcome };
}

/** Why it could not is mostly said by the model itself. */
function lastWords(entries: readonly Entry[]): string {
  const words = entries.flatMap((entry) => (entry.type === 'assistant' ? entry.content : [])).findLast((block) => block.type === 'text');
  return words?.type === 'text' && words.text.trim() !== '' ? `; it said last: ${oneLine(words.text, 200)}` : '';
}

function outputTool(schema: Readonly<Record<string, Json>>, check: (value: unknown) => string | undefined): Tool {
  const { $schema: _, ...input } = schema;
  return {
    id: TOOL, description: description.trim(), effect: 'reads', threads: 'main', deferred: undefined, input: z.unknown(),
    definition: { name: TOOL, description: description.trim(), input_schema: { ...input, type: 'object' } },
    bind: (value) => ({
      ok: true, title: TOOL, preview: () => ({ title: TOOL, body: [] }),
      async *run({ session: { log } }) {
        const problem = check(value);
        if (problem === undefined) return done('It fits the schema and was taken.', { title: TOOL, tone: 'good', body: [{ type: 'code', text: JSON.stringify(value, undefined, 2) }] });
        const tries = triesIn(log.slice(log.findLastIndex(({ type }) => type === 'prompt') + 1)) + 1;
        const result = failed(TOOL, `It does not fit the schema: ${problem} (try ${tries} of ${MOST_TRIES}).`);
        return tries < MOST_TRIES ? result : { ...result, endTurn: NONE_FITS };
      },
    }),
  };
}

/** Says once what the run is to come to, and again each time that an answer came without it. */
const source = defineSource<number>({
  id: 'structured_output', on: ['prompt'], threads: 'main', cadence: 'onChange',
  observe: ({ log }) => missesIn(log),
  revive: (stored) => (typeof stored === 'number' ? stored : undefined),
  full: () => `This run was started by a program that reads its result as JSON: what ${TOOL} is called with at the end.`,
  delta: (before, now) => (now > before ? `An answer ended without a call of ${TOOL}: the program that waits for the result has nothing yet.` : undefined),
});

/** The newest result that fits; undefined where there is none. */
function outputIn(entries: readonly Entry[]): Json | undefined {
  const taken = entries.findLast((entry) => entry.type === 'toolResult' && entry.tool === TOOL && entry.result.kind === 'ok');
  if (taken?.type !== 'toolResult') return undefined;
  const call = entries.flatMap((entry) => (entry.type === 'assistant' ? entry.content : [])).findLast((block) => block.type === 'tool_use' && block.id === taken.callId);
  return call?.type === 'tool_use' ? call.input as Json : undefined;
}

function triesIn(entries: readonly Entry[]): number {
  return missesIn(entries) + entries.filter((entry) => entry.type === 'toolResult' && entry.tool === TOOL && entry.result.kind === 'failed').length;
}

/** Answers after which a prompt was without a result. */
function missesIn(log: readonly Entry[]): number {
  let given = false;
  let misses = 0;
  for (const entry of log) {
    if (entry.type === 'prompt') given = false;
    else if (entry.type === 'toolResult') given ||= entry.tool === TOOL && entry.result.kind === 'ok';
    else if (entry.type === 'assistant' && !given && entry.stop !== 'interrupted' && entry.content.length > 0 && !entry.content.some(({ type }) => type === 'tool_use')) misses += 1;
  }
  return misses;
}
