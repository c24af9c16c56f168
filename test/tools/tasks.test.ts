import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { tasksOf } from '#domain/folds.ts';
import type { TaskRecord, TaskView } from '#domain/tasks.ts';
import { makeTaskFile, openKept } from '#tools/shell/task-file.ts';
import { sweepTasks } from '#tools/shell/sweep.ts';
import { tempFolder } from '../support/temp.ts';
import { type House, memorySession, openHouse, textOf } from './support.ts';

const NOTHING = '(no new output)';
const open = (more: Parameters<typeof openHouse>[0] = {}): House => openHouse({ background: true, ...more });

async function start(house: House, command: string): Promise<string> {
  const { kind, text } = await house.say('Bash', { command, run_in_background: true });
  expect(kind).toBe('ok');
  return /as (shell-\d+)\./.exec(text)?.[1] ?? '';
}

const view = (house: House, id: string): TaskView => house.shells.list(house.session).find((task) => task.id === id) ?? failing();
const records = (house: House, id: string): readonly TaskRecord[] => house.session.log.flatMap((entry) => (entry.type === 'task' && entry.task.id === id ? [entry.task] : []));
const states = (house: House, id: string): readonly string[] => records(house, id).map(({ state }) => state);

async function ended(house: House, id: string): Promise<TaskRecord> {
  await expect.poll(() => view(house, id).state, { timeout: 10_000, interval: 20 }).not.toBe('running');
  return records(house, id).at(-1) ?? failing();
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const gone = (pids: readonly number[]): Promise<void> => expect.poll(() => pids.filter(lives), { timeout: 10_000, interval: 20 }).toEqual([]);
/** Numbers that a command has put out so far, one a line. */
async function pidsOf(house: House, id: string, many: number): Promise<readonly number[]> {
  const found = (): readonly string[] => readFileSync(view(house, id).file, 'utf8').split('\n').filter((line) => /^\d+$/.test(line));
  await expect.poll(() => found().length, { timeout: 5000, interval: 20 }).toBe(many);
  return found().map(Number);
}

describe('a command in the background', () => {
  it('answers at once with its id and how to read and end it, and goes on', async () => {
    const house = open();
    const begun = Date.now();
    const outcome = await house.call('Bash', { command: 'sleep 30; echo never', run_in_background: true });
    expect(Date.now() - begun).toBeLessThan(20_000);
    expect(textOf(outcome)).toMatch(/^Started in the background as shell-1\. TaskOutput with the id shell-1 .*TaskStop/);
    expect(outcome.result.card).toMatchObject({ title: 'Bash sleep 30; echo never', detail: 'in the background: shell-1' });
    expect(records(house, 'shell-1')).toEqual([{ id: 'shell-1', kind: 'shell', title: 'sleep 30; echo never', state: 'running', file: view(house, 'shell-1').file }]);
    expect(await start(house, 'true')).toBe('shell-2');
  });

  it('takes the next number where a task that the log lost has left its output', async () => {
    const house = open();
    const folder = join(view(house, await start(house, 'true')).file, '..');
    writeFileSync(join(folder, 'shell-2.log'), 'of another life');
    expect(await start(house, 'echo mine')).toBe('shell-3');
    await ended(house, 'shell-3');
    expect(readFileSync(join(folder, 'shell-2.log'), 'utf8')).toBe('of another life');
  });

  it('ends once, with its exit code, and its output can be read', async () => {
    const house = open();
    const [good, bad, killed] = [await start(house, 'echo out; echo err >&2'), await start(house, 'echo no; exit 3'), await start(house, 'kill -SEGV $$')];
    expect(await ended(house, good)).toMatchObject({ state: 'done', exitCode: 0 });
    expect(await ended(house, bad)).toMatchObject({ state: 'failed', exitCode: 3 });
    expect(await ended(house, killed)).toMatchObject({ state: 'failed', exitCode: 139 });
    for (const id of [good, bad, killed]) expect(states(house, id)).toHaveLength(2);
    expect(await house.say('TaskOutput', { id: good })).toEqual({ kind: 'ok', text: '[shell-1 is done (exit code 0)]\nout\nerr' });
    expect(await house.say('TaskOutput', { id: bad })).toEqual({ kind: 'ok', text: '[shell-2 failed (exit code 3)]\nno' });
    expect((await house.say('TaskOutput', {})).text).toBe('shell-1 is done (exit code 0): echo out; echo err >&2\nshell-2 failed (exit code 3): echo no; exit 3\nshell-3 failed (exit code 139), no output: kill -SEGV $$');
  });

  it('is given to the model byte by byte once, whatever is between two looks', async () => {
    const house = open();
    const id = await start(house, 'for i in 1 2 3 4 5 6 7 8; do printf "%s é🙂\\n" $i; sleep 0.05; done');
    const all: string[] = [];
    for (let looks = 0; looks < 60 && view(house, id).state === 'running'; looks += 1) {
      all.push(bodyOf(await house.say('TaskOutput', { id })));
      await pause(15);
    }
    all.push(bodyOf(await house.say('TaskOutput', { id })));
    expect(all.join('\n').split('\n').filter((line) => line !== NOTHING)).toEqual(Array.from({ length: 8 }, (_, i) => `${i + 1} é🙂`));
    expect(await house.say('TaskOutput', { id })).toEqual({ kind: 'ok', text: '[shell-1 is done (exit code 0); output that was read before is left out]\n(no new output)' });
  });

  it('half a character waits for its other half', async () => {
    const house = open();
    const id = await start(house, "printf 'a\\303'; sleep 0.6; printf '\\251b'");
    await expect.poll(() => view(house, id).bytes).toBe(2);
    expect((await house.say('TaskOutput', { id })).text).toBe('[shell-1 is running]\na');
    await ended(house, id);
    expect(bodyOf(await house.say('TaskOutput', { id }))).toBe('éb');
  });

  it('is waited for on demand: up to its end, or to the end of the time', async () => {
    const house = open();
    const id = await start(house, 'sleep 0.4; echo over');
    expect((await house.say('TaskOutput', { id, wait: 50 })).text).toBe('[shell-1 is running]\n(no new output)');
    expect((await house.say('TaskOutput', { id, wait: 10_000 })).text).toContain('is done (exit code 0)');
    const stop = new AbortController();
    const other = await start(house, 'sleep 30');
    const waiting = house.call('TaskOutput', { id: other, wait: 20_000 }, stop.signal);
    await pause(50);
    stop.abort();
    expect((await waiting).result.kind).toBe('interrupted');
    expect(view(house, other).state).toBe('running');
  });

  it('long output is cut in the middle, and a flood neither fills the disk nor holds up anything', async () => {
    const house = open();
    const id = await start(house, "seq 1 200000; echo the end");
    await ended(house, id);
    const { text } = await house.say('TaskOutput', { id });
    expect(text.length).toBeLessThan(31_000);
    expect(text).toMatch(/\n1\n2\n3\n[\s\S]*the end$/);
    const flood = await start(house, 'yes flooding the disk');
    await expect.poll(() => view(house, flood).bytes, { timeout: 15_000, interval: 50 }).toBeGreaterThan(10_000_000);
    const { file, doing } = view(house, flood);
    // The line may be under way.
    expect('flooding the disk'.startsWith(doing ?? 'nothing')).toBe(true);
    const size = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    expect(size(file) + size(`${file}.old`)).toBeLessThan(9 * 1024 * 1024);
    const read = await house.say('TaskOutput', { id: flood });
    expect(read.text).toMatch(/^\[shell-2 is running\]\n\[\d+ bytes of output that came before are no longer kept\]\n/);
    await house.say('TaskStop', { id: flood });
    expect(states(house, flood)).toEqual(['running', 'stopped']);
  });

  it('has a file for the user only', async () => {
    const house = open();
    const { file } = view(house, await start(house, 'echo x'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
  });

  it('what it leaves in the background keeps it running, and is ended with it', async () => {
    const house = open();
    const id = await start(house, 'sleep 61 & echo $!');
    const [pid = 0] = await pidsOf(house, id, 1);
    await pause(700);
    expect(view(house, id).state).toBe('running');
    expect((await house.say('TaskStop', { id })).kind).toBe('ok');
    await gone([pid]);
    expect(states(house, id)).toEqual(['running', 'stopped']);
  });

  it('cannot be started: a folder that is gone is given up for the workspace, a shell that is not there is said', async () => {
    const house = open({ shell: '/no/such/shell' });
    expect(await house.say('Bash', { command: 'true', run_in_background: true })).toMatchObject({ kind: 'failed', text: expect.stringContaining('could not be started') });
    expect(tasksOf(house.session.log)).toEqual([]);
  });

  it('where its output cannot be kept nothing runs', async () => {
    const house = open();
    const folder = join(house.root, '..', 'tasks');
    writeFileSync(folder, 'in the way');
    const { kind, text } = await house.say('Bash', { command: 'sleep 62', run_in_background: true });
    expect([kind, text]).toEqual(['failed', expect.stringMatching(/^Not run: its output could not be kept: /)]);
    expect(tasksOf(house.session.log)).toEqual([]);
  });
});

describe('ending a task', () => {
  it('ends children, those that ignore TERM, those of a session of their own and those that were orphaned into one', async () => {
    const house = open();
    const id = await start(house, [
      'echo $$', '(trap "" TERM; while :; do sleep 1; done) & echo $!', 'setsid sleep 63 & echo $!',
      "sh -c 'setsid sh -c \"echo \\$\\$; exec sleep 64\" &'", 'sleep 65',
    ].join('\n'));
    const pids = await pidsOf(house, id, 4);
    expect(await house.say('TaskStop', { id })).toEqual({ kind: 'ok', text: expect.stringMatching(/^shell-1 \(.*\) is ended\.$/) });
    await gone(pids);
    expect(states(house, id)).toEqual(['running', 'stopped']);
    expect(await house.say('TaskStop', { id })).toMatchObject({ kind: 'failed', text: expect.stringContaining('does not run: it is stopped') });
  });

  it('twice at once, and while it ends by itself: one end', async () => {
    for (let round = 0; round < 8; round += 1) {
      const house = open();
      const id = await start(house, 'sleep 0.05; echo bye');
      await pause(40 + round * 4);
      await Promise.all([house.shells.stop(id, house.session), house.shells.stop(id, house.session)]);
      await ended(house, id);
      expect(states(house, id)).toHaveLength(2);
      expect(['done', 'stopped', 'failed']).toContain(view(house, id).state);
    }
  });

  it('of one that is not there says which there are', async () => {
    const house = open();
    expect((await house.say('TaskStop', { id: 'shell-9' })).text).toBe('Nothing was done: there is no task shell-9; none was started.');
    await start(house, 'true');
    expect((await house.say('TaskOutput', { id: 'shell-9' })).text).toBe('There is no task shell-9; there are shell-1.');
  });

  it('the end of the program ends all, and nothing is written any more', async () => {
    const house = open();
    const id = await start(house, 'echo $$; (trap "" TERM; while :; do sleep 1; done) & echo $!; setsid sleep 66 & echo $!; wait');
    const pids = await pidsOf(house, id, 3);
    house.shells.close();
    await gone(pids);
    expect(states(house, id)).toEqual(['running']);
  });
});

describe('a command in the foreground', () => {
  it('goes on in the background when it reaches the time-out that nobody set, with what it had put out', async () => {
    const house = open({ env: { BASH_DEFAULT_TIMEOUT_MS: '300' } });
    const outcome = await house.call('Bash', { command: 'echo before; sleep 1; echo after; exit 2' });
    expect(textOf(outcome)).toMatch(/^before\n\[it reached its time-out and goes on in the background as shell-1\. TaskOutput /);
    expect(outcome.result).toMatchObject({ kind: 'ok', card: { detail: 'in the background: shell-1' } });
    expect(await ended(house, 'shell-1')).toMatchObject({ state: 'failed', exitCode: 2 });
    expect(readFileSync(view(house, 'shell-1').file, 'utf8')).toBe('before\nafter\n');
    expect((await house.say('TaskOutput', { id: 'shell-1' })).text).toBe('[shell-1 failed (exit code 2); output that was read before is left out]\nafter');
  });

  it('ends at the time-out that the model set', async () => {
    const house = open();
    expect((await house.say('Bash', { command: 'sleep 67', timeout: 200 })).text).toBe('[ended at its time-out of 0.2 s]');
    expect(tasksOf(house.session.log)).toEqual([]);
  });

  it('is sent there by the user, at any moment; the next command does not wait for it', async () => {
    const house = open();
    expect(house.shells.background(house.session)).toBe(false);
    const running = house.call('Bash', { command: 'echo $$; sleep 68' });
    const next = house.call('Bash', { command: 'echo next' });
    await pause(300);
    expect(house.shells.background(house.session)).toBe(true);
    expect(textOf(await running)).toMatch(/^\d+\n\[the user sent it to the background as shell-1\./);
    expect(textOf(await next)).toBe('next');
    expect(house.shells.background(house.session)).toBe(false);
    const [pid = 0] = await pidsOf(house, 'shell-1', 1);
    expect(lives(pid)).toBe(true);
    await house.say('TaskStop', { id: 'shell-1' });
    await gone([pid]);
  });

  it('that has just ended is no task', async () => {
    for (let round = 0; round < 6; round += 1) {
      const house = open();
      const running = house.call('Bash', { command: 'sleep 0.05; echo hi' });
      await pause(30 + round * 12);
      house.shells.background(house.session);
      const text = textOf(await running);
      if (text !== 'hi') {
        expect(await ended(house, 'shell-1')).toMatchObject({ state: 'done' });
        expect(`${text.split('[')[0]?.trim() ?? ''}${bodyOf(await house.say('TaskOutput', { id: 'shell-1' }))}`.replace(NOTHING, '')).toBe('hi');
      } else expect(tasksOf(house.session.log)).toEqual([]);
    }
  });

  it('an interrupt ends it and not what was sent to the background before', async () => {
    const house = open();
    const stop = new AbortController();
    const first = house.call('Bash', { command: 'echo $$; sleep 69' }, stop.signal);
    await pause(200);
    house.shells.background(house.session);
    await first;
    stop.abort();
    const [pid = 0] = await pidsOf(house, 'shell-1', 1);
    await pause(200);
    expect(lives(pid)).toBe(true);
  });
});

describe('sessions', () => {
  it('have tasks of their own; what runs goes along to the one that takes the place', async () => {
    const house = open();
    const id = await start(house, 'sleep 0.5; echo moved');
    const other = { ...memorySession(), id: 'other' };
    expect(house.shells.list(other)).toEqual([]);
    house.shells.move(house.session, other);
    expect(house.shells.running(house.session)).toEqual([]);
    expect(house.shells.running(other).map((task) => task.id)).toEqual([id]);
    await expect.poll(() => tasksOf(other.log)[0]?.state, { timeout: 5000 }).toBe('done');
    expect(states(house, id)).toEqual(['running']);
    expect(await house.shells.read(id, other)).toMatchObject({ text: 'moved\n' });
  });

  it('that are left end what runs, and nothing is written into them', async () => {
    const house = open();
    const id = await start(house, 'echo $$; sleep 70');
    const pids = await pidsOf(house, id, 1);
    house.shells.leave(house.session);
    await gone(pids);
    await pause(100);
    expect(states(house, id)).toEqual(['running']);
    await expect.poll(() => view(house, id).state, { timeout: 5000 }).toBe('lost');
  });

  it('number on from what their log holds', async () => {
    const house = open();
    house.session.append({ type: 'task', task: { id: 'shell-7', kind: 'shell', title: 'old', state: 'lost', file: join(house.root, 'gone.log') } });
    const [one, two] = await Promise.all([house.shells.start('true', 'true', house.session), house.shells.start('true', 'true', house.session)]);
    expect([one, two].map((task) => ('id' in task ? task.id : ''))).toEqual(['shell-8', 'shell-9']);
    expect((await house.say('TaskOutput', { id: 'shell-7' })).text).toContain('[its output is no longer kept]');
  });

  it('a rewind takes back what was read', async () => {
    const house = open();
    const id = await start(house, 'echo once');
    await ended(house, id);
    const before = house.session.log.at(-1)?.id ?? failing();
    expect(bodyOf(await house.say('TaskOutput', { id }))).toBe('once');
    expect(bodyOf(await house.say('TaskOutput', { id }))).toBe(NOTHING);
    house.session.append({ type: 'rewind', to: before });
    expect(bodyOf(await house.say('TaskOutput', { id }))).toBe('once');
  });
});

describe('the file of a task', () => {
  it('keeps the newest bytes, within twice its size, at positions that count all', async () => {
    const path = join(tempFolder(), 'a', 'shell-1.log');
    const file = makeTaskFile(path, { before: 5, bytes: Buffer.from('fghij') }, 10);
    for (const letter of 'klmnopqrstuvwxyz') void file.push(Buffer.from(letter));
    expect(file.bytes()).toBe(26);
    const kept = openKept(path) ?? failing();
    expect([kept.gone, kept.to, kept.last(3).toString()]).toEqual([15, 26, 'xyz']);
    const from = async (at: number): Promise<string> => {
      let all = '';
      for await (const piece of kept.from(at)) all += piece.toString();
      return all;
    };
    expect(await from(0)).toBe('pqrstuvwxyz');
    expect(await from(20)).toBe('uvwxyz');
    expect(await from(26)).toBe('');
    kept.close();
    file.close();
    void file.push(Buffer.from('late'));
    expect(readFileSync(path, 'utf8')).toBe('[25 bytes of earlier output are no longer kept]\nz');
  });

  it('goes on when it can be written again, and says meanwhile that it cannot', () => {
    const path = join(tempFolder(), 'shell-1.log');
    const file = makeTaskFile(path, undefined, 4);
    void file.push(Buffer.from('abcd'));
    expect(file.problem()).toBeUndefined();
    mkdirSync(`${path}.old`);
    void file.push(Buffer.from('efgh'));
    expect(file.problem()).toContain('rename');
    void file.push(Buffer.from('ij'));
    expect(file.problem()).toBeUndefined();
    expect(readFileSync(path, 'utf8')).toBe('[4 bytes of earlier output are no longer kept]\nij');
    file.close();
  });

  it('old ones are swept, new ones and others are not', () => {
    const folder = tempFolder({ 'old/shell-1.log': 'x', 'old/shell-1.log.old': 'x', 'mixed/shell-1.log': 'x', 'mixed/shell-2.log': 'x', 'mixed/notes.txt': 'x' });
    const temporary = tempFolder({ 'pinion-shell-abc/cwd': '/', 'pinion-shell-new/cwd': '/', 'other/x': 'x' });
    const long = new Date(Date.now() - 20 * 86_400_000);
    for (const path of ['old/shell-1.log', 'old/shell-1.log.old', 'mixed/shell-1.log', 'mixed/notes.txt']) utimesSync(join(folder, path), long, long);
    for (const path of ['pinion-shell-abc', 'other']) utimesSync(join(temporary, path), long, long);
    sweepTasks(folder, Date.now(), temporary);
    expect(readdirSync(folder)).toEqual(['mixed']);
    expect(readdirSync(join(folder, 'mixed')).sort()).toEqual(['notes.txt', 'shell-2.log']);
    expect(readdirSync(temporary).sort()).toEqual(['other', 'pinion-shell-new']);
    sweepTasks('/no/such/folder', Date.now(), '/no/such/folder');
    expect(existsSync(join(folder, 'mixed'))).toBe(true);
  });
});

function bodyOf({ text }: { readonly text: string }): string {
  return text.slice(text.indexOf('\n') + 1);
}

function failing(): never {
  throw new Error('there is none');
}
