import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { expectValid, isAlive, last, product, type Product, serve, until, wordsOf } from '../support/product.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
/** In the background: a shell, a child that ignores TERM, one of a session of its own, and one that nobody is the parent of. */
const FAMILY = 'echo $$ >pids; (trap "" TERM; while :; do sleep 1; done) & echo $! >>pids; setsid sleep 71 & echo $! >>pids; sh -c \'setsid sh -c "echo \\$\\$ >>pids; exec sleep 72" &\'; wait; sleep 73';
const background = { content: [call('Bash', { command: FAMILY, run_in_background: true })] };
const foreground = { content: [call('Bash', { command: 'while [ "$(wc -l <pids)" != 4 ]; do sleep 0.05; done; sleep 0.2' })] };
const stuck = { content: [call('Bash', { command: 'echo $$ >front; sleep 74' })] };

const pidsIn = ({ cwd }: Product, file = 'pids'): readonly number[] => readFileSync(join(cwd, file), 'utf8').trim().split('\n').map(Number);
const allGone = (pids: readonly number[]): Promise<void> => until(() => !pids.some(isAlive), 10_000);

describe('commands in the background', () => {
  it('end with print mode, which says so and does not wait', async () => {
    const server = await serve((_request, index) => [background, foreground][index] ?? say('It runs.'));
    const place = product({}, server);
    const { code, stdout, stderr } = await place.run(['-p', 'serve', ...BYPASS]);
    expect([code, stdout]).toEqual([0, 'It runs.\n']);
    expect(stderr).toMatch(/^pinion: shell-1 still ran and is ended with the program: echo \$\$ >pids; [^\n]*\n$/);
    const pids = pidsIn(place);
    expect(pids).toHaveLength(4);
    await allGone(pids);
    expectValid(server);
  });

  it.each([['SIGKILL', 137], ['SIGTERM', 143], ['SIGINT', 130]] as const)('end when the program is ended by %s, and the next one is told that they are gone', async (signal, code) => {
    const server = await serve((request, index) => (wordsOf(request).includes('go on please') ? say('All is well.') : [background, foreground, stuck][index] ?? say('never asked for')));
    const place = product({}, server);
    const running = place.start(['-p', 'serve', ...BYPASS]);
    await until(() => existsSync(join(place.cwd, 'front')) && pidsIn(place, 'front')[0] !== 0, 20_000);
    const pids = [...pidsIn(place), ...pidsIn(place, 'front')];
    expect(pids.filter(isAlive)).toHaveLength(5);
    running.kill(signal);
    expect(await running.ended).toMatchObject({ code, stdout: '' });
    await allGone(pids);
    const again = await place.run(['-c', '-p', 'go on please', ...BYPASS]);
    expect([again.code, again.stdout, again.stderr]).toEqual([0, 'All is well.\n', '']);
    expect(wordsOf(last(server.requests)).match(/shell-1 is gone: it ran when the program that had started it ended/g)).toHaveLength(1);
    expect(place.entries().flatMap((entry) => (entry.type === 'task' ? [entry.task.state] : []))).toEqual(['running', 'lost']);
    expectValid(server);
  });

  it('can be stopped and looked at by a command line', async () => {
    const server = await serve((_request, index) => [{ content: [call('Bash', { command: 'echo hello', run_in_background: true })] }, { content: [call('TaskOutput', { id: 'shell-1', wait: 5000 })] }][index] ?? say('Done.'));
    const place = product({}, server);
    expect(await place.run(['-p', 'go', ...BYPASS])).toEqual({ code: 0, stdout: 'Done.\n', stderr: '' });
    const shown = await place.run(['-c', '-p', '/tasks shell-1']);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain('hello');
    expect(await place.run(['-c', '-p', '/tasks stop shell-1'])).toMatchObject({ code: 2, stderr: 'pinion: shell-1 does not run: it is done (exit code 0).\n' });
    expect(await place.run(['-c', '-p', '/queue'])).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing waits') as string });
  });
});
