import { Console } from 'node:console';
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { parseAcp } from '#cli/acp.ts';
import { sweepBlobs } from '#session/blobs.ts';
import { sweepDrafts } from '#session/drafts.ts';
import { homeOf } from '#session/home.ts';
import { sweepTasks } from '#tools/shell/sweep.ts';
import { sanitise } from '#lib/terminal.ts';
import { createAcpAgent } from './agent.ts';
import type { Workers } from '#main/house.ts';

/** Longest message of the client, in bytes: a prompt with pictures. */
const MOST_MESSAGE = 64 * 1024 * 1024;
/** After its end nothing may keep the program from ending. */
const LAST_MS = 2000;

const say = (text: string): void => { process.stderr.write(`pinion acp: ${sanitise(text)}\n`); };

/** `pinion acp`: the Agent Client Protocol on standard input and output, for editors. Standard output holds nothing else. */
export async function run(argv: readonly string[], workers: Workers): Promise<number> {
  const { args, login } = parseAcp(argv);
  if (login) {
    const { enterKeyHere } = await import('./login.ts');
    return enterKeyHere();
  }
  // What a library prints must not get between two messages.
  globalThis.console = new Console({ stdout: process.stderr, stderr: process.stderr });
  if (process.stdin.isTTY) say('an editor starts this program and talks to it on its standard input; pinion alone is for the terminal. Ctrl-D ends it.');
  // Each session listens for the end of the program, and there may be any number.
  process.setMaxListeners(0);
  const home = homeOf(process.env);
  for (const line of sweepDrafts(home.drafts)) say(line);
  const agent = createAcpAgent(args, workers);
  const connection = agent.app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>, { maxMessageBytes: MOST_MESSAGE }));
  let code = 0;
  const stop = (signal: NodeJS.Signals): void => {
    code = signal === 'SIGINT' ? 130 : 143;
    connection.close();
  };
  const broken = (): void => { connection.close(); };
  process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
  process.stdout.on('error', broken);
  sweepBlobs(home.blobs);
  sweepTasks(home.tasks);
  await connection.closed;
  await agent.close();
  process.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', stop);
  process.stdin.destroy();
  setTimeout(() => { process.exit(code); }, LAST_MS).unref();
  return code;
}
