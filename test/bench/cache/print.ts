import { compareWays } from './ways.ts';

export const accounts = await compareWays();
const { session, log, plain, tail, head, floor } = accounts;
const pauses = session.gapsMs.map((gap) => `${gap / 60_000} min`).join(' and ');
const rows = [floor, log, plain, tail, head].map(({ way, billed, read, written, uncached }) => (
  `  ${way.padEnd(34)} ${Math.round(billed).toLocaleString('en').padStart(9)} ${(billed / floor.billed).toFixed(2).padStart(6)} x  read ${Math.round(read / 1000)}k, written ${Math.round(written / 1000)}k, uncached ${Math.round(uncached / 1000)}k\n`));

/** What the session held, and a line for each way: tokens of plain input that would have cost the same. */
export const table = `${session.sent.length} requests, five pins (${Math.round(session.pinnedBytes / 1024)} KiB), ${session.edits} edits by others, ${session.todoChanges} todo changes, pauses of ${pauses}, ${session.compactions} compaction\n${rows.join('')}`;
