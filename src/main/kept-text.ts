import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Session } from '#domain/session.ts';
import { sessionFolder } from '#session/home.ts';
import { sessionFile } from '#session/open.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';

/** A folder of a session's own, beside its log. */
export function besideLog({ home, cwd }: Place, session: Session): string {
  return join(dirname(sessionFile({ home, cwd }, session.id) ?? join(sessionFolder(home, cwd), 'log')), session.id);
}

/** Keeps a text that was too long to be given whole, in a file that the model may read without a question. Undefined where it cannot be. */
export function keepText(configuration: Configuration, folder: string, name: string, text: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  } catch {
    return undefined;
  }
  const rule = `Read(/${folder}/**)`;
  if (!/[*?[\]!\\\s()]/.test(folder) && !configuration.rules().allow.some((known) => known.rule === rule)) void configuration.keepRule(rule, 'session');
  return join(folder, name);
}
