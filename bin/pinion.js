#!/usr/bin/env node
// Starts the program: checks Node, answers what needs no program, and builds a checkout that was not built yet.
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { nodeTooOld } from './node-version.js';

const at = (path) => new URL(path, import.meta.url);

function fail(message) {
  process.stderr.write(`pinion: ${message}\n`);
  process.exitCode = 1;
}

async function start() {
  const tooOld = nodeTooOld();
  if (tooOld !== undefined) return fail(tooOld);
  const [first, ...rest] = process.argv.slice(2);
  if (rest.length === 0 && (first === '--version' || first === '-v')) {
    return process.stdout.write(`${JSON.parse(readFileSync(at('../package.json'), 'utf8')).version}\n`);
  }
  if (!existsSync(at('../dist/main.js'))) {
    // Only a checkout holds ready.js: an installed copy is complete as it is.
    if (!existsSync(at('./ready.js'))) return fail('this copy is incomplete (dist/main.js is missing). Install it again.');
    const { makeReady } = await import('./ready.js');
    const code = await makeReady();
    if (code !== 0) {
      process.exitCode = code;
      return undefined;
    }
  }
  if (rest.length === 0 && (first === '--help' || first === '-h') && (process.stdout.columns ?? 80) >= 80 && existsSync(at('../dist/help.txt'))) {
    return process.stdout.write(readFileSync(at('../dist/help.txt')));
  }
  module.enableCompileCache?.();
  const { main } = await import('../dist/main.js');
  return main(process.argv.slice(2));
}

await start();
