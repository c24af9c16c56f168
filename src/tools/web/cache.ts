const LIFE_MS = 15 * 60_000;
const MOST_ENTRIES = 40;
const MOST_UNITS = 16 * 1024 * 1024;

export interface ShelfLife<T> {
  get(key: string): T | undefined;
  /** `size`: UTF-16 units that it holds. */
  put(key: string, value: T, size: number): void;
}

/** Remembers things for fifteen minutes, in bounded room: the oldest go first. */
export function createShelfLife<T>(now: () => number): ShelfLife<T> {
  const kept = new Map<string, { readonly value: T; readonly size: number; readonly until: number }>();
  const room = (): number => [...kept.values()].reduce((sum, { size }) => sum + size, 0);
  return {
    get(key) {
      const found = kept.get(key);
      if (found !== undefined && found.until > now()) return found.value;
      kept.delete(key);
      return undefined;
    },
    put(key, value, size) {
      kept.delete(key);
      kept.set(key, { value, size, until: now() + LIFE_MS });
      while (kept.size > 1 && (kept.size > MOST_ENTRIES || room() > MOST_UNITS)) {
        const oldest = kept.keys().next();
        if (oldest.done !== true) kept.delete(oldest.value);
      }
    },
  };
}
