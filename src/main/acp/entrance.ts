import { plain } from '#acp/markdown.ts';
import type { Card } from '#domain/card.ts';
import type { Answer } from '#domain/ports.ts';
import type { ScreenEvent } from '#ui/contract.ts';
import type { AcpAsker } from './questions.ts';
import type { Entrance } from '#main/entrance.ts';
import type { House } from '#main/house.ts';
import { createQuestions } from '#main/questions.ts';

export interface AcpEntranceOptions {
  readonly house: House;
  readonly asker: AcpAsker;
  /** Of what is being done now: with it every question is over. */
  readonly signal: AbortSignal;
  readonly show: (card: Card) => void;
  /** Markdown. */
  readonly say: (text: string) => void;
  readonly refresh: () => void;
}

/** Most things of which one can be chosen: editors show them as buttons. */
const MOST_ITEMS = 30;

/** What asks at a screen asks at an editor: what the editor can show is shown there, and what it cannot is said. */
export function createAcpEntrance({ house, asker, signal, show, say, refresh }: AcpEntranceOptions): Entrance {
  const settle = (id: number, task: Promise<unknown>): void => { void task.then((value) => { questions.answer(id, value as Answer); }, () => { questions.picked(id, undefined); }); };
  const take = (event: ScreenEvent): void => {
    switch (event.type) {
      case 'ask': settle(event.id, asker.ask(event.question, signal)); break;
      case 'pick': settle(event.id, asker.pick(event.picker.title, event.picker.items.slice(0, MOST_ITEMS), signal)); break;
      // Nothing secret is entered in a conversation; who waits for it may still be helped otherwise.
      case 'secret': signal.addEventListener('abort', () => { questions.entered(event.id, undefined); }, { once: true }); break;
      case 'queue': questions.chosen(event.id, undefined); break;
      case 'edit': questions.edited(event.id, `open it in your editor: ${event.file}`); break;
      case 'card': show(event.card); break;
      case 'fault': say(`> ${event.where === '' ? '' : `${plain(event.where)}: `}${plain(event.message)}`); break;
      case 'draft': say(`Enter: ${plain(event.text)}`); break;
      default: break;
    }
  };
  const questions = createQuestions(take);
  return { house, questions, show: take, refresh };
}
