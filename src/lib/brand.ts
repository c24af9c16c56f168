declare const brand: unique symbol;

/** A string that only its own maker may make. */
export type Brand<Name extends string> = string & { readonly [brand]: Name };

/** What survives `JSON.parse(JSON.stringify(x))` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The end of an exhaustive switch: a new case that nobody handles does not compile. */
export function never(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}
