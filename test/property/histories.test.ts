import fc from 'fast-check';
import { it, vi } from 'vitest';
import { QUIET, runs, turn } from './acts.ts';
import { check } from './checks.ts';
import { Life } from './life.ts';

it('whatever happens, each request is valid and begins as the last one, and the model knows of files what is true', async () => {
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true });
  try {
    await fc.assert(fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 6 }), async (turns) => {
      const life = await Life.begin();
      try {
        for (const each of turns) await life.live(each);
        await life.live(QUIET);
        check(life);
      } finally {
        await life.end();
      }
    }), runs(6));
  } finally {
    vi.useRealTimers();
  }
}, 60_000);
