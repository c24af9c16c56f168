import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { UserError } from '#lib/errors.ts';
import { wellFormed } from '#lib/text.ts';

const LARGEST_BYTES = 10 * 1024 * 1024;
/** A pipe that somebody holds open without writing must not hold up a run that has its prompt already. */
const FIRST_BYTE_MS = 1500;

type Input = Readable & { readonly fd?: number; readonly isTTY?: boolean };

/**
 * What was piped in, as text; undefined when nothing was. With `patient` (there is no other prompt) it waits for the first byte
 * for as long as it takes. Throws a UserError beyond 10 MiB.
 */
export async function readStdin(input: Input, patient: boolean): Promise<string | undefined> {
  if (input.isTTY === true || !mayHold(input.fd ?? 0)) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    const late = patient ? undefined : setTimeout(() => { input.pause(); done(); }, FIRST_BYTE_MS);
    const done = (): void => {
      clearTimeout(late);
      input.off('data', take).off('end', done).off('error', done);
      resolve();
    };
    const take = (chunk: Buffer | string): void => {
      clearTimeout(late);
      const part = Buffer.from(chunk);
      bytes += part.length;
      if (bytes > LARGEST_BYTES) {
        input.destroy();
        reject(new UserError('standard input holds more than 10 MiB. Write it to a file and mention that with @.'));
      }
      chunks.push(part);
    };
    input.on('data', take).on('end', done).on('error', done);
  });
  const text = wellFormed(Buffer.concat(chunks).toString('utf8'));
  return text.trim() === '' ? undefined : text;
}

function mayHold(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket() || (stat.isFile() && stat.size > 0);
  } catch {
    return false;
  }
}

/** The prompt with what was piped in after it. Piped text is fenced: an `@` in it is no mention. */
export function withPiped(prompt: string | undefined, piped: string | undefined): string | undefined {
  if (piped === undefined) return prompt;
  if (prompt === undefined) return piped.trimEnd();
  const longest = Math.max(2, ...[...piped.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${prompt}\n\n${fence}\n${piped.trimEnd()}\n${fence}`;
}
