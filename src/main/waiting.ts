import type { Entry } from '#domain/entry.ts';
import { undeliveredOf } from '#domain/folds.ts';
import type { ScreenEvent, Waiting } from '#ui/contract.ts';
import type { Questions } from './questions.ts';

/** A line that has its turn when the work in hand is done. `after`: how long the log was when it was entered. */
export interface Held extends Waiting {
  readonly after: number;
}

/** Everything that waits, in the order in which it was entered: words for the model, and lines that are held. */
export function waitingIn(log: readonly Entry[], held: readonly Held[]): readonly Waiting[] {
  const words = undeliveredOf(log).map((entry) => ({ id: entry.id, text: entry.text, after: log.indexOf(entry) + 1 }));
  return [...words, ...held].sort((a, b) => a.after - b.after).map(({ id, text }) => ({ id, text }));
}

export interface QueueDesk {
  readonly questions: Pick<Questions, 'queue'>;
  readonly show: (event: ScreenEvent) => void;
  waiting(): readonly Waiting[];
  takeBack(id: string): string | undefined;
}

/** Lines are removed one after the other until one is taken back to be edited, or none is meant. */
export async function chooseWaiting(desk: QueueDesk): Promise<void> {
  for (let items = desk.waiting(); items.length > 0; items = desk.waiting()) {
    const choice = await desk.questions.queue(items);
    if (choice === undefined) return;
    const text = desk.takeBack(choice.id);
    if (text === undefined) desk.show({ type: 'fault', where: 'queue', message: 'that line has been sent already.' });
    else if (choice.how === 'edit') {
      desk.show({ type: 'draft', text });
      return;
    }
  }
}
