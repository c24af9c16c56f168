import * as z from 'zod';

/** A whole number between two bounds. Models send numbers as text now and then; that is taken too. */
export function wholeNumber(least: number, most: number): z.ZodType<number> {
  return z.preprocess((value) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value), z.number().int().min(least).max(most));
}

/** Yes or no; `"true"` and `"false"` are taken too. */
export const flag: z.ZodType<boolean> = z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean());

/** Text that must hold something. */
export const someText = z.string().min(1);
