import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { oneLine } from '#lib/names.ts';
import { VERSION } from '#cli/version.ts';
import { DEMO_MODEL } from '#domain/model.ts';
import { forgetKey, keepKey } from '#session/credentials.ts';
import type { ScreenEvent } from '#ui/contract.ts';
import type { House } from './house.ts';
import type { Questions } from './questions.ts';

/** What the questions at the door need of the screen. */
export interface Entrance {
  readonly house: House;
  readonly questions: Questions;
  readonly show: (event: ScreenEvent) => void;
  refresh(): void;
}

/** The first lines of the screen: what this is, where it is, who answers. */
export function banner({ house, show }: Entrance): void {
  const { desk, place } = house;
  const demo = desk.id() === DEMO_MODEL;
  show({
    type: 'card',
    card: {
      title: `Pinion ${VERSION}`, detail: oneLine(place.cwd.replace(place.userHome, '~')),
      body: [{
        type: 'text', text: demo
          ? 'The built-in demo model answers: rule-based, offline, not an AI. Ask "What can you do?"; /login takes a key for a real model.'
          : `${desk.facts().label} answers${desk.credentials().from === 'environment' ? ' (key from the environment)' : ''}. Type / for commands, @ to mention a file, ? for keys.`,
      }],
    },
  });
}

/** The very first start without a key: enter one, or go on with the demo. Asked once. */
export async function welcome(entrance: Entrance): Promise<void> {
  const { house, questions } = entrance;
  const marker = join(dirname(house.place.home.settings), 'welcomed');
  if (house.desk.id() !== DEMO_MODEL || existsSync(marker)) return;
  const choice = await questions.pick({
    title: 'Welcome to Pinion. There is no API key yet.',
    items: [
      { id: 'demo', label: 'Go on with the demo model', detail: 'offline and free; rule-based, not an AI' },
      { id: 'key', label: 'Enter an API key', detail: 'kept in a file that only you can read' },
    ],
  });
  mkdirSync(dirname(marker), { recursive: true, mode: 0o700 });
  writeFileSync(marker, '', { mode: 0o600 });
  if (choice === 'key') await enterKey(entrance);
}

/** Asks once whether what the folder's own settings want may take effect. Without wants there is nothing to ask. */
export async function askForTrust({ house, questions }: Pick<Entrance, 'house' | 'questions'>): Promise<void> {
  const { configuration } = house;
  const wants = configuration.isTrusted() ? [] : configuration.trust.wantsOf(configuration.project, house.place.cwd);
  if (wants.length === 0) return;
  const answer = await questions.ask({ kind: 'trust', folder: configuration.project, wants }, new AbortController().signal);
  if (answer?.kind !== 'yes' && answer?.kind !== 'always') return;
  // What has changed while the question stood was not agreed to.
  if (isDeepStrictEqual(configuration.trust.wantsOf(configuration.project, house.place.cwd), wants)) await configuration.believe(false);
  else await askForTrust({ house, questions });
}

export async function enterKey(entrance: Entrance): Promise<void> {
  const { house, questions, show } = entrance;
  const key = (await questions.secret('API key', 'It begins with sk-ant-. Enter keeps it, Esc leaves everything as it is.'))?.trim();
  if (key === undefined || key === '') return;
  if (/\s/.test(key)) return show({ type: 'fault', where: '/login', message: 'a key holds no blanks; nothing was kept.' });
  await keepKey(house.place.home.credentials, key);
  house.desk.reload();
  const from = house.desk.credentials().from;
  show({ type: 'card', card: { title: from === 'environment' ? 'The key is kept; the one of the environment goes first.' : `The key is kept. ${house.desk.facts().label} answers from now on.`, tone: 'good', body: [] } });
  house.hooks.notify('auth_success', 'the API key is kept');
  entrance.refresh();
}

export async function leaveKey(entrance: Entrance): Promise<void> {
  const { house, show } = entrance;
  const had = forgetKey(house.place.home.credentials);
  house.desk.reload();
  const left = house.desk.credentials().from === 'environment' ? ' The environment still holds one.' : '';
  show({ type: 'card', card: { title: had ? `The key is forgotten.${left}` : `There was no kept key.${left}`, body: [] } });
  entrance.refresh();
}
