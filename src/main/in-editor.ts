import type { Effect } from '#domain/command.ts';
import type { Session } from '#domain/session.ts';
import type { Entrance } from './entrance.ts';

/** What `/ide` wants done; what came of it is shown. */
export async function doInEditor({ house, conversation, show }: Pick<Entrance, 'house' | 'show'> & { readonly conversation: { readonly session: Session } }, what: Extract<Effect, { readonly type: 'ide' }>['what'], refuse: (message: string) => void): Promise<void> {
  const say = (title: string, detail?: string): void => { show({ type: 'card', card: { title, ...(detail !== undefined && { detail }), body: [] } }); };
  if (what === 'disconnect') {
    const name = house.editor.disconnect();
    if (name === undefined) refuse('no editor is connected.');
    else say(`${name} is disconnected`, 'nothing of it goes along with prompts; /ide connects again');
    return;
  }
  if ('open' in what) {
    const problem = await house.editor.open(what.open, conversation.session);
    if (problem !== undefined) refuse(problem);
    return;
  }
  const came = await house.editor.connect(what.connect);
  if ('problem' in came) refuse(came.problem);
  else say(came.done, 'what you mark there goes along with your prompts; changes that are asked about are shown there too');
}
