import { type AgentContext, methods, type SessionUpdate } from '@agentclientprotocol/sdk';
import { chosenIn, choiceForm, elicitationOf, type Form, formOf, pickForm } from '#acp/questions.ts';
import type { Answer, Asker, ChoiceQuestion, Question } from '#domain/ports.ts';

export interface AcpAskerOptions {
  readonly client: AgentContext;
  readonly sessionId: () => string;
  readonly cwd: () => string;
  /** Whether auto mode is offered. */
  readonly auto: () => boolean;
  /** Whether the client shows forms. */
  readonly forms: boolean;
  readonly send: (update: SessionUpdate) => Promise<void>;
}

export interface AcpAsker extends Asker {
  /** One of several things; undefined when none was chosen. */
  pick(title: string, items: Parameters<typeof pickForm>[1], signal: AbortSignal): Promise<string | undefined>;
}

const NO: Answer = { kind: 'no' };
/** What is kept for later by an answer is not decided by closing the question. */
const LASTING: ReadonlySet<Question['kind']> = new Set(['trust', 'confirm']);

/** Puts questions to the person at the client. One that the client closes without an answer is answered by no, or stays open where it is about what lasts; one that it cannot show, by nobody. */
export function createAcpAsker(options: AcpAskerOptions): AcpAsker {
  const { client, sessionId, send } = options;
  let asked = 0;
  const nextId = (): string => `question-${(asked += 1)}`;

  /** The option that was chosen, `undefined` for a question that was closed; throws where it could not be shown, or was broken off. */
  const put = async ({ own, toolCall, options: offered }: Form, signal: AbortSignal): Promise<string | undefined> => {
    let status: 'completed' | 'failed' = 'failed';
    try {
      const { outcome } = await client.request(methods.client.session.requestPermission, { sessionId: sessionId(), toolCall, options: offered }, { cancellationSignal: signal, stopWaitingOnCancel: true });
      const chosen = outcome.outcome === 'selected' ? offered.find(({ optionId }) => optionId === outcome.optionId) : undefined;
      if (chosen !== undefined && !chosen.kind.startsWith('reject')) status = 'completed';
      return chosen?.optionId;
    } finally {
      if (own) await send({ sessionUpdate: 'tool_call_update', toolCallId: toolCall.toolCallId, status });
    }
  };

  const answerTo = async (form: Form, signal: AbortSignal, closed: Answer | undefined): Promise<Answer | undefined> => {
    try {
      const chosen = await put(form, signal);
      return chosen === undefined ? closed : form.answer(chosen);
    } catch {
      return undefined;
    }
  };

  const byForm = async (questions: readonly ChoiceQuestion[], signal: AbortSignal): Promise<Answer | undefined> => {
    const [first] = questions;
    const message = questions.length === 1 && first !== undefined ? first.question : 'The model has questions.';
    try {
      const answer = await client.request(methods.client.elicitation.create, { mode: 'form', message, sessionId: sessionId(), requestedSchema: elicitationOf(questions) }, { cancellationSignal: signal, stopWaitingOnCancel: true });
      return 'content' in answer && answer.action === 'accept' ? chosenIn(questions, contentOf(answer.content)) : { kind: 'no' };
    } catch {
      return undefined;
    }
  };

  const oneByOne = async (questions: readonly ChoiceQuestion[], who: string | undefined, signal: AbortSignal): Promise<Answer | undefined> => {
    const answers: (readonly string[])[] = [];
    for (const question of questions) {
      const answer = await answerTo(choiceForm(question, { id: nextId(), who }), signal, NO);
      if (answer?.kind !== 'chosen') return answer;
      answers.push(...answer.answers);
    }
    return { kind: 'chosen', answers };
  };

  return {
    async pick(title, items, signal) {
      const form = pickForm(title, items, nextId());
      return put(form, signal).then((chosen) => (chosen === undefined ? undefined : form.chosen(chosen)), () => undefined);
    },
    async ask(question: Question, signal) {
      if (signal.aborted) return undefined;
      if (question.kind !== 'choices') return answerTo(formOf(question, { cwd: options.cwd(), id: nextId(), auto: options.auto() }), signal, LASTING.has(question.kind) ? undefined : NO);
      return options.forms ? byForm(question.questions, signal) : oneByOne(question.questions, question.who, signal);
    },
  };
}

type Content = Parameters<typeof chosenIn>[1];

function contentOf(content: unknown): Content {
  return typeof content === 'object' && content !== null ? content as Content : {};
}
