// Measures the built program and prints one table. `npm run bench [-- --runs 9] [-- --only first]`
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { largeRepository, smallRepository, temporary, TWELVE_CALLS } from './fixtures.js';
import { cacheWays } from './cache/run.js';
import { openEcho, openScreen, runNode, runPinion } from './program.js';
import { startServer } from './server.js';

const { values: flags } = parseArgs({ options: { runs: { type: 'string', default: '9' }, only: { type: 'string', default: '' } } });
const RUNS = Number(flags.runs);
/** The composer stands there once its frame and its hint are drawn. */
const isFrame = (text) => text.includes('Ask, or /');
const isStatus = (text) => text.includes('asks before it acts') || text.includes('tokens');

const sorted = (numbers) => [...numbers].sort((a, b) => a - b);
const quantile = (numbers, share) => sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN;
const median = (numbers) => quantile(numbers, 0.5);
const p95 = (numbers) => quantile(numbers, 0.95);

/** Median time of a measurement as a multiple of a bare Node's, the two by turns, so that a busy machine slows both. */
async function ratio(measure) {
  const own = [];
  const bare = [];
  for (let run = 0; run <= RUNS; run += 1) {
    const base = await runNode(['-e', '0'], { home: temporary() });
    const ms = await measure();
    // The first run fills caches.
    if (run > 0) {
      bare.push(base.ms);
      own.push(ms);
    }
  }
  return { value: median(own) / median(bare), note: `${median(own).toFixed(0)} ms of ${median(bare).toFixed(0)}` };
}

async function withServer(script, task) {
  const server = await startServer(script);
  try {
    return await task(server);
  } finally {
    await server.close();
  }
}

async function withScreen(options, task, open = openScreen) {
  const screen = open(options);
  try {
    return await task(screen);
  } finally {
    await screen.stop();
  }
}

/** A home in which the questions of a first start are answered already. */
const home = temporary();

const printed = (cwd, url) => runPinion(['-p', 'Do the work.', '--permission-mode', 'bypassPermissions', '--output-format', 'json'], { cwd, home, url });

async function printVersion() {
  return (await runPinion(['--version'], { home })).ms;
}

async function firstFrame(cwd) {
  return withServer([], ({ url }) => withScreen({ cwd, home, url }, async (screen) => {
    const at = await screen.seen(isFrame);
    const from = screen.mark();
    screen.type('z');
    // A frame that does not take keys is none.
    await screen.seen((text) => text.includes('z'), from);
    return at - screen.began;
  }));
}

async function firstRequest(cwd) {
  return withServer([], async ({ url, requests }) => {
    const { began } = await printed(cwd, url);
    return requests[0].at - began;
  });
}

async function twelveCalls() {
  const cwd = smallRepository();
  return withServer(TWELVE_CALLS, async ({ url, requests }) => {
    const { ms } = await printed(cwd, url);
    if (requests.length !== TWELVE_CALLS.length + 1) throw new Error(`${requests.length} requests`);
    refuseFailures(requests.at(-1).body);
    return ms;
  });
}

function refuseFailures({ messages }) {
  const failed = messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter((block) => block.type === 'tool_result' && block.is_error);
  if (failed.length > 0) throw new Error(`a call failed: ${JSON.stringify(failed[0].content)}`);
}

async function requestSize(cwd) {
  return withServer([], async ({ url, requests }) => {
    await printed(cwd, url);
    return requests[0].bytes / 1024;
  });
}

const REST_MS = 3000;

async function memory() {
  const figures = { rest: [], worked: [] };
  for (let run = 0; run < Math.min(3, RUNS); run += 1) {
    const cwd = smallRepository();
    await withServer(TWELVE_CALLS, ({ url, requests }) => withScreen({ cwd, home, url, args: ['--permission-mode', 'bypassPermissions'] }, async (screen) => {
      await screen.seen(isStatus);
      await screen.rested(REST_MS);
      figures.rest.push(screen.memory());
      screen.type('Do the work.\r');
      while (requests.length <= TWELVE_CALLS.length) await sleep(100);
      refuseFailures(requests.at(-1).body);
      await screen.rested(REST_MS);
      figures.worked.push(screen.memory());
    }));
  }
  return figures;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz ';

/** The program's echo and a bare one by turns. */
async function keyEcho(cwd) {
  return withServer([], ({ url }) => withScreen({ cwd, home, url }, (screen) => withScreen({ cwd, home }, async (echo) => {
    await Promise.all([screen.seen(isStatus), echo.seen((text) => text.includes('ready'))]);
    await screen.rested(1000);
    const echoes = { own: [], bare: [] };
    for (let i = 0; i < 300; i += 1) {
      const key = LETTERS[i % LETTERS.length];
      echoes.own.push((await screen.press(key, 15)).echo);
      echoes.bare.push((await echo.press(key, 15)).echo);
    }
    return { own: p95(echoes.own), middle: median(echoes.own), bare: p95(echoes.bare) };
  }, openEcho)));
}

async function completion() {
  const cwd = largeRepository();
  const list = [];
  const keys = [];
  const settled = [];
  const meanwhile = [];
  await withServer([], ({ url }) => withScreen({ cwd, home, url }, async (screen) => {
    await screen.seen(isStatus);
    // The index is being made: the screen is to take keys all the while.
    const until = performance.now() + 3000;
    while (performance.now() < until) meanwhile.push((await screen.press('x', 15)).echo);
    screen.type('\x15@');
    await screen.seen((text) => text.includes('area'));
    await screen.rested(1000);
    for (let round = 0; round < 5; round += 1) {
      screen.type('\x15');
      await screen.rested(300);
      const from = screen.mark();
      const at = performance.now();
      screen.type('@');
      list.push(await screen.seen((text) => text.includes('area'), from) - at);
      await screen.rested(300);
      for (const key of ['part1', 'widget', 'sess04', 'a2p7re', 'button0'][round]) {
        const { echo, settled: whole } = await screen.press(key, 200);
        keys.push(echo);
        settled.push(whole);
      }
    }
  }));
  return { list: median(list), key: p95(keys), settled: p95(settled), meanwhile: p95(meanwhile), worst: Math.max(...meanwhile) };
}

const rows = [];

function row(what, value, target, { unit = '', note = '', digits = 1 } = {}) {
  rows.push([what, `${value.toFixed(digits)}${unit}`, target === undefined ? '' : `${target}${unit}`, target === undefined ? '' : value <= target ? 'ok' : 'over', note]);
}

const small = smallRepository();
const TIMES = unit(' ×');
function unit(name) { return (note) => ({ unit: name, note }); }

const MEASUREMENTS = {
  async version() {
    const { value, note } = await ratio(printVersion);
    row('--version', value, 1.3, { ...TIMES(note), digits: 2 });
  },
  async frame() {
    const { value, note } = await ratio(() => firstFrame(small));
    row('first frame that takes keys', value, 3.2, { ...TIMES(note), digits: 2 });
  },
  async first() {
    const { value, note } = await ratio(() => firstRequest(small));
    row('-p to its first request', value, 5.5, { ...TIMES(note), digits: 2 });
  },
  async calls() {
    const { value, note } = await ratio(twelveCalls);
    row('-p with 12 tool calls', value, 11, { ...TIMES(note), digits: 2 });
  },
  async memory() {
    const { rest, worked } = await memory();
    row('memory at rest', median(rest), 110, { unit: ' MB' });
    row('memory after 12 tool calls', median(worked), 150, { unit: ' MB' });
  },
  async keys() {
    const { own, middle, bare } = await keyEcho(small);
    row('key to echo, p95', own, 8, { unit: ' ms', note: `median ${middle.toFixed(1)} ms; a bare echo ${bare.toFixed(1)} ms` });
  },
  async completion() {
    const { list, key, settled, meanwhile, worst } = await completion();
    row('@ among 100,000 files: first list', list, 100, { unit: ' ms', note: 'median, once indexed' });
    row('@ among 100,000 files: a key, p95', key, 16, { unit: ' ms', note: `its list stands after ${settled.toFixed(0)} ms` });
    row('keys while the index is made, p95', meanwhile, 16, { unit: ' ms', note: `longest ${worst.toFixed(0)} ms` });
  },
  async size() {
    row('first request', await requestSize(small), 16, { unit: ' KiB' });
  },
  /** Counted, not timed: the same on every machine. Its table follows. */
  async cache() {
    const { log, floor } = await cacheWays();
    row('a session of 60 requests, pins in the log', log.billed / floor.billed, 1.15, { unit: ' x the floor', digits: 2 });
  },
};

for (const [name, measure] of Object.entries(MEASUREMENTS)) {
  if (!name.startsWith(flags.only)) continue;
  process.stderr.write(`bench: ${name} …\n`);
  try {
    await measure();
  } catch (error) {
    process.stderr.write(`bench: ${name} could not be measured: ${error.message}\n`);
    process.exitCode = 1;
  }
}

const head = ['what', 'measured', 'target', '', ''];
const widths = head.map((_, column) => Math.max(...[head, ...rows].map((cells) => cells[column].length)));
for (const cells of [head, ...rows]) process.stdout.write(`${cells.map((cell, column) => (column === 1 || column === 2 ? cell.padStart(widths[column]) : cell.padEnd(widths[column]))).join('  ').trimEnd()}\n`);
