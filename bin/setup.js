// What the scripts of package.json run: a checkout is made ready, then started, tested, checked, measured or packed.
import { fileURLToPath } from 'node:url';
import { nodeTooOld } from './node-version.js';
import { buildAnew, makeReady, root, say } from './ready.js';
import { run } from './run.js';

const node = async (...args) => (await run(process.execPath, args, { cwd: root, stdio: 'inherit' })).code;
const tool = (path, ...args) => node(`${root}node_modules/${path}`, ...args);
const tests = (...args) => tool('vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', ...args);

const CHECKS = [
  { what: 'types', step: () => tool('typescript/bin/tsc', '-p', 'tsconfig.json') },
  { what: 'types of the package', step: () => tool('typescript/bin/tsc', '-p', 'tsconfig.types.json', '--noEmit', '--emitDeclarationOnly', 'false') },
  { what: 'lint, import rules and size limits', step: () => tool('oxlint/bin/oxlint', '-c', '.oxlintrc.json', '--type-aware', '--deny-warnings', 'src', 'commands', 'bin', 'test') },
  { what: 'tests', step: () => tests() },
];

/** `--quick` leaves the tests out. */
async function check(args) {
  for (const { what, step } of args.includes('--quick') ? CHECKS.slice(0, -1) : CHECKS) {
    say(`${what} …`);
    const code = await step();
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
  build: () => 0,
  test: (args) => tests(...args),
  bench: (args) => node(`${root}test/bench/run.js`, ...args),
  check,
  async pack() {
    const { completePackage } = await import('./pack.js');
    return buildAnew(completePackage);
  },
};

async function main([verb = '', ...args]) {
  const tooOld = nodeTooOld();
  const does = VERBS[verb];
  if (tooOld !== undefined || does === undefined) {
    say(tooOld ?? `usage: node bin/setup.js ${Object.keys(VERBS).join(' | ')}`);
    return tooOld === undefined ? 2 : 1;
  }
  return (await makeReady()) || does(args);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2));
