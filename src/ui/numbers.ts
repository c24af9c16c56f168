/** Tokens as people read them: `950`, `6.2k`, `84k`, `1.2M`. */
export function tokens(n: number): string {
  if (n < 1000) return String(Math.round(n));
  if (n < 9950) return `${trim((n / 1000).toFixed(1))}k`;
  if (n < 999_500) return `${Math.round(n / 1000)}k`;
  return `${trim((n / 1_000_000).toFixed(1))}M`;
}

/** Money: whole cents from ten cents on, else as many digits as it takes. */
export function dollars(usd: number): string {
  if (usd === 0) return '$0';
  return usd < 0.1 ? `$${usd.toFixed(usd < 0.0095 ? 4 : 3)}` : `$${usd.toFixed(2)}`;
}

/** `8s`, `2m 05s`, `1h 02m`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const two = (n: number): string => String(n).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h ${two(Math.floor(seconds / 60) % 60)}m`;
}

function trim(number: string): string {
  return number.replace(/\.0$/, '');
}
