// The folders that are measured in.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FILES = 100_000;
const FILES_IN_FOLDER = 250;

const all = realpathSync(mkdtempSync(join(tmpdir(), 'pinion-bench-')));
process.on('exit', () => { rmSync(all, { recursive: true, force: true }); });

/** A folder that is gone when the process ends. */
export function temporary() {
  return mkdtempSync(join(all, 'in-'));
}

/** A small repository with something to read, search and edit. */
export function smallRepository() {
  const folder = temporary();
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'package.json'), '{ "name": "measured", "version": "1.0.0" }\n');
  writeFileSync(join(folder, 'AGENTS.md'), '# Measured\n\nTwo spaces of indent. Run `npm test` before you are done.\n');
  for (let i = 0; i < 20; i += 1) {
    writeFileSync(join(folder, 'src', `part${i}.ts`), Array.from({ length: 40 }, (_, line) => `export const value${i}_${line} = ${line};`).join('\n'));
  }
  commit(folder);
  return folder;
}

/** A repository of 100,000 empty files. */
export function largeRepository() {
  const folder = temporary();
  for (let i = 0; i < FILES / FILES_IN_FOLDER; i += 1) {
    const inner = join(folder, `area${String(i % 20).padStart(2, '0')}`, `part${String(i).padStart(3, '0')}`);
    mkdirSync(inner, { recursive: true });
    for (let k = 0; k < FILES_IN_FOLDER; k += 1) writeFileSync(join(inner, `${KINDS[k % KINDS.length]}${String(i * FILES_IN_FOLDER + k).padStart(6, '0')}.ts`), '');
  }
  commit(folder);
  return folder;
}

const KINDS = ['button', 'reader', 'session', 'widget', 'parser'];

function commit(folder) {
  const git = (...args) => execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', '-c', 'gc.auto=0', ...args], { cwd: folder, stdio: 'ignore' });
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'as it was');
}

/** Twelve calls as a small piece of work makes them: looking, changing, trying. */
export const TWELVE_CALLS = [
  { tool: 'Glob', input: { pattern: 'src/*.ts' } },
  { tool: 'Grep', input: { pattern: 'value3_7' } },
  { tool: 'Read', input: { file_path: 'src/part3.ts' } },
  { tool: 'Read', input: { file_path: 'package.json' } },
  { tool: 'TodoWrite', input: { todos: [{ content: 'Change a value', status: 'in_progress' }] } },
  { tool: 'Edit', input: { file_path: 'src/part3.ts', old_string: 'value3_7 = 7', new_string: 'value3_7 = 70' } },
  { tool: 'Read', input: { file_path: 'src/part3.ts', offset: 5, limit: 5 } },
  { tool: 'Bash', input: { command: 'git status --short' } },
  { tool: 'Write', input: { file_path: 'src/added.ts', content: 'export const added = true;\n' } },
  { tool: 'Bash', input: { command: 'cat src/added.ts | head -5' } },
  { tool: 'Grep', input: { pattern: 'added', output_mode: 'content' } },
  { tool: 'TodoWrite', input: { todos: [{ content: 'Change a value', status: 'completed' }] } },
];
