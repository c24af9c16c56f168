import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Checkout, checkoutIn, runIn } from '../support/checkout.ts';
import { hollowRegistry } from '../support/registry.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
/** The real npm, past the one that stands first on the PATH of a checkout. */
const npm = (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, 'npm')).find((path) => existsSync(path)) ?? 'npm';
const isRoot = process.getuid?.() === 0;

// One copy for all: the tests go on from where the one before them left it, as a person does.
let folder = '';
let checkout: Checkout;
/** One whose build takes no time, for what is about who builds and when. */
let quick: Checkout;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pinion-setup-')));
  checkout = checkoutIn(folder);
  mkdirSync(join(folder, 'quick'));
  quick = checkoutIn(join(folder, 'quick'), { quick: true });
});
afterAll(() => { rmSync(folder, { recursive: true, force: true, maxRetries: 5 }); });

const read = (from: Checkout, path: string): string => readFileSync(join(from.folder, path), 'utf8');

function add(to: Checkout, path: string, text: string): void {
  writeFileSync(join(to.folder, path), `${read(to, path)}${text}`);
}

function forget(of: Checkout, path: string): void {
  rmSync(join(of.folder, path), { recursive: true, force: true, maxRetries: 5 });
}

describe('what is in the way is one clear line', () => {
  it('an install that fails shows what npm said, and the start ends with 1', async () => {
    const { code, stdout, stderr } = await checkout.run(process.execPath, ['bin/setup.js', 'start', '--version'], { NPM_FAILS: 'npm error code EUSAGE' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      'pinion: installing packages (half a minute or so) …',
      'pinion: the packages could not be installed (npm ci ended with code 1). Mend what npm says and start again:',
      '  npm error code EUSAGE', '',
    ]);
  });

  it('a registry out of reach is called by its name', async () => {
    const { code, stderr } = await checkout.run(process.execPath, ['bin/pinion.js', '-p', 'hello'], { NPM_FAILS: 'npm error code ENOTFOUND' });
    expect(code).toBe(1);
    expect(stderr).toContain('pinion: the package registry cannot be reached. Check the network, or the proxy and registry of your npm configuration, and start again.\n');
  });

  it('a machine without npm is told where it comes from', async () => {
    const { code, stderr } = await checkout.run(process.execPath, ['bin/setup.js', 'test'], { PATH: join(folder, 'nothing') });
    expect(code).toBe(1);
    expect(stderr).toContain('npm could not be started. It comes with Node');
  });

  it('a checkout that cannot be written to is not built', async () => {
    const lone = join(folder, 'lone');
    cpSync(join(checkout.folder, 'bin'), join(lone, 'bin'), { recursive: true });
    for (const name of ['package.json', 'package-lock.json', 'src', 'commands']) cpSync(join(checkout.folder, name), join(lone, name), { recursive: true });
    chmodSync(lone, 0o555);
    chmodSync(folder, 0o755);
    const { code, stderr } = await asNobody(lone, ['bin/setup.js', 'start', '--version']);
    chmodSync(lone, 0o755);
    expect({ code, stderr }).toEqual({ code: 1, stderr: `pinion: ${lone}/ is not built and cannot be written to. Copy it to a folder of your own and start it there.\n` });
  });

  it.each([['bin/pinion.js', '--version'], ['bin/setup.js', 'start'], ['bin/setup.js', 'test']])('too old a Node is told so by %s %s', async (...args) => {
    const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.4"}})';
    const { code, stdout, stderr } = await checkout.run(process.execPath, ['--import', old, ...args]);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: 'pinion: Node 20.19 or newer is needed, this is 18.20.4. Install a newer one from https://nodejs.org and start again.\n' });
    expect(existsSync(join(checkout.folder, 'node_modules'))).toBe(false);
  });

  it('an unknown verb names the known ones', async () => {
    expect(await checkout.setup('begin')).toEqual({ code: 2, stdout: '', stderr: 'pinion: usage: node bin/setup.js start | build | test | bench | check | pack\n' });
  });
});

/** Runs Node as a user that owns nothing where the tests run as root, who may write everywhere. */
function asNobody(cwd: string, args: readonly string[]) {
  if (!isRoot) return runIn(cwd, process.execPath, args, { ...checkout.env });
  return runIn(cwd, 'setpriv', ['--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath, ...args], { ...checkout.env, HOME: '/tmp' });
}

describe('a start does what is missing and no more', () => {
  it('two first starts at once: one installs and builds, the other waits for it', async () => {
    const before = checkout.npmCalls().length;
    const first = checkout.run(process.execPath, ['bin/setup.js', 'build'], { NPM_SECONDS: '1' });
    await first.said('installing');
    const second = checkout.setup('build');
    const [one, two] = await Promise.all([first, second]);
    expect([one.code, two.code]).toEqual([0, 0]);
    expect(one.stderr).toMatch(/^pinion: installing packages .*\npinion: packages are installed \(\d+ s\)\.\npinion: building …\n$/);
    expect(two.stderr).toBe('pinion: another set-up of this checkout is under way; waiting for it …\n');
    expect(checkout.npmCalls().slice(before)).toEqual(['ci --include=dev --no-audit --no-fund --loglevel=error']);
    expect(readdirSync(checkout.folder).filter((name) => name.startsWith('.setup-lock'))).toEqual([]);
  });

  it('npm start prints exactly the JSON, and the second start says nothing at all', async () => {
    const { code, stdout, stderr } = await checkout.run(npm, ['start', '--silent', '--', '-p', 'Read package.json and tell me its name', '--output-format', 'json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ type: 'result', is_error: false, result: expect.stringContaining('pinion') as string });
    expect(stdout.endsWith('}\n')).toBe(true);
  });

  it('a changed source is built anew, and that once', async () => {
    const calls = checkout.npmCalls().length;
    add(checkout, 'src/cli/version.ts', '\n// changed\n');
    expect(await checkout.setup('build')).toMatchObject({ code: 0, stderr: 'pinion: building …\n' });
    expect(await checkout.setup('build')).toMatchObject({ code: 0, stderr: '' });
    expect(checkout.npmCalls()).toHaveLength(calls);
  });

  it('a source that does not build leaves the program that was built before', async () => {
    const sound = read(checkout, 'src/cli/version.ts');
    add(checkout, 'src/cli/version.ts', '\nimport nothing from "./not-there.ts";\nexport const broken = nothing;\n');
    const { code, stderr } = await checkout.setup('start', '--version');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^pinion: building …\npinion: the build failed: [^]*not-there/);
    expect(existsSync(join(checkout.folder, 'dist/main.js'))).toBe(true);
    writeFileSync(join(checkout.folder, 'src/cli/version.ts'), sound);
    expect(await checkout.setup('start', '--version')).toMatchObject({ code: 0, stdout: `${version}\n` });
  });

  it('a changed lock file is installed and built anew; a changed script is not', async () => {
    const calls = quick.npmCalls().length;
    add(quick, 'package-lock.json', '\n');
    expect((await quick.setup('build')).stderr).toMatch(/installing[^]*installed[^]*building/);
    writeFileSync(join(quick.folder, 'package.json'), read(quick, 'package.json').replace('"scripts": {', '"scripts": {\n    "say": "echo",'));
    expect(await quick.setup('build')).toMatchObject({ code: 0, stderr: 'pinion: building …\n' });
    expect(quick.npmCalls()).toHaveLength(calls + 1);
  });

  it('a lock whose holder died is taken over, by one of many', async () => {
    forget(quick, 'dist');
    writeFileSync(join(quick.folder, '.setup-lock'), JSON.stringify({ pid: 2 ** 22 + 1, host: 'elsewhere', started: '' }));
    const waits = quick.setup('build');
    await waits.said('waiting for it');
    // A holder on another machine cannot be looked at: its lock stands until it goes.
    forget(quick, '.setup-lock');
    expect((await waits).code).toBe(0);

    forget(quick, 'dist');
    const dead = quick.run(process.execPath, ['-e', `import(${JSON.stringify(join(quick.folder, 'bin/lock.js'))}).then(({ alone }) => alone('.setup-lock', () => { process.stderr.write('held'); return new Promise(() => { setInterval(() => 0, 1000); }); }))`]);
    await dead.said('held');
    dead.child.kill('SIGKILL');
    await dead;
    expect(existsSync(join(quick.folder, '.setup-lock'))).toBe(true);
    const all = await Promise.all([1, 2, 3].map(() => quick.setup('build')));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(all.filter(({ stderr }) => stderr.includes('building'))).toHaveLength(1);
  });

  it('Ctrl-C during the install ends it, with the code of the signal', async () => {
    add(quick, 'package-lock.json', '\n');
    const run = quick.run(process.execPath, ['bin/setup.js', 'start', '--version'], { NPM_SECONDS: '5' });
    await run.said('installing');
    await sleep(200);
    run.child.kill('SIGINT');
    const { code, stdout, stderr } = await run;
    expect({ code, stdout, stderr }).toEqual({ code: 130, stdout: '', stderr: 'pinion: installing packages (half a minute or so) …\n' });
    expect(existsSync(join(quick.folder, '.setup-lock'))).toBe(false);
    expect((await quick.setup('build')).code).toBe(0);
  });
});

describe('the launcher', () => {
  const answers = async (command: string, before: readonly string[], cwd = checkout.folder): Promise<void> => {
    const run = (...args: readonly string[]) => runIn(cwd, command, [...before, ...args], checkout.env);
    expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect(await run('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: pinion') as string, stderr: '' });
    const { code, stdout, stderr } = await run('-p', 'Read package.json and tell me its name');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('pinion');
  };

  it('runs directly', () => answers(join(checkout.folder, 'bin/pinion.js'), []));

  it('runs through a symbolic link', async () => {
    const bin = join(folder, 'links');
    mkdirSync(bin);
    symlinkSync(join(checkout.folder, 'bin/pinion.js'), join(bin, 'pinion'));
    await answers(join(bin, 'pinion'), []);
  });

  it('refuses an unknown flag in one line', async () => {
    const { code, stdout, stderr } = await checkout.run(process.execPath, ['bin/pinion.js', '--no-such-flag']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^pinion: .*--no-such-flag/);
  });
});

interface Output {
  readonly bytes: number;
  readonly entryPoint?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
}

it('what is loaded first is small, and holds nothing that can wait', async () => {
  const { code, stdout, stderr } = await checkout.run(process.execPath, ['--input-type=module', '-e', "const { bundle } = await import('./bin/build.js'); process.stdout.write(JSON.stringify((await bundle()).outputs));"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const outputs = JSON.parse(stdout) as Readonly<Record<string, Output>>;
  const loadedWith = (source: string): readonly Output[] => {
    const loaded = new Set(Object.entries(outputs).filter(([, output]) => output.entryPoint === source).map(([path]) => path));
    for (const path of loaded) for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement' && outputs[next] !== undefined) loaded.add(next);
    return [...loaded].flatMap((path) => outputs[path] ?? []);
  };
  const size = (source: string): number => loadedWith(source).reduce((sum, { bytes }) => sum + bytes, 0);
  const holds = (source: string, what: RegExp): readonly string[] => loadedWith(source).flatMap(({ inputs }) => Object.keys(inputs)).filter((input) => what.test(input));
  expect(size('src/main/main.ts')).toBeLessThan(10_000);
  expect(size('src/ui/early.ts')).toBeLessThan(120_000);
  expect(holds('src/ui/early.ts', /node_modules/)).toEqual([]);
  const late = /node_modules\/(?:@anthropic-ai\/|unbash\/|gpt-tokenizer\/|highlight\.js\/|undici\/|chokidar\/|zod\/v4\/locales\/(?!en\.))|src\/(?:client\/demo|gate\/shell)\//;
  for (const surface of ['src/main/print/print.ts', 'src/main/screen.ts']) {
    expect(size(surface)).toBeGreaterThan(100_000);
    expect(holds(surface, late)).toEqual([]);
  }
  // Which keys there are is a table of its own, which settings are checked against.
  expect(holds('src/main/print/print.ts', /node_modules\/(?:ink|react|marked)\/|src\/ui\/(?!keys\.ts)/)).toEqual([]);
});

describe('the package', () => {
  let tarball = '';
  let installed = '';

  beforeAll(async () => {
    const { code, stdout, stderr } = await checkout.run(npm, ['pack', '--silent', '--pack-destination', folder]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.stringMatching(/^\S+\.tgz\n$/) as string, stderr: expect.anything() as string });
    tarball = join(folder, stdout.trim());
    const { dependencies } = JSON.parse(read(checkout, 'package.json')) as { dependencies: Readonly<Record<string, string>> };
    const registry = await hollowRegistry(join(folder, 'hollow'), dependencies);
    const prefix = join(folder, 'prefix');
    // The packages of this registry are hollow: the program has to run by what is in its tarball.
    const install = await runIn(folder, npm, ['install', '-g', '--prefix', prefix, '--registry', registry.url, '--cache', join(folder, 'cache'), '--no-audit', '--no-fund', '--no-update-notifier', tarball], checkout.env);
    await registry.close();
    expect(install).toMatchObject({ code: 0 });
    installed = join(prefix, 'lib/node_modules/pinion');
  }, 120_000);

  it('holds what it needs, and neither sources nor tests', async () => {
    const { stdout } = await runIn(folder, 'tar', ['-tzf', tarball], checkout.env);
    const names = stdout.trim().split('\n').map((name) => name.replace(/^package\//, ''));
    expect(names).toEqual(expect.arrayContaining(['package.json', 'LICENSE', 'README.md', 'bin/pinion.js', 'dist/main.js', 'dist/index.js', 'dist/help.txt', 'dist/count-worker.js', 'dist/index-worker.js', 'dist/pdf-worker.js', 'dist/types/src/index.d.ts', 'dist/THIRD-PARTY.txt']));
    expect(names.filter((name) => !/^(?:package\.json|LICENSE|README\.md|CHANGELOG\.md|bin\/(?:pinion|node-version)\.js|dist\/.*)$/.test(name))).toEqual([]);
    expect(names.filter((name) => /(?:^|\/)\.|(?:^|[^d])\.tsx?$/.test(name.replace(/\.d\.ts$/, '')))).toEqual([]);
  });

  it('runs after a global install, whatever its dependencies hold', async () => {
    const run = (...args: readonly string[]) => runIn(checkout.folder, join(folder, 'prefix/bin/pinion'), args, checkout.env);
    expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect(await run('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: pinion') as string, stderr: '' });
    const { code, stdout, stderr } = await run('-p', 'Read package.json and tell me its name', '--output-format', 'json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ is_error: false, num_turns: 2 });
  });

  it('never builds: a copy that misses its bundle says so', async () => {
    const copy = join(folder, 'torn');
    cpSync(installed, copy, { recursive: true });
    rmSync(join(copy, 'dist/main.js'));
    expect(await runIn(folder, process.execPath, [join(copy, 'bin/pinion.js'), '-p', 'hello'], checkout.env)).toEqual({ code: 1, stdout: '', stderr: 'pinion: this copy is incomplete (dist/main.js is missing). Install it again.\n' });
  });

  it('runs from a copy that nobody may write to', async () => {
    const copy = join(folder, 'sealed');
    cpSync(installed, copy, { recursive: true });
    const home = join(folder, 'home-of-nobody');
    mkdirSync(home, { mode: 0o777 });
    chmodSync(home, 0o777);
    const seal = await runIn(folder, 'chmod', ['-R', 'a-w', copy], checkout.env);
    expect(seal.code).toBe(0);
    const [command, ...before] = isRoot ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath] : [process.execPath];
    const { code, stdout, stderr } = await runIn(copy, command ?? '', [...before, join(copy, 'bin/pinion.js'), '-p', 'Read package.json and tell me its name'], { ...checkout.env, HOME: home, PINION_HOME: home });
    await runIn(folder, 'chmod', ['-R', 'u+w', copy], checkout.env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('pinion');
  });

  it('is a library that plain Node and a strict TypeScript project take', async () => {
    const consumer = join(folder, 'consumer');
    mkdirSync(join(consumer, 'node_modules/@anthropic-ai'), { recursive: true });
    cpSync(installed, join(consumer, 'node_modules/pinion'), { recursive: true });
    rmSync(join(consumer, 'node_modules/pinion/node_modules'), { recursive: true, force: true, maxRetries: 5 });
    for (const name of ['zod', '@anthropic-ai/sdk', '@types']) symlinkSync(join(root, 'node_modules', name), join(consumer, 'node_modules', name));
    writeFileSync(join(consumer, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions: { strict: true, module: 'nodenext', target: 'es2023', lib: ['es2024'], noEmit: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, types: ['node'] }, files: ['use.ts', ...readdirSync(join(root, 'test/examples')).map((name) => `examples/${name}`)] }));
    cpSync(join(root, 'test/examples'), join(consumer, 'examples'), { recursive: true });
    writeFileSync(join(consumer, 'use.ts'), USE_TYPES);
    const checked = await runIn(consumer, process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], checkout.env);
    expect(checked).toEqual({ code: 0, stdout: '', stderr: '' });
    writeFileSync(join(consumer, 'use.js'), USE_VALUES);
    expect(await runIn(consumer, process.execPath, ['use.js'], checkout.env)).toEqual({ code: 0, stdout: 'memory:tone file:a.ts todo:list | 3 | answered: It is sunny.\n', stderr: '' });
  });
});

const USE_TYPES = `
import { AttachmentStore, defineTool, FileAttachment, query, TodoAttachment, TodoItem, createSession, type Entry, type Event, type Outcome, type Ports } from 'pinion';
import { z } from 'zod';

const store = new AttachmentStore();
store.insert(FileAttachment.inline('a.ts', 'export {}', { truncate: false }));
store.insert(new TodoAttachment([new TodoItem('write', false)]));
export const texts: readonly string[] = store.renderAll();

export const tool = defineTool({
  id: 'Weather', description: 'Tells the weather', effect: 'reads', input: z.strictObject({ place: z.string() }),
  title: ({ place }) => \`Weather in \${place}\`,
  async *run({ place }) {
    yield 'looking';
    return { result: { kind: 'ok', content: [{ type: 'text', text: place }], card: { title: place, body: [] } } };
  },
});

// @ts-expect-error a store takes attachments only
store.insert('a.ts');

export async function answer(ports: Ports): Promise<Outcome> {
  const session = createSession();
  const events: AsyncGenerator<Event, Outcome> = query(session, { text: 'hello' }, ports, new AbortController().signal, { maxSteps: 3 });
  let next = await events.next();
  while (next.done !== true) next = await events.next();
  const entries: readonly Entry[] = session.log;
  return entries.length > 0 ? next.value : { kind: 'answered' };
}
`;

const USE_VALUES = `
import { AttachmentStore, createSession, FileAttachment, MemoryAttachment, query, TodoAttachment, TodoItem } from 'pinion';

const session = createSession().withAttachment(FileAttachment.pathOnly('a.ts'));
session.setAttachment(new TodoAttachment([new TodoItem('write tests', false)]));
session.setAttachment(new MemoryAttachment('tone', 'Be brief.'));
const store = new AttachmentStore();
for (const one of [new TodoAttachment([]), FileAttachment.pathOnly('a.ts'), new MemoryAttachment('tone', 'Be brief.')]) store.insert(one);

const model = {
  facts: () => ({ id: 'mine', label: 'Mine', window: 100_000, maxOutput: 1000 }),
  fit: () => Promise.resolve({ fits: true, tokens: 10, estimated: true }),
  async* stream() { return { kind: 'message', content: [{ type: 'text', text: 'It is sunny.' }], stop: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 }, model: 'mine' }; },
};
const ports = {
  model,
  tools: { definitions: () => [], effect: () => 'reads' },
  reminders: { collect: () => Promise.resolve({ reminders: [], faults: [] }) },
  gate: { decide: () => Promise.resolve({ kind: 'allow' }) },
  world: { now: () => new Date(0), blobs: { put: () => '', get: () => undefined }, head: () => ({ type: 'head', system: [], tools: [], model: 'mine' }) },
};
const events = query(session, { text: 'How is the weather?' }, ports, new AbortController().signal, { maxSteps: 3 });
let next = await events.next();
let said = '';
for (; !next.done; next = await events.next()) if (next.value.type === 'entry' && next.value.entry.type === 'assistant') said = next.value.entry.content[0].text;
console.log([session.attachmentIds().join(' '), store.attachments().length, \`\${next.value.kind}: \${said}\`].join(' | '));
`;

it('the lock file names no registry', () => {
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved"|https?:\/\/(?!.*(?:opencollective|github|funding|sponsor))[^"]*\.tgz/);
});
