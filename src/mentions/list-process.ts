import { spawn } from 'node:child_process';
import { nameFromBytes } from '#lib/names.ts';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Runs a program that writes names with a zero behind each, and yields them as they come. Returns its exit code; undefined when it could not be run or did not end by itself. */
export async function* namesFrom({ command, args, cwd, env }: Program, signal: AbortSignal): AsyncGenerator<readonly string[], number | undefined> {
  const child = start({ command, args, cwd, env }, signal);
  if (child === undefined) return undefined;
  const ended = new Promise<number | undefined>((resolve) => {
    child.once('error', () => { resolve(undefined); });
    child.once('close', (code) => { resolve(code ?? undefined); });
  });
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = bytes.lastIndexOf(0);
      rest = bytes.subarray(end + 1);
      if (end > 0) yield splitNames(bytes.subarray(0, end));
    }
    return await ended;
  } catch {
    return undefined;
  } finally {
    child.kill('SIGKILL');
  }
}

/** Some errors of the directory are thrown at once, others are told as an event. */
function start({ command, args, cwd, env }: Program, signal: AbortSignal) {
  try {
    return spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'], signal });
  } catch {
    return undefined;
  }
}

function splitNames(bytes: Buffer): readonly string[] {
  const names: string[] = [];
  for (let start = 0; start <= bytes.length;) {
    const found = bytes.indexOf(0, start);
    const end = found === -1 ? bytes.length : found;
    names.push(nameFromBytes(bytes.subarray(start, end)));
    start = end + 1;
  }
  return names;
}
