#!/usr/bin/env node
// Starts the program: checks Node, answers what needs no program, and builds a checkout that was not built yet.
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';

const OLDEST = [20, 19];
const at = (path) => new URL(path, import.meta.url);

function nodeIsTooOld() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

function fail(message) {
  process.stderr.write(`pinion: ${message}\n`);
  process.exitCode = 1;
}

async function start() {
  if (nodeIsTooOld()) {
    return fail(`Node ${OLDEST.join('.')} or newer is needed, this is ${process.versions.node}. Install a newer one from https://nodejs.org and start again.`);
  }
  const [first, ...rest] = process.argv.slice(2);
  if (rest.length === 0 && (first === '--version' || first === '-v')) {
    return process.stdout.write(`${JSON.parse(readFileSync(at('../package.json'), 'utf8')).version}\n`);
  }
  if (!existsSync(at('../dist/main.js'))) {
    // Only a checkout holds setup.js: an installed copy is complete as it is.
    if (!existsSync(at('./setup.js'))) return fail('this copy is incomplete (dist/main.js is missing). Install it again.');
    const { makeReady } = await import('./setup.js');
    if (!(await makeReady())) return undefined;
  }
  if (rest.length === 0 && (first === '--help' || first === '-h') && existsSync(at('../dist/help.txt'))) {
    return process.stdout.write(readFileSync(at('../dist/help.txt')));
  }
  module.enableCompileCache?.();
  const { main } = await import('../dist/main.js');
  return main(process.argv.slice(2));
}

await start();
