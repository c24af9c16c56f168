import { tokens } from '#lib/numbers.ts';
import { sanitise } from '#lib/terminal.ts';
import { count, cutToLength } from '#lib/text.ts';
import type { Event } from '#domain/entry.ts';

/** What a sub-agent is at, out of what its loop yields. */
export interface Progress {
  /** Model replies so far. */
  readonly steps: number;
  /** Of the last request and its reply, as they were measured. */
  readonly tokens: number;
  /** One line. */
  readonly doing: string;
}

export const BEGINS: Progress = { steps: 0, tokens: 0, doing: 'begins' };

const LONGEST = 120;

export function progressAfter(now: Progress, event: Event): Progress {
  const doing = doingIn(event);
  if (event.type === 'entry' && event.entry.type === 'assistant') {
    const { input, output, cacheRead, cacheWrite } = event.entry.usage;
    return { steps: now.steps + 1, tokens: input + output + cacheRead + cacheWrite || now.tokens, doing: doing ?? now.doing };
  }
  return doing === undefined || doing === now.doing ? now : { ...now, doing };
}

function doingIn(event: Event): string | undefined {
  switch (event.type) {
    case 'toolStarted': return short(event.card.title);
    case 'textDelta': return 'answers';
    case 'thinkingDelta': return 'thinks';
    case 'callDelta': return `calls ${short(event.tool)}`;
    case 'waiting': return `waits: ${short(event.reason)}`;
    case 'doing': return short(event.what);
    default: return undefined;
  }
}

/** `3 steps · 12k tokens · Read src/a.ts`. */
export function lineOf({ steps, tokens: weight, doing }: Progress): string {
  return [count(steps, 'step'), ...(weight === 0 ? [] : [`${tokens(weight)} tokens`]), doing].join(' · ');
}

function short(text: string): string {
  return cutToLength(sanitise(text, { newlines: false, dropColours: true }), LONGEST);
}
