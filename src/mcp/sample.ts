import type { Answer, Question } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import { oneLine } from '#lib/names.ts';
import { cutToLength, wellFormed } from '#lib/text.ts';
import { recordOf } from './lists.ts';

/** A request to a model that a server would have made for it. */
export interface SampleRequest {
  readonly server: string;
  readonly system: string;
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];
  readonly maxTokens: number;
}

export interface SampleDoors {
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer | undefined>;
  /** Asks a small model and keeps what it cost in the session's log. `problem`: one line. */
  readonly sample: (request: SampleRequest, session: Session, signal: AbortSignal) => Promise<{ readonly text: string; readonly model: string; readonly stop: string } | { readonly problem: string }>;
}

export const MOST_SAMPLES = 20;
export const MOST_SAMPLE_TOKENS = 4096;
const MOST_CHARACTERS = 100_000;
const SHOWN = 400;

/** What a server is answered. */
export interface Sampled {
  role: 'assistant';
  model: string;
  content: { type: 'text'; text: string };
  stopReason: string;
  [more: string]: unknown;
}

/** Whether a server may use the model, as the user said of it; asked once a server, kept for this run. */
export interface Consent {
  given: boolean | undefined;
  used: number;
}

/**
 * Lets a server ask a small model, if the user agreed to that. Throws (one line, which the server is told) where it is refused:
 * nobody is there, the user said no, it asked too often, or no call of ours is under way.
 */
export async function sample(server: string, params: unknown, consent: Consent, session: Session | undefined, doors: SampleDoors, signal: AbortSignal): Promise<Sampled> {
  if (session === undefined) throw new Error('Refused: the model may be asked only while a call of this client is under way.');
  const request = requestOf(server, params);
  if (consent.used >= MOST_SAMPLES) throw new Error(`Refused: a server may ask the model ${MOST_SAMPLES} times at most.`);
  if (consent.given === undefined) {
    const [first] = request.messages;
    const answer = await doors.ask({
      kind: 'confirm', title: `The MCP server ${oneLine(server)} wants to ask the model, at your cost. May it, until pinion ends?`,
      lines: [
        `It would send: ${cutToLength(first?.text ?? '', SHOWN)}`,
        ...(request.system === '' ? [] : [`with the instructions: ${cutToLength(request.system, SHOWN)}`]),
        `A small model answers, with at most ${request.maxTokens} tokens; ${MOST_SAMPLES} requests at most. It sees nothing of this conversation.`,
      ],
    }, signal);
    // Nobody was there: the next one may be.
    if (answer === undefined) throw new Error('Refused: nobody is there to agree to it.');
    consent.given = answer.kind === 'yes';
  }
  if (!consent.given) throw new Error('Refused: the user does not let this server ask the model.');
  consent.used += 1;
  const done = await doors.sample(request, session, signal);
  if ('problem' in done) throw new Error(done.problem);
  return { role: 'assistant', model: done.model, content: { type: 'text', text: done.text }, stopReason: done.stop };
}

function requestOf(server: string, params: unknown): SampleRequest {
  const { messages, systemPrompt, maxTokens } = recordOf(params);
  let room = MOST_CHARACTERS;
  const texts = (Array.isArray(messages) ? messages : []).map(recordOf).map(({ role, content }) => {
    const parts = (Array.isArray(content) ? content : [content]).map(recordOf);
    const text = parts.map((part) => (part['type'] === 'text' && typeof part['text'] === 'string' ? part['text'] : `[${String(part['type'])}: left out]`)).join('\n');
    room -= text.length;
    return { role: role === 'assistant' ? 'assistant' as const : 'user' as const, text: wellFormed(text) };
  }).filter(({ text }) => text.trim() !== '');
  if (room < 0) throw new Error(`Refused: it is longer than ${MOST_CHARACTERS} characters.`);
  if (texts.length === 0) throw new Error('Refused: there is no message to send.');
  return { server, messages: texts, system: typeof systemPrompt === 'string' ? wellFormed(systemPrompt.slice(0, 20_000)) : '', maxTokens: Math.max(1, Math.min(MOST_SAMPLE_TOKENS, typeof maxTokens === 'number' ? Math.floor(maxTokens) : MOST_SAMPLE_TOKENS)) };
}
