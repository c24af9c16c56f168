import { UsageError } from '#cli/arguments.ts';
import { keepKey } from '#session/credentials.ts';
import { homeOf } from '#session/home.ts';

const ENTER = /[\r\n\u0004]/;
const ERASE = /[\b\u007f]/;
const LEAVE = /[\u0003\u001b]/;

/** Asks for a key at the terminal, without showing it, and keeps it. Gives the exit code: 0 when one was kept. */
export async function enterKeyHere(): Promise<number> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) throw new UsageError('--login asks in a terminal; elsewhere set ANTHROPIC_API_KEY.');
  stderr.write('It begins with sk-ant-. Enter keeps it,\nEsc leaves everything as it is.\nAPI key (it is not shown): ');
  stdin.setRawMode(true);
  const key = await typed();
  stdin.setRawMode(false);
  stdin.pause();
  stderr.write('\n');
  if (key === undefined || key.trim() === '') {
    stderr.write('Nothing was kept.\n');
    return 1;
  }
  if (/\s/.test(key.trim())) throw new UsageError('a key holds no blanks; nothing was kept.');
  await keepKey(homeOf(process.env).credentials, key.trim());
  stderr.write('The key is kept.\n');
  return 0;
}

function typed(): Promise<string | undefined> {
  const { stdin } = process;
  return new Promise((resolve) => {
    let text = '';
    const done = (value: string | undefined): void => {
      stdin.off('data', take);
      resolve(value);
    };
    const take = (chunk: string): void => {
      // Terminals put pasted text between marks; nothing of them belongs to the key.
      for (const character of chunk.replaceAll(/\u001b\[20[01]~/g, '')) {
        if (ENTER.test(character)) return done(text);
        if (LEAVE.test(character)) return done(undefined);
        text = ERASE.test(character) ? text.slice(0, -1) : text + character;
      }
    };
    stdin.setEncoding('utf8').on('data', take).resume();
  });
}
