import { oneLine } from '#lib/names.ts';
import type { Entrance } from './entrance.ts';
import { askForLanguages } from './language-door.ts';

/** What `/lsp restart` and `/lsp trust` do. To trust asks as at the door, whatever the folder wants. */
export async function actOnLanguages(entrance: Entrance, what: 'restart' | 'trust', server: string | undefined): Promise<void> {
  const { house, questions, show } = entrance;
  const { configuration } = house;
  const say = (title: string, detail?: string): void => { show({ type: 'card', card: { title, ...(detail !== undefined && { detail }), body: [] } }); };
  if (what === 'restart') return say(house.languages.restart(server));
  if (configuration.isTrusted()) {
    await askForLanguages(entrance, true);
    return say(house.languages.consent.held().size === 0 ? 'This folder is trusted' : 'Nothing was changed');
  }
  const waiting = (await house.languages.servers()).filter(({ state }) => state === 'untrusted');
  const wants = [...configuration.trust.wantsOf(configuration.project, house.place.cwd), ...waiting.map(({ name, command }) => `starts the language server ${oneLine(name, 40)} when it is needed: ${oneLine(command, 300)}`)];
  const answer = await questions.ask({ kind: 'trust', folder: configuration.project, wants }, new AbortController().signal);
  if (answer?.kind !== 'yes' && answer?.kind !== 'always') return say('Nothing was changed');
  await configuration.believe(false);
  entrance.refresh();
  say('This folder is trusted', 'its own language servers start when they are needed');
}
