const MOST_DOLLARS = 1_000_000;
const AMOUNT = /^(?:\$|usd)?\s*(\d{1,3}(?:,\d{3})+|\d+)?(\.\d+)?\s*(?:\$|usd|dollars?)?$/i;

/** Dollars as people write them: `5`, `$5`, `5 usd`, `0.50`, `1,000`. Undefined for anything else, and for 0 or more than a million. */
export function parseDollars(text: string): number | undefined {
  const [, whole, part] = AMOUNT.exec(text.trim()) ?? [];
  if (whole === undefined && part === undefined) return undefined;
  return validDollars(Number(`${(whole ?? '0').replaceAll(',', '')}${part ?? ''}`));
}

/** A sum that can be a limit; else undefined. */
export function validDollars(value: number): number | undefined {
  return value > 0 && value <= MOST_DOLLARS ? value : undefined;
}
