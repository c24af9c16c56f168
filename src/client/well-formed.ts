import { wellFormed } from '#lib/text.ts';

/** The same JSON with every lone surrogate replaced; the very same object when there was none. */
export function wellFormedJson<T>(value: T): T {
  return repair(value) as T;
}

function repair(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const repaired = items.map(repair);
    return repaired.some((item, at) => item !== items[at]) ? repaired : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const repaired = entries.map(([key, inner]) => [wellFormed(key), repair(inner)] as const);
  // `fromEntries` defines own properties, so a key named `__proto__` stays what it is: a key.
  return repaired.some(([key, inner], at) => key !== entries[at]?.[0] || inner !== entries[at][1]) ? Object.fromEntries(repaired) : value;
}
