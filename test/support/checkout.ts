import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const BELONGS = ['bin', 'src', 'commands', 'package.json', 'package-lock.json', '.npmrc', '.oxlintrc.json', 'tsconfig.json', 'tsconfig.types.json', 'LICENSE', 'README.md'];

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Run extends Promise<Ended> {
  readonly child: ChildProcess;
  /** Resolves as soon as the text stands on standard error. */
  said(text: string): Promise<void>;
}

/** A copy of this checkout as a fresh clone has it, and an npm that installs by linking what is installed here. */
export interface Checkout {
  readonly folder: string;
  /** Environment of its programs: a home of its own, the other npm first on the PATH. */
  readonly env: Readonly<Record<string, string>>;
  /** Command lines that the npm was called with, oldest first. */
  npmCalls(): readonly string[];
  run(command: string, args: readonly string[], env?: Readonly<Record<string, string>>): Run;
  setup(...args: readonly string[]): Run;
}

/** `NPM_FAILS` in the environment of a run makes its npm write that and fail; `NPM_SECONDS` makes it take its time. */
const NPM = `#!/bin/sh
echo "$*" >> "$NPM_CALLS"
sleep "\${NPM_SECONDS:-0}" &
wait $!
if [ -n "$NPM_FAILS" ]; then echo "$NPM_FAILS" >&2; exit 1; fi
rm -rf node_modules
mkdir node_modules
for entry in "$INSTALLED"/* "$INSTALLED"/.bin; do ln -s "$entry" node_modules/; done
`;

/** Stands in for the bundler where what is built is not the point. */
const QUICK_BUILD = `
import { mkdirSync, writeFileSync } from 'node:fs';
export async function bundle() {
  mkdirSync(new URL('../dist', import.meta.url), { recursive: true });
  writeFileSync(new URL('../dist/main.js', import.meta.url), 'export const main = (args) => { process.stdout.write(\`\${args}\\n\`); };');
}
`;

/** Makes the copy below `folder`. */
export function checkoutIn(folder: string, { quick = false } = {}): Checkout {
  const copy = join(folder, 'checkout');
  mkdirSync(copy);
  for (const name of BELONGS) if (existsSync(join(root, name))) cpSync(join(root, name), join(copy, name), { recursive: true });
  if (quick) writeFileSync(join(copy, 'bin', 'build.js'), QUICK_BUILD);
  mkdirSync(join(copy, 'test'));
  writeFileSync(join(copy, 'test', 'some.test.ts'), '');
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  writeFileSync(join(tools, 'npm'), NPM);
  chmodSync(join(tools, 'npm'), 0o755);
  const calls = join(folder, 'npm-calls');
  const home = join(folder, 'home');
  mkdirSync(home);
  const env = {
    PATH: [tools, process.env['PATH']].join(delimiter), HOME: home, PINION_HOME: home,
    NPM_CALLS: calls, INSTALLED: join(root, 'node_modules'), npm_config_update_notifier: 'false',
  };
  const run = (command: string, args: readonly string[], more: Readonly<Record<string, string>> = {}): Run => runIn(copy, command, args, { ...env, ...more });
  return {
    folder: copy, env, run,
    npmCalls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
    setup: (...args) => run(process.execPath, ['bin/setup.js', ...args]),
  };
}

/** Runs a program to its end, without input. */
export function runIn(cwd: string, command: string, args: readonly string[], env: Readonly<Record<string, string>>): Run {
  const child = spawn(command, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (words: string) => { stdout += words; });
  child.stderr.setEncoding('utf8').on('data', (words: string) => { stderr += words; });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => { resolve({ code, stdout, stderr }); });
  });
  return Object.assign(ended, {
    child,
    said: (text: string) => new Promise<void>((resolve, reject) => {
      const look = (): void => { if (stderr.includes(text)) resolve(); };
      child.stderr.on('data', look);
      child.on('close', () => { reject(new Error(`ended without saying "${text}": ${stderr}`)); });
      look();
    }),
  });
}
