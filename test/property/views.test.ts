import fc from 'fast-check';
import { it, vi } from 'vitest';
import { QUIET, runs, turn } from './acts.ts';
import { Life } from './life.ts';
import { compare } from './views.ts';

it('what is believed after all changes is what is told whole', async () => {
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true });
  try {
    await fc.assert(fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 6 }), async (turns) => {
      const life = await Life.begin();
      try {
        for (const each of turns) await life.live(each);
        await life.live(QUIET);
        await compare(life);
      } finally {
        await life.end();
      }
    }), runs(5));
  } finally {
    vi.useRealTimers();
  }
}, 60_000);
