import type { Json } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import { cutToBytes, wellFormed } from '#lib/text.ts';
import type { Verdict } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Call, CallId } from '#domain/tool.ts';
import type { Piece } from './template.ts';

/** How a command ended, with what it printed. */
export interface CommandEnd {
  readonly how: 'exited' | 'timedOut' | 'interrupted' | 'notStarted' | 'background';
  readonly output: string;
  readonly exitCode: number | null;
}

export interface Doors {
  readonly ask: (call: Call, session: Session, signal: AbortSignal) => Promise<Verdict>;
  readonly run: (command: string, session: Session, signal: AbortSignal) => Promise<CommandEnd>;
}

export interface Rendered {
  readonly text: string;
  /** The text without what commands put out. */
  readonly mentions: string;
  /** Commands that were not run, one line each. */
  readonly notes: readonly string[];
}

/** Most bytes of a skill's text with all that its commands put out: a tool result takes no more. */
const MOST_BYTES = 100_000;
const MOST_COMMANDS = 50;

/**
 * The text with each command's output in its place. A command is a Bash call like any other: the gate is asked, and what it
 * refuses is a line that says so. Undefined after an abort.
 */
export async function render(pieces: readonly Piece[], doors: Doors, session: Session, signal: AbortSignal): Promise<Rendered | undefined> {
  let text = '';
  let mentions = '';
  let commands = 0;
  const notes: string[] = [];
  for (const piece of pieces) {
    if (signal.aborted) return undefined;
    if (piece.type === 'text') {
      text += piece.text;
      mentions += piece.text;
      continue;
    }
    commands += 1;
    const end = commands > MOST_COMMANDS ? { refused: `${MOST_COMMANDS} commands are the most in one text` } : await runOne(piece.command, commands, doors, session, signal);
    if ('refused' in end) notes.push(`not run: ${oneLine(piece.command, 120)}: ${oneLine(end.refused, 300)}`);
    text += 'refused' in end ? `[not run: ${piece.command}: ${end.refused}]` : outputOf(end);
    mentions += ' ';
  }
  return signal.aborted ? undefined : { text: cut(wellFormed(text)), mentions: wellFormed(mentions), notes };
}

async function runOne(command: string, number: number, { ask, run }: Doors, session: Session, signal: AbortSignal): Promise<CommandEnd | { readonly refused: string }> {
  const call: Call = { id: `skill_${session.log.length}_${number}` as CallId, tool: 'Bash', input: { command } satisfies Json };
  const verdict = await ask(call, session, signal);
  for (const entry of verdict.entries ?? []) session.append(entry);
  if (verdict.kind === 'refuse') return { refused: verdict.reason };
  return run(verdict.call === undefined ? command : commandIn(verdict.call, command), session, signal);
}

/** What is to be run is what was decided on, not what stands in the skill. */
function commandIn({ input }: Call, otherwise: string): string {
  const other = typeof input === 'object' && input !== null && 'command' in input ? input['command'] : undefined;
  return typeof other === 'string' ? other : otherwise;
}

function outputOf({ how, output, exitCode }: CommandEnd): string {
  const said = output.trimEnd();
  if (how === 'exited' && exitCode === 0) return said === '' ? '(no output)' : said;
  const end = how === 'exited' ? exitCode === null ? 'ended by a signal' : `exit code ${exitCode}` : how === 'timedOut' ? 'timed out' : how === 'notStarted' ? 'could not be started' : how === 'background' ? 'goes on in the background' : 'interrupted';
  return `${said}${said === '' ? '' : '\n'}[${end}]`;
}

function cut(text: string): string {
  const kept = cutToBytes(text, MOST_BYTES);
  return kept === text ? text : `${kept}\n[cut: the first ${Buffer.byteLength(kept)} of ${Buffer.byteLength(text)} bytes]`;
}
