import { resolve } from 'node:path';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { UsageError } from '#cli/arguments.ts';

/** What a run is to come to. */
export interface OutputSchema {
  readonly schema: { readonly [key: string]: Json };
  /** What is wrong with a value, one line; undefined where it fits. */
  check(value: unknown): string | undefined;
}

const FLAG = '--json-schema';
/** What the models' API does not take at the top of a tool's input. */
const NOT_AT_TOP = ['anyOf', 'oneOf', 'allOf'];
const LONGEST = 600;

/** The schema that the flag gives, a file or JSON. Throws a UsageError (one line) for what is none, or none that a model can be given. */
export function readOutputSchema(given: string, cwd: string): OutputSchema {
  const schema = schemaIn(given, cwd);
  const top = NOT_AT_TOP.find((key) => key in schema);
  if (schema['type'] !== 'object' || top !== undefined) {
    throw new UsageError(`${FLAG}: the top of the schema must be {"type": "object", …}${top === undefined ? '' : `, without ${top}`}: what else is wanted goes into a property of it.`);
  }
  try {
    const validate = new AjvJsonSchemaValidator().getValidator(schema);
    return {
      schema,
      check(value) {
        const found = validate(value);
        return found.valid ? undefined : oneLine(found.errorMessage, LONGEST);
      },
    };
  } catch (error) {
    throw new UsageError(`${FLAG} cannot be used: ${oneLine(messageOf(error), 200).replace(/[.;:]$/, '')}.`);
  }
}

function schemaIn(given: string, cwd: string): OutputSchema['schema'] {
  const inline = /^\s*[{[]/.test(given);
  let value: Json;
  try {
    value = JSON.parse(inline ? given : textOf(given, cwd)) as Json;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${FLAG}: ${inline ? 'what follows it' : given} is no JSON (${oneLine(messageOf(error), 200)}).`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UsageError(`${FLAG}: ${inline ? 'what follows it' : given} must hold one JSON object.`);
  return value as OutputSchema['schema'];
}

function textOf(given: string, cwd: string): string {
  try {
    return readSmallFile(resolve(cwd, given));
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new UsageError(missing ? `${FLAG} ${given}: there is no such file. It takes a file or a JSON object.` : `${FLAG} ${given} cannot be read: ${messageOf(error)}.`);
  }
}
