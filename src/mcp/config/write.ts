import { existsSync } from 'node:fs';
import type { Json } from '#lib/brand.ts';
import { updateJson } from '#lib/atomic.ts';
import { messageOf, UserError } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { isFields } from './parse.ts';

/** Where servers are written: a file, at its top, or under one project in it. */
export interface WriteTarget {
  readonly file: string;
  /** Real path of the project whose own servers are meant; undefined: those at the top. */
  readonly under?: string;
  /** Of a new file: 0600 for ours, 0644 for what is shared. */
  readonly mode: number;
}

type Fields = Readonly<Record<string, Json>>;

/** Writes a server down. Throws a UserError where one of that name stands there already, or the file cannot be understood; it is then left as it was. */
export async function addServer(target: WriteTarget, name: string, value: Json): Promise<void> {
  await change(target, (servers) => {
    if (Object.hasOwn(servers, name)) throw new UserError(`there is a server ${name} in ${target.file} already. Remove it first: pinion mcp remove ${name}.`);
    return { ...servers, [name]: value };
  });
}

/** Whether there was such a server to remove. Throws a UserError where the file cannot be understood or written. */
export async function removeServer(target: WriteTarget, name: string): Promise<boolean> {
  if (!existsSync(target.file)) return false;
  let had = false;
  await change(target, (servers) => {
    had = Object.hasOwn(servers, name);
    return Object.fromEntries(Object.entries(servers).filter(([other]) => other !== name));
  });
  return had;
}

/** Names of what is written there. Throws a UserError where the file cannot be understood. */
export function namesIn({ file, under }: WriteTarget): readonly string[] {
  const whole = wholeIn(file);
  return Object.keys(fieldsAt(under === undefined ? whole : fieldsAt(fieldsAt(whole, 'projects', file), under, file), 'mcpServers', file));
}

async function change({ file, under, mode }: WriteTarget, edit: (servers: Fields) => Fields): Promise<void> {
  try {
    await updateJson(file, () => {
      const whole = wholeIn(file);
      if (under === undefined) return { ...whole, mcpServers: edit(fieldsAt(whole, 'mcpServers', file)) };
      const projects = fieldsAt(whole, 'projects', file);
      const here = fieldsAt(projects, under, file);
      return { ...whole, projects: { ...projects, [under]: { ...here, mcpServers: edit(fieldsAt(here, 'mcpServers', file)) } } };
    }, mode);
  } catch (error) {
    throw error instanceof UserError ? error : new UserError(`${file} cannot be written: ${messageOf(error)}`);
  }
}

/** Read here and not by whoever holds the lock: a file that is damaged must not be taken for one that is missing. */
function wholeIn(file: string): Fields {
  let text: string;
  try {
    text = readSmallFile(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new UserError(`${file} cannot be read: ${messageOf(error)}; it was left as it is.`);
  }
  try {
    const value = JSON.parse(text) as Json;
    if (isFields(value)) return value;
  } catch (error) {
    throw new UserError(`${file} is no JSON (${messageOf(error)}); it was left as it is.`);
  }
  throw new UserError(`${file} must hold one JSON object; it was left as it is.`);
}

function fieldsAt(fields: Fields, key: string, file: string): Fields {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (value === undefined) return {};
  if (isFields(value)) return value;
  throw new UserError(`${file}: "${oneLine(key)}" must be an object; the file was left as it is.`);
}
