import type { Json } from '#lib/brand.ts';

/** How far a number has come on the way to another, in whole steps of a share: what a meter keeps of what it said. */
export interface Mark {
  readonly steps: number;
  readonly of: number;
}

/** `share`: of the whole, the length of a step; 0.05 for marks at each 5 %. */
export function markOf(value: number, of: number, share: number): Mark {
  const steps = of > 0 ? Math.floor(value / of / share + 1e-9) : 0;
  return { steps: Math.max(0, Math.min(steps, Math.round(1 / share))), of };
}

/** Whether there is something to say anew: a further mark was passed, or the whole is another one. What went back is no news. */
export function passed(before: Mark, now: Mark): boolean {
  return now.of !== before.of || now.steps > before.steps;
}

export function reviveMark(stored: Json): Mark | undefined {
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return undefined;
  const { steps, of } = stored as Readonly<Record<string, Json>>;
  return typeof steps === 'number' && typeof of === 'number' ? { steps, of } : undefined;
}
