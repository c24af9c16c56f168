import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Answer } from '#domain/ports.ts';
import { askForLanguages } from '#main/language-door.ts';
import { say } from '../support/messages-server/reply.ts';
import { serve } from '../support/product.ts';
import { type Dweller, household } from '../support/household.ts';

const settings = (command: string): string => JSON.stringify({ languageServers: { odd: { command, extensions: ['.odd'] } } });
const stateOf = async ({ house }: Dweller): Promise<string | undefined> => (await house.languages.servers()).find(({ name }) => name === 'odd')?.state;

/** Asks at the door; gives the lines of the question. */
async function atTheDoor({ house }: Dweller, kind: 'yes' | 'no'): Promise<readonly string[]> {
  const lines: string[] = [];
  const ask = (question: { readonly kind: string; readonly lines?: readonly string[] }): Promise<Answer> => {
    lines.push(...question.lines ?? []);
    return Promise.resolve({ kind });
  };
  await askForLanguages({ house, questions: { ask } as unknown as Parameters<typeof askForLanguages>[0]['questions'] });
  return lines;
}

it('language servers of a folder start as they were agreed to: a change asks again, and both answers are kept', async () => {
  const home = household({ '.pinion/settings.json': settings('one') }, await serve([say('ok')]));
  const open = (): Promise<Dweller> => home.open({ args: { trust: false } });
  const change = (command: string): void => { writeFileSync(join(home.cwd, '.pinion/settings.json'), settings(command)); };
  const first = await open();
  expect(await stateOf(first)).toBeUndefined();
  await first.house.configuration.believe(false);
  expect(await stateOf(first)).toBe('idle');
  change('evil');
  first.house.configuration.reload();
  expect(await stateOf(first)).toBe('untrusted');
  first.close();
  const second = await open();
  expect(await stateOf(second)).toBe('untrusted');
  expect(await atTheDoor(second, 'no')).toContainEqual('starts the language server odd: evil (.pinion/settings.json)');
  expect(await atTheDoor(second, 'yes')).toEqual([]);
  expect(await stateOf(second)).toBe('untrusted');
  second.close();
  change('other');
  const third = await open();
  expect(await atTheDoor(third, 'yes')).toHaveLength(2);
  expect(await stateOf(third)).toBe('idle');
  third.close();
  expect(await stateOf(await open())).toBe('idle');
  change('again');
  const forOnce = await home.open({ args: { trust: true } });
  forOnce.house.start();
  expect(await stateOf(forOnce)).toBe('idle');
});
