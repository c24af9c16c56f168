import { ago, bytes, tokens } from '#lib/numbers.ts';
import { oneLine } from '#lib/names.ts';
import { listSessions } from '#session/list.ts';
import type { Conversation } from './conversation.ts';
import type { Entrance } from './entrance.ts';

interface Chooser extends Entrance {
  readonly conversation: Conversation;
  replay(): void;
}

/** Goes on with a stored session: the one of this id, or the one that the user picks. */
export async function chooseSession(chooser: Chooser, id: string | undefined): Promise<void> {
  const { house, conversation, questions, show } = chooser;
  const sessions = (await listSessions(house.place.home, house.place.cwd)).filter((session) => session.id !== conversation.session.id);
  if (sessions.length === 0) return show({ type: 'fault', where: '/resume', message: 'there is no earlier session.' });
  const chosen = id ?? await questions.pick({
    title: 'Go on with which session?',
    items: sessions.map((session) => ({
      id: session.id, label: session.firstWords === '' ? '(no words)' : session.firstWords,
      detail: [ago(Date.now() - session.modifiedMs), bytes(session.bytes), ...(session.branch === undefined ? [] : [session.branch]), ...(session.cwd === house.place.cwd || session.cwd === '' ? [] : [oneLine(session.cwd)])].join(' · '),
    })),
  });
  const session = sessions.find((one) => one.id === chosen);
  if (session === undefined) return undefined;
  conversation.resume(session.file);
  return chooser.replay();
}

/** Changes the model: to this one, or to the one that the user picks. */
export async function chooseModel(chooser: Entrance, id: string | undefined): Promise<void> {
  const { house, questions, show } = chooser;
  const chosen = id ?? await questions.pick({
    title: 'Which model?', now: house.desk.id(),
    items: house.desk.models().map((model) => ({ id: model.id, label: model.label, detail: `${tokens(model.window)} window${model.id === house.desk.id() ? ' · now' : ''}` })),
  });
  if (chosen === undefined) return;
  house.desk.choose(chosen);
  show({ type: 'card', card: { title: `Model: ${house.desk.facts().label}`, detail: 'from the next request on; the prompt cache starts anew', body: [] } });
  chooser.refresh();
}
