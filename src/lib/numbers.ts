/** Tokens for people: `812`, `8.4k`, `134k`, `1.2M`. */
export function tokens(n: number): string {
  if (n < 999.5) return String(Math.round(n));
  if (n < 9950) return `${trim((n / 1000).toFixed(1))}k`;
  if (n < 999_500) return `${Math.round(n / 1000)}k`;
  return `${trim((n / 1_000_000).toFixed(1))}M`;
}

const trim = (text: string): string => text.replace(/\.0$/, '');

/** US dollars for people: whole cents from one cent on, more digits below; `?` where there is no known price. */
export function dollars(usd: number | undefined): string {
  if (usd === undefined) return '$?';
  if (usd === 0) return '$0';
  if (usd >= 0.01) return `$${usd.toFixed(2)}`;
  return usd >= 0.0001 ? `$${usd.toFixed(4)}` : '<$0.0001';
}

/** A share as whole percent; a share of nothing is `0%`. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return '0%';
  if (share > 0 && share < 0.005) return '<1%';
  return `${Math.round(share * 100)}%`;
}

/** Bytes for people: `812 B`, `8.4 KiB`, `3 MiB`. */
export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  const kib = n / 1024;
  if (kib < 1023.5) return `${trim(kib < 9.95 ? kib.toFixed(1) : kib.toFixed(0))} KiB`;
  const mib = kib / 1024;
  return `${trim(mib < 9.95 ? mib.toFixed(1) : mib.toFixed(0))} MiB`;
}

/** How long ago, roughly: `now`, `5 min ago`, `3 h ago`, `2 days ago`. */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ago`;
  return `${Math.floor(hours / 24)} days ago`;
}
