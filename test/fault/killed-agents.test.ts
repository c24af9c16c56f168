import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tasksOf } from '#domain/folds.ts';
import { readLog } from '#session/file.ts';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import type { Recorded } from '../support/messages-server/server.ts';
import { expectValid, only, product, serve, wordsOf } from '../support/product.ts';

const PRELOAD = fileURLToPath(new URL('../support/die-at-write.mjs', import.meta.url));
const MAIL = 'the one and only message';

const isSub = ({ body }: Recorded): boolean => JSON.stringify(body['system']).includes('You are a sub-agent');
const hasResult = ({ body }: Recorded, name: string): boolean => JSON.stringify(body['messages']).includes(`"name":"${name}"`);

/** A conversation with a teammate that writes to it, one beside it and a command beside it; all go by what a request holds. */
function answer(request: Recorded): ScriptedReply {
  if (isSub(request)) {
    if (wordsOf(request).includes('Write to the lead') && !hasResult(request, 'SendMessage')) return { content: [call('SendMessage', { to: 'lead', message: MAIL })] };
    return say('The sub-agent is done.', { delayMs: 30 });
  }
  if (!hasResult(request, 'Task')) {
    return { content: [
      call('Task', { subagent_type: 'general', description: 'writes', prompt: 'Write to the lead.', name: 'bob' }), call('Task', { subagent_type: 'general', description: 'looks', prompt: 'Look.', run_in_background: true }),
      call('Bash', { command: 'echo beside', run_in_background: true }),
    ] };
  }
  return say('I see.');
}

const times = (text: string, words: string): number => text.split(words).length - 1;

describe('a program that is killed at a write to a log while agents and commands work beside it', () => {
  it.each([5.5, 8.5, 17, 26])('(number %s) goes on: nothing is at work, nothing is lost in silence, mail is told once', async (at) => {
    const server = await serve(answer);
    const place = product({ 'a.txt': 'x\n' }, server);
    const killed = await place.run(['-p', 'begin', '--permission-mode', 'bypassPermissions'], { env: { NODE_OPTIONS: `--import ${PRELOAD}`, DIE_AT_WRITE: String(at) } });
    expect(killed.code).toBe(137);
    for (const words of ['go on please', 'and on']) {
      const next = await place.run(['-c', '-p', words, '--permission-mode', 'bypassPermissions']);
      expect([next.code, next.stdout]).toEqual([0, 'I see.\n']);
    }
    expectValid(server);
    const folder = join(place.home, 'sessions', only(readdirSync(join(place.home, 'sessions'))));
    const logs = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
    const entries = (beside: boolean) => logs.filter((name) => name.includes('subagents') === beside).map((name) => readLog(join(folder, name)).entries);
    const tasks = tasksOf(only(entries(false)));
    expect(tasks.map(({ state }) => state)).not.toContain('running');
    const told = wordsOf(server.requests.findLast((request) => !isSub(request)) ?? only([]));
    expect(times(told, `> ${MAIL}`)).toBeLessThanOrEqual(1);
    if (JSON.stringify(entries(true)).includes('Sent to lead')) expect(times(told, `> ${MAIL}`)).toBe(1);
    for (const { id, state } of tasks) if (state === 'lost') expect(times(told, `${id} is gone`), id).toBe(1);
  });
});
