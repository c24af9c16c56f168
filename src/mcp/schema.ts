import type { Json } from '#lib/brand.ts';

/** A tool's input schema as the API takes it, or why it cannot be used. */
export type Repaired = { readonly ok: true; readonly schema: Record<string, Json>; readonly changed: boolean } | { readonly ok: false; readonly why: string };

type Fields = Readonly<Record<string, Json>>;

const TYPES: ReadonlySet<Json> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);
const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;
/** Keys whose value is one schema, a list of schemas, or schemas by name. */
const ONE: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'contains', 'propertyNames', 'not', 'if', 'then', 'else', 'unevaluatedProperties', 'unevaluatedItems']);
const LIST: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** What the API takes as the name of a field at the top. */
const FIELD = /^[a-zA-Z0-9_.-]{1,64}$/;
const DEEPEST = 24;
const MOST_BYTES = 24 * 1024;
const MOST_NODES = 4000;

const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Makes a foreign schema one that the API takes: an object at the top without unions or references there, references that lead
 * somewhere, keywords of older drafts put right. What cannot be mended makes the tool unusable, and says why.
 */
export function repairSchema(given: unknown): Repaired {
  if (given === undefined || given === null) return { ok: true, schema: { type: 'object', properties: {} }, changed: true };
  if (!isFields(given as Json)) return { ok: false, why: 'its input schema is no object' };
  const before = JSON.stringify(given);
  if (before.length > 8 * MOST_BYTES) return { ok: false, why: `its input schema is too large (${before.length} characters)` };
  const root = given as Fields;
  const walk = createWalk(root);
  const top = flatTop(root, root, 0);
  if (typeof top === 'string') return { ok: false, why: top };
  const { $schema: _, $id: __, id: ___, ...rest } = top;
  const schema = { ...walk.schema({ ...rest, type: 'object' }, 0) as Record<string, Json>, type: 'object' };
  if (walk.problem() !== undefined) return { ok: false, why: walk.problem() ?? '' };
  const fields = checkFields(schema);
  if (fields !== undefined) return { ok: false, why: fields };
  const small = smaller(schema);
  return small === undefined ? { ok: false, why: `its input schema is too large (${JSON.stringify(schema).length} characters)` } : { ok: true, schema: small, changed: JSON.stringify(small) !== before };
}

/** References and unions at the top resolved into one object; a text: why that cannot be. */
function flatTop(schema: Fields, root: Fields, depth: number): Fields | string {
  if (depth > 8) return 'its input schema leads back to itself';
  const { $ref, ...own } = schema;
  if (typeof $ref === 'string') {
    const target = lookUp($ref, root);
    if (!isFields(target)) return `its input schema refers to ${$ref.slice(0, 80)}, which is not there`;
    return flatTop({ ...target, ...own }, root, depth + 1);
  }
  const { type } = schema;
  const types = Array.isArray(type) ? type : type === undefined ? ['object'] : [type];
  if (!types.includes('object')) return `its input schema is for ${types.map(String).join(', ').slice(0, 80)}, not for an object`;
  if (!UNIONS.some((key) => schema[key] !== undefined)) return schema;
  const { anyOf, oneOf, allOf, ...base } = schema;
  let merged: Fields = base;
  for (const [parts, all] of [[allOf, true], [anyOf, false], [oneOf, false]] as const) {
    if (!Array.isArray(parts)) continue;
    const flat = (parts as readonly Json[]).filter(isFields).map((part) => flatTop(part, root, depth + 1)).filter((part): part is Fields => typeof part !== 'string');
    merged = merge(merged, flat, all);
  }
  return merged;
}

/** Fields of all parts; wanted are those that each part wants, or with `all` those that any does. */
function merge(base: Fields, parts: readonly Fields[], all: boolean): Fields {
  const properties: Record<string, Json> = {};
  for (const part of [...parts, base]) if (isFields(part['properties'])) Object.assign(properties, part['properties']);
  const own = texts(base['required']);
  const each = parts.map((part) => texts(part['required']));
  const shared = all ? each.flat() : (each[0] ?? []).filter((name) => each.every((names) => names.includes(name)));
  return { ...base, properties, required: [...new Set([...own, ...shared])] };
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter((item): item is string => typeof item === 'string') : [];
}

function lookUp(ref: string, root: Fields): Json | undefined {
  if (!ref.startsWith('#')) return undefined;
  let at: Json | undefined = root;
  for (const step of ref.slice(1).split('/').slice(1)) {
    const key = decodeURIComponentSafe(step).replaceAll('~1', '/').replaceAll('~0', '~');
    at = isFields(at) && Object.hasOwn(at, key) ? at[key] : Array.isArray(at) ? (at as readonly Json[])[Number(key)] : undefined;
  }
  return at;
}

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether references from here on lead round in a circle without anything between. */
function isCircle(ref: string, root: Fields): boolean {
  const seen = new Set<string>();
  for (let at: Json | undefined = { $ref: ref }; isFields(at) && typeof at['$ref'] === 'string'; at = lookUp(at['$ref'], root)) {
    if (seen.has(at['$ref'])) return true;
    seen.add(at['$ref']);
  }
  return false;
}

function createWalk(root: Fields) {
  let nodes = 0;
  let problem: string | undefined;
  const schema = (value: Json, depth: number): Json => {
    nodes += 1;
    if (depth > DEEPEST) problem ??= 'its input schema is nested too deep';
    if (nodes > MOST_NODES) problem ??= 'its input schema has too many parts';
    if (problem !== undefined || !isFields(value)) return typeof value === 'boolean' ? value : {};
    if (typeof value['$ref'] === 'string') {
      const target = lookUp(value['$ref'], root);
      if (target === undefined || isCircle(value['$ref'], root)) {
        const { $ref: _, ...rest } = value;
        return schema(rest, depth);
      }
    }
    const out: Record<string, Json> = {};
    for (const [key, part] of Object.entries(value)) {
      const put = keyword(key, part, value, depth);
      if (put !== undefined) out[put[0]] = put[1];
    }
    return out;
  };
  const keyword = (key: string, part: Json, within: Fields, depth: number): readonly [string, Json] | undefined => {
    if (key === 'type') return typeOf(part);
    if (key === 'required') return Array.isArray(part) ? [key, [...new Set(texts(part))]] : undefined;
    if (key === 'enum') return Array.isArray(part) && part.length > 0 ? [key, part] : undefined;
    if (key === 'exclusiveMinimum' || key === 'exclusiveMaximum') return typeof part === 'number' ? [key, part] : undefined;
    if (key === 'minimum' && within['exclusiveMinimum'] === true) return ['exclusiveMinimum', part];
    if (key === 'maximum' && within['exclusiveMaximum'] === true) return ['exclusiveMaximum', part];
    if (key === 'items' && Array.isArray(part)) return ['prefixItems', (part as readonly Json[]).map((one) => schema(one, depth + 1))];
    if (ONE.has(key)) return [key, schema(part, depth + 1)];
    if (LIST.has(key)) return Array.isArray(part) && part.length > 0 ? [key, (part as readonly Json[]).map((one) => schema(one, depth + 1))] : undefined;
    if (NAMED.has(key)) return isFields(part) ? [key, Object.fromEntries(Object.entries(part).map(([name, one]) => [name, schema(one, depth + 1)]))] : undefined;
    return [key, part];
  };
  return { schema, problem: () => problem };
}

function typeOf(part: Json): readonly [string, Json] | undefined {
  const types = (Array.isArray(part) ? part as readonly Json[] : [part]).filter((type) => TYPES.has(type));
  return types.length === 0 ? undefined : ['type', types.length === 1 ? types[0] ?? 'object' : [...new Set(types)]];
}

/** Fields whose names the API does not take are left out where they need not be given. */
function checkFields(schema: Record<string, Json>): string | undefined {
  const { properties } = schema;
  if (!isFields(properties)) return undefined;
  const required = texts(schema['required']);
  const odd = Object.keys(properties).filter((name) => !FIELD.test(name));
  const wanted = odd.find((name) => required.includes(name));
  if (wanted !== undefined) return `its field "${wanted.slice(0, 80)}" has a name that cannot be sent`;
  if (odd.length > 0) schema['properties'] = Object.fromEntries(Object.entries(properties).filter(([name]) => FIELD.test(name)));
  return undefined;
}

/** Without what only explains, where all of it is too large. */
function smaller(schema: Record<string, Json>): Record<string, Json> | undefined {
  if (JSON.stringify(schema).length <= MOST_BYTES) return schema;
  const bare = strip(schema) as Record<string, Json>;
  return JSON.stringify(bare).length <= MOST_BYTES ? bare : undefined;
}

const EXPLAINS: ReadonlySet<string> = new Set(['description', 'title', 'examples', 'example', '$comment', 'default']);

function strip(value: Json, names = false): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => strip(one));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => names || !EXPLAINS.has(key)).map(([key, one]) => [key, strip(one, !names && NAMED.has(key))]));
}
