import { expect } from 'vitest';
import { type Beliefs, beliefsOf } from '../support/model-beliefs.ts';
import { QUIET } from './acts.ts';
import { expectTrue, hasGaps } from './checks.ts';
import type { Life } from './life.ts';

/** What the model holds to be the case by the last request of the conversation. */
function believed(life: Life): Beliefs {
  return beliefsOf(life.sent.at(-1)?.request.body ?? {});
}

/** Of one who is told everything anew, and of one who never heard of this conversation, what the model believes must be the same. */
export async function compare(life: Life): Promise<void> {
  if (hasGaps(life.dweller.log)) return;
  const lived = believed(life);
  await life.prepare({ what: 'compact', seed: 0 });
  await life.live(QUIET);
  const whole = believed(life);
  expectTrue(life);
  expect([...lived.todos]).toEqual([...whole.todos]);
  expect(lived).toEqual(whole);
  life.dweller = await life.home.open({ args: { permissionMode: life.dweller.conversation.mode() } });
  life.dwellers.push(life.dweller);
  await life.live(QUIET);
  const fresh = believed(life);
  for (const part of ['agents', 'tools', 'environment', 'date', 'companion'] as const) expect([part, lived[part]]).toEqual([part, fresh[part]]);
}
