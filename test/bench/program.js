// The built program, started as a user starts it: with pipes, or in a pseudo-terminal.
import { execFileSync, spawn as spawnPiped } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pty from '@lydell/node-pty';

const LAUNCHER = fileURLToPath(new URL('../../bin/pinion.js', import.meta.url));
const TOO_LONG_MS = 60_000;

/** The environment of a program under measurement: its own home, its own server, nothing else of ours. */
function environment(home, url) {
  const bare = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:CI|NO_COLOR|FORCE_COLOR|ANTHROPIC_.*|PINION_.*|(?:https?|all|no)_proxy)$/i.test(name)));
  return { ...bare, HOME: home, PINION_HOME: home, TERM: 'xterm-256color', ...(url === undefined ? {} : { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'bench' }) };
}

/** Runs Node with these arguments to its end. Resolves with its time in milliseconds and what it wrote; a failed run is an error. */
export function runNode(args, { cwd, home, url } = {}) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawnPiped(process.execPath, args, { cwd, env: environment(home, url), stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => { said.stdout += text; });
    child.stderr.setEncoding('utf8').on('data', (text) => { said.stderr += text; });
    let ms = 0;
    child.on('exit', () => { ms = performance.now() - began; });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve({ began, ms, ...said });
      else reject(new Error(`node ${args.join(' ')} ended with code ${code}: ${said.stderr}${said.stdout}`));
    });
  });
}

export const runPinion = (args, options) => runNode([LAUNCHER, ...args], options);

const ECHO = "process.stdin.setRawMode(true).on('data', (keys) => { process.stdout.write(keys); }); process.stdout.write('ready');";

/** The program in a pseudo-terminal. Stop it. */
export const openScreen = ({ args = [], ...place }) => open([LAUNCHER, ...args], place);

/** A bare Node that writes every key back: what a terminal and this machine need for an echo by themselves. Stop it. */
export const openEcho = (place) => open(['-e', ECHO], place);

function open(args, { cwd, home, url }) {
  const began = performance.now();
  const terminal = pty.spawn(process.execPath, args, { name: 'xterm-256color', cols: 100, rows: 30, cwd, env: environment(home, url) });
  let output = '';
  let last = began;
  const watchers = new Set();
  terminal.onData((data) => {
    output += data;
    last = performance.now();
    for (const watcher of watchers) watcher();
  });
  let isRunning = true;
  const ended = new Promise((resolve) => { terminal.onExit(() => { isRunning = false; resolve(); }); });

  return {
    began,
    /** Resolves with the moment at which the output from `from` on first fits. */
    async seen(fits, from = 0, read = bareText) {
      let look = () => undefined;
      const found = new Promise((resolve) => {
        look = () => { if (fits(read(output.slice(from)))) resolve(last); };
        watchers.add(look);
        look();
      });
      const ranOut = new AbortController();
      try {
        return await Promise.race([found, sleep(TOO_LONG_MS, undefined, { signal: ranOut.signal }).then(() => { throw new Error(`not seen in time; the end of the output: ${JSON.stringify(output.slice(-2000))}`); })]);
      } finally {
        ranOut.abort();
        watchers.delete(look);
      }
    },
    /** Types, and resolves with the time until the screen next changed, and until it came to rest (that long without a change). */
    async press(keys, restMs) {
      const from = output.length;
      const at = performance.now();
      terminal.write(keys);
      const echoed = await this.seen((bytes) => bytes !== '', from, String);
      await this.rested(restMs);
      return { echo: echoed - at, settled: last - at };
    },
    type(keys) { terminal.write(keys); },
    /** Resolves when nothing was written for so long. */
    async rested(ms) {
      while (performance.now() - last < ms) await sleep(Math.max(1, ms - (performance.now() - last)));
    },
    mark: () => output.length,
    /** Resident memory, in MiB. */
    memory: () => residentOf(terminal.pid),
    async stop() {
      if (isRunning) terminal.kill('SIGKILL');
      await ended;
    },
  };
}

// Colours, cursor moves and modes are not what is looked for.
const bareText = (output) => output.replace(/\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b[=>]|\r/g, '');

function residentOf(pid) {
  if (process.platform === 'linux') return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
}
