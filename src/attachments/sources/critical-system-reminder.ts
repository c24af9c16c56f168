import { sha256 } from '#lib/hash.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

/** What a sub-agent's definition wants repeated to it while it works. */
export default defineSource<string>({
  id: 'critical_system_reminder', on: ['prompt', 'step'], threads: 'all', cadence: { everySteps: 5, fullEvery: 5 }, limits: { tokens: 700 },
  observe: ({ agents }) => {
    const text = agents.self()?.type.reminder?.trim() ?? '';
    return text === '' ? absent : text;
  },
  keep: (now) => sha256(now),
  revive: (stored) => (typeof stored === 'string' ? stored : undefined),
  full: (now) => now,
  brief: (now) => now,
  gone: () => undefined,
});
