// Makes a checkout ready: installs and builds what is missing, then starts or tests it. `npm start` and `npm test` come here.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const lock = `${root}.setup-lock`;
const INSTALLED = `${root}node_modules/.pinion-installed`;
const BUILT = `${root}dist/.built`;

const say = (text) => process.stderr.write(`pinion: ${text}\n`);
const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

function hashOf(paths) {
  const hash = createHash('sha256').update(process.versions.node.split('.')[0]).update(process.platform).update(process.arch);
  for (const path of paths) hash.update(path.slice(root.length)).update('\0').update(readFileSync(path)).update('\0');
  return hash.digest('hex');
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`).sort();
}

const installStamp = () => hashOf([`${root}package.json`, `${root}package-lock.json`]);
const buildStamp = () => hashOf([`${root}package-lock.json`, `${root}package.json`, `${root}bin/build.js`, ...filesBelow(`${root}src`), ...filesBelow(`${root}commands`)]);
const isInstalled = () => read(INSTALLED) === installStamp();
const isBuilt = () => existsSync(`${root}dist/main.js`) && read(BUILT) === buildStamp();

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Runs the task alone: a second set-up of the same checkout waits, and takes over from one that died. */
async function alone(task) {
  let told = false;
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const pid = Number(read(`${lock}/pid`));
      // A lock without a number was made a moment ago, or its maker died between two lines.
      if (pid > 0 ? !isAlive(pid) : told) rmSync(lock, { recursive: true, force: true });
      else {
        if (!told) say('another set-up of this checkout is under way; waiting for it …');
        told = true;
        await sleep(pid > 0 ? 300 : 2000);
      }
    }
  }
  const release = () => rmSync(lock, { recursive: true, force: true });
  process.once('exit', release);
  try {
    writeFileSync(`${lock}/pid`, String(process.pid));
    return await task();
  } finally {
    process.off('exit', release);
    release();
  }
}

function run(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, ...options });
    let output = '';
    const keep = (chunk) => { output = (output + chunk).slice(-20_000); };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    const pass = (signal) => { child.kill(signal); };
    process.on('SIGINT', pass).on('SIGTERM', pass);
    const done = (code) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      resolve({ code, output });
    };
    child.on('error', (error) => { keep(error.message); done(127); });
    child.on('close', (code, signal) => { done(code ?? (signal === 'SIGINT' ? 130 : 143)); });
  });
}

const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network request failed|network timeout/i;

async function install() {
  const began = Date.now();
  say('installing packages (half a minute or so) …');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { code, output } = await run(npm, ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], { stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' });
  if (code !== 0) {
    say(UNREACHABLE.test(output)
      ? 'the package registry cannot be reached. Check the network, or the proxy and registry of your npm configuration, and start again.'
      : `npm ci failed (exit code ${code}):`);
    process.stderr.write(`${output.trim().split('\n').slice(-8).map((line) => `  ${line}`).join('\n')}\n`);
    return false;
  }
  writeFileSync(INSTALLED, installStamp());
  say(`packages are installed (${Math.round((Date.now() - began) / 1000)} s).`);
  return true;
}

async function compile() {
  const stamp = buildStamp();
  say('building …');
  try {
    const { bundle } = await import('./build.js');
    await bundle();
  } catch (error) {
    say(`the build failed: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
  writeFileSync(BUILT, stamp);
  return true;
}

function isWritable() {
  try {
    accessSync(root, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Installs and builds what is missing. False (after one clear line) when that could not be done. */
export async function makeReady() {
  if (isInstalled() && isBuilt()) return true;
  if (!isWritable()) {
    if (existsSync(`${root}dist/main.js`)) return true;
    say(`${root} is not built and cannot be written to. Copy it to a folder of your own and start it there.`);
    return false;
  }
  return alone(async () => (isInstalled() || (await install())) && (isBuilt() || (await compile())));
}

const tool = (path, ...args) => run(process.execPath, [`${root}node_modules/${path}`, ...args], { stdio: 'inherit' });
const tests = (...args) => tool('vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', ...args);

const CHECKS = [
  { what: 'types', step: () => tool('typescript/bin/tsc', '-p', 'tsconfig.json') },
  { what: 'lint, import rules and size limits', step: () => tool('oxlint/bin/oxlint', '-c', '.oxlintrc.json', '--type-aware', '--deny-warnings', 'src', 'commands', 'bin', 'test') },
  { what: 'tests', step: () => tests() },
];

/** `--quick` leaves the tests out. */
async function check(args) {
  for (const { what, step } of args.includes('--quick') ? CHECKS.slice(0, -1) : CHECKS) {
    say(`${what} …`);
    const { code } = await step();
    if (code !== 0) return code;
  }
  return 0;
}

const VERBS = {
  async start(args) {
    process.argv = [process.argv[0], `${root}bin/pinion.js`, ...args];
    await import('./pinion.js');
    return process.exitCode ?? 0;
  },
  async build() { return 0; },
  async test(args) { return (await tests(...args)).code; },
  async bench(args) { return (await run(process.execPath, [`${root}test/bench/run.js`, ...args], { stdio: 'inherit' })).code; },
  check,
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [verb = '', ...args] = process.argv.slice(2);
  const does = VERBS[verb];
  if (does === undefined) {
    say(`usage: node bin/setup.js ${Object.keys(VERBS).join(' | ')}`);
    process.exitCode = 2;
  } else {
    process.exitCode = (await makeReady()) ? await does(args) : 1;
  }
}
