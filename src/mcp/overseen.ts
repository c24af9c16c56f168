import type { ElicitResult } from '@modelcontextprotocol/client';
import type { ElicitationVerdict } from '#domain/hooks.ts';
import type { Session } from '#domain/session.ts';
import type { Json } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import { elicit, type ElicitDoors, misfit } from './elicit.ts';
import { recordOf } from './lists.ts';

type Told = Readonly<Record<string, Json>>;

/** Who is told of servers' questions to the person and of the answers, and may give another answer. `session`: of the call that led to it. */
export interface Overseer {
  asked(server: string, fields: Told, session: Session | undefined, signal: AbortSignal): Promise<ElicitationVerdict | undefined>;
  answered(server: string, fields: Told, session: Session | undefined, signal: AbortSignal): Promise<ElicitationVerdict | undefined>;
  /** The person is asked now; they have answered; what they were sent to do elsewhere is done. */
  told(what: 'elicitation_dialog' | 'elicitation_response' | 'elicitation_complete', message: string, session: Session | undefined): void;
}

/** A question of a server's to the person, with whoever oversees it before and after. */
export async function elicitOverseen(server: string, params: unknown, doors: ElicitDoors & { readonly overseer?: Overseer }, session: Session | undefined, signal: AbortSignal): Promise<ElicitResult> {
  const { overseer, notice } = doors;
  if (overseer === undefined) return await elicit(server, params, doors, signal);
  const question = questionOf(params);
  const who = `the MCP server ${oneLine(server, 60)}`;
  let given = await overseer.asked(server, question, session, signal);
  const problem = given?.action === 'accept' ? misfit(params, given.content ?? {}) : undefined;
  if (problem !== undefined) {
    notice(`An answer of a hook's to ${who} does not fit and was left out (${problem}).`);
    given = undefined;
  }
  let dialog = false;
  const ask: ElicitDoors['ask'] = (one, inner) => {
    if (!dialog) overseer.told('elicitation_dialog', `${who} asks for an answer`, session);
    dialog = true;
    return doors.ask(one, inner);
  };
  const answer = given === undefined ? await elicit(server, params, { ...doors, ask }, signal) : resultOf(given);
  const { mode, elicitation_id: id } = question;
  const other = await overseer.answered(server, { action: answer.action, ...(answer.content !== undefined && { content: answer.content }), ...(mode !== undefined && { mode }), ...(id !== undefined && { elicitation_id: id }) }, session, signal);
  const wrong = other?.action === 'accept' ? misfit(params, other.content ?? answer.content ?? {}) : undefined;
  if (wrong !== undefined) notice(`What a hook put in place of the answer to ${who} does not fit and was left out (${wrong}).`);
  const last = other === undefined || wrong !== undefined ? answer : resultOf(other.action === 'accept' && other.content === undefined && answer.content !== undefined ? { ...other, content: answer.content } : other);
  if (dialog) overseer.told('elicitation_response', `${who} has its answer: ${last.action}`, session);
  // An address that nobody was shown cannot be opened.
  if (last.action === 'accept' && given !== undefined && typeof question['url'] === 'string') notice(`A hook agreed that you open this address in your browser (${who} waits for it): ${new URL(question['url']).href}`);
  return last;
}

/** As hooks of other shells are told of it. */
function questionOf(params: unknown): Told {
  const { message, mode, url, elicitationId, requestedSchema } = recordOf(params);
  return {
    message: typeof message === 'string' ? message : '', mode: mode === 'url' ? 'url' : 'form',
    ...(typeof url === 'string' && { url }), ...(typeof elicitationId === 'string' && { elicitation_id: elicitationId }), ...(requestedSchema !== undefined && { requested_schema: requestedSchema as Json }),
  };
}

function resultOf({ action, content }: ElicitationVerdict): ElicitResult {
  return { action, ...(action === 'accept' && content !== undefined && { content: content as NonNullable<ElicitResult['content']> }) };
}
