// Makes a checkout ready: installs and builds what is missing. What was done is known by stamps, so a second start does nothing.
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { alone } from './lock.js';
import { run } from './run.js';

export const root = fileURLToPath(new URL('..', import.meta.url));
const SETUP_LOCK = `${root}.setup-lock`;
const INSTALLED = `${root}node_modules/.pinion-installed`;
const BUILT = `${root}dist/.built`;

/** Progress and trouble go to standard error: standard output belongs to the program. */
export const say = (text) => process.stderr.write(`pinion: ${text}\n`);

const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

function hashOf(paths, ...more) {
  const hash = createHash('sha256').update([process.versions.node.split('.')[0], process.platform, process.arch, ...more].join(' '));
  for (const path of paths) hash.update(`\0${path.slice(root.length)}\0`).update(readFileSync(path));
  return hash.digest('hex');
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`).sort();
}

const LOCK_FILE = `${root}package-lock.json`;

function installStamp() {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read(`${root}package.json`));
  return hashOf([LOCK_FILE], JSON.stringify([dependencies, devDependencies, optionalDependencies]));
}

const buildStamp = () => hashOf([LOCK_FILE, `${root}package.json`, ...filesBelow(`${root}bin`), ...filesBelow(`${root}src`), ...filesBelow(`${root}commands`)]);
const isInstalled = () => read(INSTALLED) === installStamp();
const isBuilt = () => existsSync(`${root}dist/main.js`) && read(BUILT) === buildStamp();

const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|network request failed|network timeout/i;
const SHOWN_LINES = 8;

async function install() {
  const began = Date.now();
  say('installing packages (half a minute or so) …');
  const isWindows = process.platform === 'win32';
  const { code, output, interrupted } = await run(isWindows ? 'npm.cmd' : 'npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], shell: isWindows });
  if (interrupted) return code;
  if (code !== 0) {
    say(whyNot(code, output));
    process.stderr.write(output.trim().split('\n').slice(-SHOWN_LINES).map((line) => `  ${line}\n`).join(''));
    return 1;
  }
  writeFileSync(INSTALLED, installStamp());
  say(`packages are installed (${Math.round((Date.now() - began) / 1000)} s).`);
  return 0;
}

function whyNot(code, output) {
  if (code === 127) return 'npm could not be started. It comes with Node: install Node anew from https://nodejs.org, or put npm on the PATH.';
  if (UNREACHABLE.test(output)) return 'the package registry cannot be reached. Check the network, or the proxy and registry of your npm configuration, and start again.';
  return `the packages could not be installed (npm ci ended with code ${code}). Mend what npm says and start again:`;
}

async function compile(make) {
  const stamp = buildStamp();
  say('building …');
  try {
    await make();
  } catch (error) {
    say(`the build failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
  writeFileSync(BUILT, stamp);
  return 0;
}

function isWritable() {
  try {
    accessSync(root, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Installs and builds what is missing. Resolves with 0, or with an exit code after one clear line. */
export async function makeReady() {
  if (isInstalled() && isBuilt()) return 0;
  if (!isWritable()) {
    if (existsSync(`${root}dist/main.js`)) return 0;
    say(`${root} is not built and cannot be written to. Copy it to a folder of your own and start it there.`);
    return 1;
  }
  return alone(SETUP_LOCK, async () => (isInstalled() ? 0 : await install()) || (isBuilt() ? 0 : await compile(bundle)), wait);
}

/** Makes dist/ anew, whatever is there, with `make`. Resolves as `makeReady` does. */
export async function buildAnew(make) {
  return alone(SETUP_LOCK, () => compile(make), wait);
}

async function bundle() {
  const builder = await import('./build.js');
  return builder.bundle();
}

function wait() {
  say('another set-up of this checkout is under way; waiting for it …');
}
