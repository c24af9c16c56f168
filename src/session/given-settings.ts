import { resolve } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { messageOf, UserError } from '#lib/errors.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { type Layer, mergeLayers } from './settings.ts';

const FLAG = '--settings';

/** The file that `--settings` names, absolute; undefined where it is the settings themselves. */
export function givenFile(given: string, cwd: string): string | undefined {
  return given.trimStart().startsWith('{') ? undefined : resolve(cwd, given);
}

/** What `--settings` gives, a file or JSON, as a layer of its own. Throws a UserError (one line) for what cannot be used, a single key of a wrong type too. */
export function givenSettings(given: string, cwd: string): Layer {
  const file = givenFile(given, cwd);
  const layer: Layer = { scope: 'flag', file: file ?? FLAG, root: cwd, take: 'all', fields: fieldsOf(file === undefined ? given : textOf(file, given), file === undefined ? 'what follows it' : given) };
  const [problem] = mergeLayers([layer]).warnings;
  if (problem !== undefined) throw new UserError(`${FLAG}: ${problem.replace(`${layer.file}: `, '').replace(/; it was left out\.$/, '.')}`);
  return layer;
}

function textOf(file: string, given: string): string {
  try {
    return readSmallFile(file);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new UserError(missing ? `${FLAG} ${given}: there is no such file. It takes a file or a JSON object.` : `${FLAG} ${given} cannot be read: ${messageOf(error)}.`);
  }
}

function fieldsOf(text: string, what: string): Layer['fields'] {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new UserError(`${FLAG}: ${what} is no JSON (${messageOf(error)}).`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UserError(`${FLAG}: ${what} must hold one JSON object.`);
  return value as Layer['fields'];
}
