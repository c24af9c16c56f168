import type { Json } from '#lib/brand.ts';
import type { ScopedRule, StatusLineSetting } from '#domain/settings.ts';

const MOST_PADDING = 20;

/** The key `statusLine` of one file; `false` takes a weaker one away. `wrong` is told what it must be. */
export function statusLineIn(value: Json | undefined, wrong: (key: string, wanted: string) => undefined, from: { readonly scope: ScopedRule['scope']; readonly file: string }): StatusLineSetting | false | undefined {
  if (value === undefined || value === false) return value;
  const { type, command, padding = 0, refreshInterval } = typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Readonly<Record<string, Json>> : {};
  if (type !== 'command' || typeof command !== 'string' || command.trim() === '') return wrong('statusLine', 'an object with "type": "command" and a "command", or false');
  if (typeof padding !== 'number' || !(padding >= 0)) return wrong('statusLine.padding', 'a number from 0 on');
  if (refreshInterval !== undefined && (typeof refreshInterval !== 'number' || !(refreshInterval >= 1))) return wrong('statusLine.refreshInterval', 'a number of seconds from 1 on');
  return { command, padding: Math.min(MOST_PADDING, Math.floor(padding)), ...from, ...(refreshInterval !== undefined && { refreshSeconds: refreshInterval }) };
}
