import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/temp.ts';

const script = fileURLToPath(new URL('../first-minute', import.meta.url));
const noTmux = spawnSync('tmux', ['-V']).error !== undefined;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function firstMinute(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = spawn(script, [...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (words: string) => { stdout += words; });
  child.stderr.setEncoding('utf8').on('data', (words: string) => { stderr += words; });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => { resolve({ code, stdout, stderr }); });
  });
}

function told(rows: readonly string[]): string {
  const table = ['<!-- first-minute -->', '| | you type | you see |', '|---|---|---|', ...rows, '<!-- /first-minute -->', ''].join('\n');
  return join(tempFolder({ 'minute.md': table }), 'minute.md');
}

it.skipIf(noTmux)(`the README's first minute is as it says${noTmux ? ' (left out: tmux is not installed)' : ''}`, async ({ annotate }) => {
  const { code, stdout, stderr } = await firstMinute([]);
  if (code !== 0) await annotate(stderr);
  expect(stderr).not.toContain('FAILED');
  expect({ code, last: stdout.trimEnd().split('\n').at(-1) }).toEqual({ code: 0, last: expect.stringMatching(/^first minute: \d\d steps, all as the README says$/) as string });
}, 300_000);

it.skipIf(noTmux)('a step that does not show what it should fails with the screen', async () => {
  const minute = told(['| try | `echo a-moth` Enter | `a-moth` |', '| wrong | `echo a-$((40 + 2))` Enter | `a-43` |', '| never | `echo reached` Enter | `reached` |']);
  const { code, stdout, stderr } = await firstMinute([minute], { FIRST_MINUTE_SECONDS: '4' });
  expect(code).toBe(1);
  expect(stdout).toBe('ok  try\n');
  expect(stderr).toMatch(/FAILED at "wrong"[\s\S]*not seen in 4 s:\n {4}a-43\n[\s\S]*── screen ──[\s\S]*^a-42$/m);
}, 60_000);

it.skipIf(noTmux)('a table that cannot be followed is refused in one line', async () => {
  expect(await firstMinute([told(['| odd | Hyper-X | `never` |'])])).toMatchObject({ code: 2, stderr: 'first-minute: no key is called Hyper-X\n' });
  expect(await firstMinute([told(['| blind | `echo` Enter | nothing |'])])).toMatchObject({ code: 2, stderr: 'first-minute: the step "blind" says nothing that is to be seen.\n' });
  expect(await firstMinute([told([])])).toMatchObject({ code: 2 });
}, 60_000);
