import { isTooDeep } from '#lib/json-depth.ts';

/** JSON from outside, looked at with care. */
export type Obj = Readonly<Record<string, unknown>>;

export function isObj(value: unknown): value is Obj {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objOf(value: unknown): Obj {
  return isObj(value) ? value : {};
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Undefined when it is no JSON, or nested beyond all measure. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) return undefined;
  try { return JSON.parse(text); } catch { return undefined; }
}
