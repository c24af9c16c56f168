import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { walkShell } from '#gate/shell/walk.ts';
import { ground, type Ground } from './workspace.ts';

/** Bits of shell that break parsers; no slash, so nothing outside of the folder can be reached. */
const BITS = ['$', '(', ')', '{', '}', '"', "'", '`', '\\', ';', '|', '&', '&&', '||', '<', '>', 'w1', 'w2', 'w3', ' ', ' ', ' ', '\n', '~', '*', '[', ']', '=', '#', '!', '-x', '$(', '${', 'if', 'then', 'fi', 'do', 'done', 'for', 'in', 'case', 'esac', ';;', 'while', '<<E\n', '\nE\n', '<<<', "$'", '$"', '\\\n', '\t', '\r', '[[', ']]', ':', '{w1,w2}', 'function', 'time', '?', '<(', '>&2', '2>', '&>', '|&', "'a b'", '"c d"', 'w1 w2', 'w3 a'];

let at: Ground;
let folder: string;
beforeAll(() => {
  at = ground();
  folder = join(at.app, 'empty');
  mkdirSync(folder);
  // No program can be found, so every command ends up here and is written down instead of run.
  writeFileSync(join(at.top, 'init.sh'), "command_not_found_handle() { (IFS=$'\\001'; printf '%s\\002' \"$*\" >> \"$LOG\"); }\nPATH=/nonexistent\n");
});
afterAll(() => { at.remove(); });

interface Seen { readonly sure: boolean; readonly commands: ReadonlySet<string>; readonly files: ReadonlySet<string> }

function see(text: string): Seen {
  let sure = true;
  const commands = new Set<string>();
  const files = new Set<string>();
  walkShell(text, { home: '/nonexistent', cwds: [folder], depth: 0 }, {
    command({ tokens, redirects, assignments }) {
      if (assignments.length > 0 || tokens.some(({ doubt }) => doubt !== undefined) || redirects.some(({ target }) => target.doubt !== undefined)) sure = false;
      if (tokens.length > 0) commands.add(tokens.map((token) => token.text).join('\u0001'));
      for (const { target } of redirects) for (const name of target.texts) files.add(name);
    },
    unsure() { sure = false; },
  });
  return { sure, commands, files };
}

describe('what is known for sure of shell text', () => {
  it('holds every command that bash would run and every file that it would make', () => {
    const text = fc.tuple(fc.array(fc.constantFrom(...BITS), { minLength: 2, maxLength: 12 }), fc.constantFrom(' ', '')).map(([bits, glue]) => bits.join(glue));
    fc.assert(fc.property(text, (command) => {
      const { sure, commands, files } = see(command);
      if (!sure) return;
      // A place of its own for each: what one leaves in the background may write when the next one runs.
      const place = mkdtempSync(join(at.top, 'run-'));
      const log = join(place, 'log');
      const here = join(place, 'empty');
      mkdirSync(here);
      writeFileSync(log, '');
      spawnSync('/bin/bash', ['-c', `. "$INIT"; ${command}`], { cwd: here, env: { LOG: log, INIT: join(at.top, 'init.sh'), HOME: '/nonexistent' }, timeout: 2000, input: '' });
      // What a pattern meets of the files that the very text makes cannot be known.
      if (files.size > 0 && /[*?[]/.test(command)) return;
      for (const ran of readFileSync(log, 'utf8').split('\u0002').filter((one) => one !== '')) expect([...commands]).toContain(ran);
      for (const made of readdirSync(here)) expect([...files]).toContain(made);
    }), { numRuns: 120 });
  });
});
