import { vi } from 'vitest';

/** Resolves as soon as the check throws no more. The limit is far: it costs time only where the check fails, and a busy machine is slow. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 20_000, interval: 10 });
}
