import { expect, it } from 'vitest';
import { compareWays } from './ways.ts';

it('pins said in the log cost far less than at the tail or the head of each request, and little more than is needed', async () => {
  const { session, log, plain, tail, head, floor } = await compareWays();
  expect(session.sent).toHaveLength(60);
  expect(session).toMatchObject({ edits: 6, todoChanges: 25, compactions: 1 });
  expect(session.pinnedBytes).toBeGreaterThan(39 * 1024);
  expect(session.gapsMs.filter((gap) => gap > 5 * 60_000)).toHaveLength(2);
  expect(log.billed).toBeLessThan(tail.billed / 3);
  expect(log.billed).toBeLessThan(head.billed / 3);
  expect(log.billed).toBeLessThan(floor.billed * 1.15);
  expect(plain.billed).toBeGreaterThan(floor.billed * 1.15);
}, 60_000);
