import { type AgentContext, methods, type SessionUpdate } from '@agentclientprotocol/sdk';
import { chosenIn, choiceForm, elicitationOf, type Form, formOf } from '#acp/questions.ts';
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

/** Puts questions to the person at the client. A question that the client closes without an answer is answered by no; one that it cannot show, by nobody. */
export function createAcpAsker(options: AcpAskerOptions): Asker {
  const { client, sessionId, send } = options;
  let asked = 0;
  const nextId = (): string => `question-${(asked += 1)}`;

  const put = async (form: Form, signal: AbortSignal): Promise<Answer | undefined> => {
    const over = async (status: 'completed' | 'failed'): Promise<void> => {
      if (form.own) await send({ sessionUpdate: 'tool_call_update', toolCallId: form.toolCall.toolCallId, status });
    };
    try {
      const { outcome } = await client.request(methods.client.session.requestPermission, { sessionId: sessionId(), toolCall: form.toolCall, options: form.options }, { cancellationSignal: signal, stopWaitingOnCancel: true });
      const answer: Answer = (outcome.outcome === 'selected' ? form.answer(outcome.optionId) : undefined) ?? { kind: 'no' };
      await over(answer.kind === 'no' ? 'failed' : 'completed');
      return answer;
    } catch {
      await over('failed');
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
      const answer = await put(choiceForm(question, { id: nextId(), who }), signal);
      if (answer?.kind !== 'chosen') return answer;
      answers.push(...answer.answers);
    }
    return { kind: 'chosen', answers };
  };

  return {
    async ask(question: Question, signal) {
      if (signal.aborted) return undefined;
      if (question.kind !== 'choices') return put(formOf(question, { cwd: options.cwd(), id: nextId(), auto: options.auto() }), signal);
      return options.forms ? byForm(question.questions, signal) : oneByOne(question.questions, question.who, signal);
    },
  };
}

type Content = Parameters<typeof chosenIn>[1];

function contentOf(content: unknown): Content {
  return typeof content === 'object' && content !== null ? content as Content : {};
}
