import { wellFormed } from '#lib/text.ts';

const known = new WeakMap<object, object>();

/** The same value with every lone surrogate in it (keys too) replaced; the very same object where there was none. */
export function repaired<T>(value: T): T {
  return repair(value) as T;
}

function repair(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value !== 'object' || value === null) return value;
  const before = known.get(value);
  if (before !== undefined) return before;
  const after = Array.isArray(value) ? repairList(value) : repairRecord(value);
  known.set(value, after);
  return after;
}

function repairList(list: readonly unknown[]): readonly unknown[] {
  const after = list.map(repair);
  return after.every((element, index) => element === list[index]) ? list : after;
}

function repairRecord(record: object): object {
  const before = Object.entries(record);
  const after = before.map(([key, value]): [string, unknown] => [wellFormed(key), repair(value)]);
  const same = after.every(([key, value], index) => key === before[index]?.[0] && value === before[index]?.[1]);
  return same ? record : Object.fromEntries(after);
}
