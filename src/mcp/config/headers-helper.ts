import { spawn } from 'node:child_process';
import type { Json } from '#lib/brand.ts';
import { messageOf, UserError } from '#lib/errors.ts';
import type { Launch } from './launch.ts';
import { headerProblem, isFields } from './parse.ts';

const MOST_MS = 10_000;
const MOST_BYTES = 64 * 1024;

/**
 * Further headers of a server: what its `headersHelper` prints, a JSON object of texts. Runs in a shell of its own process group
 * for ten seconds at most. Throws a UserError (one line) when it fails; never tells what it printed, which is secret.
 */
export async function headersFrom(command: string, { launch, name, signal, limitMs = MOST_MS }: { readonly launch: Launch; readonly name: string; readonly signal: AbortSignal; readonly limitMs?: number }): Promise<Readonly<Record<string, string>>> {
  const url = launch.config.type === 'stdio' ? '' : launch.config.url;
  const out = await output(command, { cwd: launch.cwd, env: { ...launch.env, CLAUDE_CODE_MCP_SERVER_NAME: name, CLAUDE_CODE_MCP_SERVER_URL: url } }, signal, limitMs);
  const value = parsed(out);
  if (!isFields(value) || !Object.values(value).every((item) => typeof item === 'string')) throw new UserError(`the headersHelper of ${name} must print a JSON object of texts.`);
  const headers = value as Readonly<Record<string, string>>;
  const wrong = headerProblem(headers);
  if (wrong !== undefined) throw new UserError(`the headersHelper of ${name}: ${wrong}.`);
  return headers;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function output(command: string, options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }, signal: AbortSignal, limitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command], { ...options, env: { ...options.env }, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        child.kill('SIGKILL');
      }
    };
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (error: string | undefined): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      process.off('exit', kill);
      if (error === undefined) resolve(Buffer.concat(chunks).toString('utf8'));
      else {
        kill();
        reject(new UserError(`the headersHelper ${error}.`));
      }
    };
    const abort = (): void => { settle('was interrupted'); };
    const timer = setTimeout(() => { settle(`had no answer within ${limitMs / 1000} s`); }, limitMs);
    process.once('exit', kill);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_BYTES) settle(`printed more than ${MOST_BYTES} bytes`);
      else chunks.push(chunk);
    });
    child.on('error', (error) => { settle(`cannot be run: ${messageOf(error)}`); });
    child.on('close', (code) => { settle(code === 0 ? undefined : code === null ? 'was ended by a signal' : `ended with code ${code}`); });
  });
}
