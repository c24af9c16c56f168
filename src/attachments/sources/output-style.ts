import { oneLine } from '#lib/names.ts';
import { sha256 } from '#lib/hash.ts';
import type { Json } from '#lib/brand.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

interface Style {
  readonly name: string;
  readonly body: string;
  readonly hash: string;
}

/** How answers are to be written: whole when a style is chosen or changed, then its name from time to time; and that it went. */
export default defineSource<Style>({
  id: 'output_style', on: ['prompt', 'step'], threads: 'main', cadence: { everySteps: 10, fullEvery: 5 }, limits: { tokens: 6000 },
  async observe({ style }) {
    const now = await style();
    const body = now?.body.trim() ?? '';
    return now === undefined || body === '' ? absent : { name: oneLine(now.name, 60), body, hash: sha256(body) };
  },
  keep: ({ name, hash }) => ({ name, hash }),
  revive: reviveStyle,
  full: ({ name, body }) => `Output style "${name}", chosen by the user for the answers from here on, in place of any other:\n\n${body}`,
  brief: ({ name }) => `The output style "${name}" is still in effect.`,
  gone: (before) => `The output style${before === undefined ? '' : ` "${before.name}"`} is no longer in effect: answers are written as usual.`,
});

function reviveStyle(stored: Json): Style | undefined {
  if (stored === null || typeof stored !== 'object' || !('name' in stored)) return undefined;
  const { name, hash } = stored;
  return typeof name === 'string' && typeof hash === 'string' ? { name, body: '', hash } : undefined;
}
