import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ParseError } from 'jsonc-parser';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { DEEPEST_JSON } from '#lib/json-depth.ts';
import { readSmallFile } from '#lib/small-file.ts';
import type { Finding } from './found.ts';

export type Fields = Readonly<Record<string, Json>>;
export const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
export const fieldsAt = (fields: Fields, key: string): Fields => (Object.hasOwn(fields, key) && isFields(fields[key]) ? fields[key] : {});
export const textAt = (fields: Fields, key: string): string | undefined => (Object.hasOwn(fields, key) && typeof fields[key] === 'string' ? fields[key] : undefined);
export const textsAt = (fields: Fields, key: string): readonly string[] => {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((one: Json): one is string => typeof one === 'string') : [];
};

const MOST_FILES = 200;
const MOST_DOCUMENT = 256 * 1024;

type Format = 'json' | 'toml';

/** A settings file as an object; a file that is missing is nothing, one that cannot be read is said. */
export async function readSettings(path: string, format: Format, into: Finding): Promise<Fields | undefined> {
  const text = textOf(path, into);
  if (text === undefined) return undefined;
  into.files.push(path);
  try {
    const value = format === 'toml' ? await toml(text) : await jsonc(text);
    if (isFields(value)) return value;
    into.left.push(`${path}: it holds no settings`);
  } catch (error) {
    into.left.push(`${path} cannot be read: ${messageOf(error)}`);
  }
  return undefined;
}

export function textOf(path: string, into: Pick<Finding, 'left'>, most?: number): string | undefined {
  try {
    return readSmallFile(path, most);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
    if (!missing) into.left.push(`${path} cannot be read: ${messageOf(error)}`);
    return undefined;
  }
}

/** Comments and commas too many are taken: other shells take them. */
async function jsonc(text: string): Promise<Json> {
  const { parse, printParseErrorCode } = await import('jsonc-parser');
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) throw new Error(`${printParseErrorCode(error.error)} at character ${error.offset}`);
  return plain(value, 0);
}

async function toml(text: string): Promise<Json> {
  const { parse } = await import('smol-toml');
  return plain(parse(text), 0);
}

function plain(value: unknown, depth: number): Json {
  if (depth > DEEPEST_JSON) throw new Error('it is nested too deep');
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint' || value instanceof Date) return String(value);
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, depth + 1)]));
  return null;
}

/** Files of a folder and of those below it, as paths relative to it with `/`, sorted. */
export function filesBelow(folder: string, ending: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1).replaceAll('\\', '/')).sort().slice(0, MOST_FILES);
  } catch {
    return [];
  }
}

/** Documents of a folder, each with its text. */
export function documentsIn(folder: string, ending: string, into: Finding): readonly { readonly name: string; readonly path: string; readonly text: string }[] {
  return filesBelow(folder, ending).flatMap((name) => {
    const path = join(folder, name);
    const text = textOf(path, into, MOST_DOCUMENT);
    if (text === undefined) return [];
    into.files.push(path);
    return [{ name: name.slice(0, -ending.length), path, text }];
  });
}

/** Says which keys have no counterpart, in one line. */
export function leaveRest(fields: Fields, known: readonly string[], file: string, into: Finding): void {
  const rest = Object.keys(fields).filter((key) => !known.includes(key) && key !== '$schema');
  if (rest.length > 0) into.left.push(`${rest.slice(0, 12).join(', ')}${rest.length > 12 ? ` and ${rest.length - 12} more` : ''}: there is nothing like it here (${file})`);
}
