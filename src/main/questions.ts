import type { Answer, Asker, Question } from '#domain/ports.ts';
import type { Picker, QueueChoice, ScreenEvent, Waiting } from '#ui/contract.ts';

/** Questions to the person at the screen: each has a number, and its answer comes back by it. */
export interface Questions extends Asker {
  pick(picker: Picker, signal?: AbortSignal): Promise<string | undefined>;
  secret(title: string, hint: string, signal?: AbortSignal): Promise<string | undefined>;
  queue(items: readonly Waiting[]): Promise<QueueChoice | undefined>;
  /** Lets the person edit a file; the line tells why they could not. */
  edit(file: string): Promise<string | undefined>;
  answer(id: number, answer: Answer): void;
  picked(id: number, item: string | undefined): void;
  entered(id: number, text: string | undefined): void;
  chosen(id: number, choice: QueueChoice | undefined): void;
  edited(id: number, problem: string | undefined): void;
}

export function createQuestions(show: (event: ScreenEvent) => void): Questions {
  let ids = 0;
  const open = new Map<number, (value: unknown) => void>();
  const put = <T>(event: (id: number) => ScreenEvent, signal?: AbortSignal): Promise<T | undefined> => new Promise((resolve) => {
    const id = (ids += 1);
    const settle = (value: unknown): void => {
      if (!open.delete(id)) return;
      signal?.removeEventListener('abort', giveUp);
      show({ type: 'settled', id });
      resolve(value as T | undefined);
    };
    const giveUp = (): void => { settle(undefined); };
    open.set(id, settle);
    show(event(id));
    if (signal?.aborted === true) giveUp();
    else signal?.addEventListener('abort', giveUp, { once: true });
  });
  const settle = (id: number, value: unknown): void => { open.get(id)?.(value); };
  return {
    ask: (question: Question, signal) => put<Answer>((id) => ({ type: 'ask', id, question }), signal),
    pick: (picker, signal) => put<string>((id) => ({ type: 'pick', id, picker }), signal),
    secret: (title, hint, signal) => put<string>((id) => ({ type: 'secret', id, title, hint }), signal),
    queue: (items) => put<QueueChoice>((id) => ({ type: 'queue', id, items })),
    edit: (file) => put<string>((id) => ({ type: 'edit', id, file })),
    answer: settle,
    picked: settle,
    entered: settle,
    chosen: settle,
    edited: settle,
  };
}
