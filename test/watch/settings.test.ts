import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { watchSettings } from '#watch/settings.ts';
import { tempFolder } from '../support/temp.ts';

it('tells of settings files that come, change by renaming, and go', async () => {
  const folder = tempFolder({ 'user.json': '{}' });
  const file = join(folder, 'user.json');
  const later = join(folder, '.pinion', 'settings.json');
  mkdirSync(join(folder, '.pinion'));
  let told = 0;
  const watch = await watchSettings([file, later], () => { told += 1; }, (text) => { throw new Error(text); });
  onTestFinished(() => watch.close());
  const next = async (task: () => void): Promise<void> => {
    const before = told;
    task();
    await expect.poll(() => told, { timeout: 5000 }).toBeGreaterThan(before);
  };
  await next(() => { writeFileSync(file, '{"a":1}'); });
  await next(() => {
    writeFileSync(`${file}.new`, '{"a":2}');
    renameSync(`${file}.new`, file);
  });
  await next(() => { writeFileSync(later, '{}'); });
  await next(() => { rmSync(later); });
});
