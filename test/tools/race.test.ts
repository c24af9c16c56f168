import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRegular } from '#tools/files/open.ts';
import { writeRegular } from '#tools/files/write.ts';
import { openHouse } from './support.ts';

test('while somebody exchanges a folder for a link that leads out, nothing outside is read or written', async () => {
  const { root } = openHouse();
  const outside = openHouse().root;
  mkdirSync(join(root, 'd'));
  writeFileSync(join(root, 'd/f'), 'inside');
  writeFileSync(join(outside, 'f'), 'outside');
  const loop = spawn('/bin/bash', ['-c', `cd '${root}'; while :; do mv d e; ln -s '${outside}' d; rm d; mv e d; done`], { stdio: 'ignore', detached: true });
  const tally = { read: 0, written: 0, refused: 0 };
  const file = join(root, 'd/f');
  try {
    for (let round = 0; round < 400; round += 1) {
      try {
        const before = await readRegular(file);
        expect(before.bytes.toString()).toMatch(/^inside/);
        tally.read += 1;
        if (round % 4 === 0) {
          await writeRegular({ real: file, bytes: Buffer.from(`inside ${round}`), before, signal: new AbortController().signal });
          tally.written += 1;
        }
      } catch (error) {
        if (error instanceof Error && error.name === 'AssertionError') throw error;
        tally.refused += 1;
      }
    }
  } finally {
    // With the command that it is in the middle of.
    if (loop.pid !== undefined) process.kill(-loop.pid, 'SIGKILL');
  }
  expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('outside');
  expect(readdirSync(outside)).toEqual(['f']);
  expect(tally.read + tally.refused).toBeGreaterThanOrEqual(400);
});
