import { stat } from 'node:fs/promises';
import * as z from 'zod';
import type { Card, CardBlock } from '#domain/card.ts';
import type { EntryBody } from '#domain/entry.ts';
import type { ToolOutcome } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import { fsPath } from '#lib/names.ts';
import { isWithin, realPathOf } from '#lib/within.ts';
import { defineTool, type RunContext } from '../define.ts';
import { flag, someText, wholeNumber } from '../fields.ts';
import { done, failed, interrupted } from '../result.ts';
import { runShell, type ShellResult } from '../shell/run.ts';
import { startedAs } from '../shell/words.ts';
import description from './bash.md';

const DEFAULT_TIMEOUT_MS = 120_000;
const MOST_TIMEOUT_MS = 600_000;
const MOST_OUTPUT = 30_000;
const MOST_SETTABLE_OUTPUT = 150_000;
/** Lines of output that the card shows. */
const CARD_LINES = 200;

const input = z.strictObject({
  command: someText.describe('Command line for a POSIX shell'),
  description: z.string().optional().describe('What it does, in a few words, for the user'),
  timeout: wholeNumber(1, 86_400_000).optional().describe('Milliseconds, at most 600000; it is ended then. Without: at 120000 it goes on in the background'),
  run_in_background: flag.optional().describe('Start it and go on at once'),
});

type Input = z.infer<typeof input>;

export const bash = defineTool({
  id: 'Bash',
  description,
  effect: 'executes',
  input,
  title: ({ command }) => `Bash ${firstLine(command)}`,
  preview: (asked) => cardOf(asked, []),
  async *run(asked, context) {
    const turn = takeTurn(context.session);
    try {
      await turn.mine;
      if (context.signal.aborted) return interrupted(titleOf(asked), 'Interrupted by the user before it began. Nothing was done.');
      return yield* runOne(asked, context);
    } finally {
      turn.pass();
    }
  },
});

function titleOf({ command }: Input): string {
  return `Bash ${firstLine(command)}`;
}

function firstLine(command: string): string {
  const [first = '', ...rest] = command.trim().split('\n');
  return rest.length === 0 ? first : `${first} …`;
}

/** Whether a title cannot show all of it. */
function isLong(command: string): boolean {
  return command.length > 80 || command.trim().includes('\n');
}

function cardOf(asked: Input, output: readonly CardBlock[]): Card {
  return {
    title: titleOf(asked),
    ...(asked.description === undefined ? {} : { detail: asked.description }),
    body: [...(isLong(asked.command) ? [{ type: 'code' as const, text: asked.command, language: 'bash' }] : []), ...output],
  };
}

const turns = new WeakMap<Session, Promise<void>>();

/** Commands of one session run one after another, whoever asks for them: each may count on what the last one left. */
function takeTurn(session: Session): { readonly mine: Promise<void>; pass(): void } {
  const mine = turns.get(session) ?? Promise.resolve();
  let pass = (): void => undefined;
  turns.set(session, new Promise<void>((resolve) => { pass = resolve; }));
  return { mine, pass: () => { pass(); } };
}

async function* runOne(asked: Input, context: RunContext): AsyncGenerator<string, ToolOutcome> {
  const env = context.env();
  const at = await standing(context);
  if (context.judged?.includes(realPathOf(at.cwd)) === false) return failed(titleOf(asked), `The working directory ${at.cwd} is another one than when the command was allowed. Nothing was run; look again before you try once more.`, { entries: at.entries });
  if (asked.run_in_background === true) return startInBackground(asked, context, at);
  const progress = createProgress();
  const longest = settingOf(env, 'BASH_MAX_TIMEOUT_MS') ?? MOST_TIMEOUT_MS;
  const timeoutMs = Math.min(asked.timeout ?? settingOf(env, 'BASH_DEFAULT_TIMEOUT_MS') ?? DEFAULT_TIMEOUT_MS, longest);
  const mostOutput = Math.min(settingOf(env, 'BASH_MAX_OUTPUT_LENGTH') ?? MOST_OUTPUT, MOST_SETTABLE_OUTPUT);
  const request = { command: asked.command, cwd: at.cwd, signal: context.signal, timeoutMs, mostOutput, onProgress: progress.push };
  const { shells, session } = context;
  const begun = shells === undefined ? runShell({ ...request, env, shell: context.shell }) : shells.foreground({ ...request, staysAtTimeout: asked.timeout === undefined }, session);
  const run = begun.finally(progress.end);
  for (let text = await progress.next(); text !== undefined; text = await progress.next()) yield text;
  const result = await run;
  const moved = whereNow(result, at.cwd, context.roots());
  const entries: EntryBody[] = moved.cwd === undefined ? at.entries : [{ type: 'cwd', path: moved.cwd }];
  return outcomeOf(asked, result, endingOf(result, timeoutMs), [...at.notes, ...moved.notes], entries);
}

async function startInBackground(asked: Input, { shells, session }: RunContext, at: Standing): Promise<ToolOutcome> {
  const started = await shells?.start(asked.command, asked.command, session, at.cwd) ?? { problem: 'nothing can run in the background here' };
  if ('problem' in started) return failed(titleOf(asked), `Not run: ${started.problem}`, { entries: at.entries });
  const message = [`Started in the background as ${started.id}. ${startedAs(started.id)}`, ...at.notes.map((note) => `[${note}]`)].join('\n');
  return done(message, { ...cardOf(asked, []), detail: `in the background: ${started.id}` }, { entries: [...at.entries, { type: 'taskRead', task: started.id, upTo: 0 }] });
}

function settingOf(env: Readonly<Record<string, string>>, name: string): number | undefined {
  const value = Number(env[name]);
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

interface Standing {
  readonly cwd: string;
  readonly notes: string[];
  readonly entries: EntryBody[];
}

/** The directory to run in. One that is gone is given up for the workspace's own. */
async function standing({ session, cwd: cwdOf, roots }: RunContext): Promise<Standing> {
  const cwd = cwdOf(session);
  if (await isFolder(cwd)) return { cwd, notes: [], entries: [] };
  const root = roots()[0] ?? '/';
  return { cwd: root, notes: [`the working directory ${cwd} is gone; the command ran in ${root}`], entries: [{ type: 'cwd', path: root }] };
}

async function isFolder(path: string): Promise<boolean> {
  return await stat(fsPath(path)).then((stats) => stats.isDirectory(), () => false);
}

/** Where later commands run, if that is new. */
function whereNow({ cwd, how }: ShellResult, before: string, roots: readonly string[]): { readonly cwd?: string; readonly notes: readonly string[] } {
  if (cwd === undefined || how === 'notStarted' || cwd === realPathOf(before)) return { notes: [] };
  if (roots.some((root) => isWithin(realPathOf(root), cwd))) return { cwd, notes: [`the working directory is now ${cwd}`] };
  return { notes: [`the working directory stays ${before}: ${cwd} is outside of the workspace`] };
}

/** How it ended, if not well. */
function endingOf({ how, endedBy, exitCode }: ShellResult, timeoutMs: number): string | undefined {
  if (how === 'timedOut') return `ended at its time-out of ${Number((timeoutMs / 1000).toFixed(1))} s`;
  if (how === 'exited' && endedBy !== null) return `ended by ${endedBy}`;
  return exitCode === null || exitCode === 0 ? undefined : `exit code ${exitCode}`;
}

function outcomeOf(asked: Input, result: ShellResult, ending: string | undefined, notes: readonly string[], entries: readonly EntryBody[]): ToolOutcome {
  const { how, output, running, task } = result;
  const title = titleOf(asked);
  if (how === 'notStarted') return failed(title, `The shell could not be started: ${output}`);
  const background = running.length === 0 ? [] : [`still running in the background: ${running.slice(0, 10).join(', ')}${running.length > 10 ? ` and ${running.length - 10} more` : ''}`];
  const moved = task === undefined ? [] : [`${result.sentBy === 'user' ? 'the user sent it to the background' : 'it reached its time-out and goes on in the background'} as ${task.id}. ${startedAs(task.id)}`];
  const stopped = how === 'interrupted' ? ['interrupted by the user; the command is being ended'] : [];
  const text = output.trimEnd();
  const said = [...stopped, ...moved, ...(ending === undefined ? [] : [ending]), ...background, ...notes].map((note) => `[${note}]`);
  const message = [...(text === '' ? [] : [text]), ...said].join('\n');
  const card = cardOf(asked, text === '' ? [] : [{ type: 'code', text: text.split('\n').slice(-CARD_LINES).join('\n') }]);
  if (task !== undefined) return done(message, { ...card, detail: `in the background: ${task.id}` }, { entries: [...entries, { type: 'taskRead', task: task.id, upTo: result.bytes }] });
  if (how === 'interrupted') return interrupted(title, message, { body: card.body, entries });
  return ending === undefined ? done(message, card, { entries }) : failed(title, message, { body: card.body, entries, detail: ending });
}

/** The newest progress only: who is slow to ask misses what was in between. */
function createProgress(): { push(text: string): void; end(): void; next(): Promise<string | undefined> } {
  let last = '';
  let fresh: string | undefined;
  let over = false;
  let wake = (): void => undefined;
  return {
    push(text) {
      if (text === '' || text === last) return;
      [last, fresh] = [text, text];
      wake();
    },
    end() {
      over = true;
      wake();
    },
    async next() {
      if (fresh === undefined && !over) await new Promise<void>((resolve) => { wake = resolve; });
      const text = over ? undefined : fresh;
      fresh = undefined;
      return text;
    },
  };
}
