import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf, UserError } from '#lib/errors.ts';

/** What the editor left, or why there is nothing to take (one line). */
export type Edited = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };

/**
 * Lets a person write `text` in an editor of their own: `VISUAL`, else `EDITOR`, else vi, as a shell would run it (it may hold
 * arguments). The terminal must have been given away. The file lies in a directory of mode 0700 and is gone afterwards.
 * Never rejects.
 */
export async function editOutside(text: string, env: Readonly<Record<string, string | undefined>>): Promise<Edited> {
  const [variable, command] = editorOf(env);
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(env['TMPDIR'] ?? tmpdir(), 'pinion-'));
    const file = join(folder, 'prompt.md');
    await writeFile(file, text, { mode: 0o600 });
    await run(command, file, env);
    return { ok: true, text: (await readFile(file, 'utf8')).replace(/\n$/, '') };
  } catch (error) {
    return { ok: false, message: `editor "${command}"${variable === undefined ? '' : ` (${variable})`}: ${messageOf(error)}; the text is as it was` };
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Lets a person edit a file where it lies, in the same editor; a folder that is missing is made, so that it can be saved. Never rejects. */
export async function editFile(file: string, env: Readonly<Record<string, string | undefined>>): Promise<{ readonly ok: true } | { readonly ok: false; readonly message: string }> {
  const [variable, command] = editorOf(env);
  try {
    await mkdir(dirname(file), { recursive: true });
    await run(command, file, env);
    return { ok: true };
  } catch (error) {
    return { ok: false, message: `editor "${command}"${variable === undefined ? '' : ` (${variable})`}: ${messageOf(error)}` };
  }
}

function editorOf(env: Readonly<Record<string, string | undefined>>): readonly [variable: string | undefined, command: string] {
  for (const variable of ['VISUAL', 'EDITOR']) {
    const command = env[variable]?.trim() ?? '';
    if (command !== '') return [variable, command];
  }
  return [undefined, 'vi'];
}

function run(command: string, file: string, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  return new Promise((resolve, reject) => {
    // The variable is a command line by convention (`code --wait`); the file's name never passes through the shell's hands.
    const child = spawn('/bin/sh', ['-c', `${command} "$1"`, 'sh', file], { stdio: 'inherit', env: { ...env } });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new UserError(code === 127 ? 'not found; set VISUAL to an editor that is installed' : `ended with ${signal ?? `code ${code ?? '?'}`}`));
    });
  });
}
