import { oneLine } from '#lib/names.ts';
import { count, wellFormed } from '#lib/text.ts';
import { type Mail, MAIL_SOURCES } from '#domain/agents.ts';
import { untoldMail } from '#domain/mail.ts';
import { absent, type Absent, type World } from '#domain/world.ts';

/** Messages that are told now, and how many wait for the next moment. */
export interface Post {
  readonly now: readonly Mail[];
  readonly later: number;
}

/** Tokens that a source of mail may take, and bytes of messages in that: the longest message fits. */
export const MAIL_TOKENS = 7000;
const MOST_BYTES = 19_000;

/** Whole messages, oldest first, as many as there is room for: what is not told now is told next. */
export async function untold(world: World, source: (typeof MAIL_SOURCES)[keyof typeof MAIL_SOURCES], signal: AbortSignal): Promise<Post | Absent> {
  if (source === MAIL_SOURCES.starter && world.thread === 'main') return absent;
  const waiting = untoldMail(world.log, await world.agents.mail(signal), world.thread, source);
  const now: Mail[] = [];
  let room = MOST_BYTES;
  for (const mail of waiting) {
    room -= Buffer.byteLength(linesOf(mail));
    if (room < 0 && now.length > 0) break;
    now.push(mail);
  }
  return now.length === 0 ? absent : { now, later: waiting.length - now.length };
}

export function lastId({ now }: Post): string {
  return now.at(-1)?.id ?? '';
}

/** Under a head that says whose words they are; each line of a message has a mark, so that none passes for the head of another. */
export function wordsOf(head: string, { now, later }: Post): string {
  return [head, ...now.map(linesOf), ...(later === 0 ? [] : [`${count(later, 'further message')} will be told next.`])].join('\n');
}

function linesOf({ from, text }: Mail): string {
  const lines = wellFormed(text).split(/\r\n?|[\n\v\f\x85\u2028\u2029]/);
  return [`From ${oneLine(from, 40)}:`, ...lines.map((line) => `> ${line}`)].join('\n');
}
