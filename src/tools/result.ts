import type { Card, CardBlock } from '#domain/card.ts';
import type { Part, ToolDefinition } from '#domain/content.ts';
import type { EntryBody } from '#domain/entry.ts';
import type { ToolOutcome } from '#domain/ports.ts';
import type { FileTouch, ToolResult } from '#domain/tool.ts';
import { count, cutToBytes, wellFormed } from '#lib/text.ts';

/** Most bytes of text in one result, whatever the tool: about 30,000 tokens. */
const MOST_BYTES = 120_000;
/** Most UTF-16 units in one block of a card: it is kept in the log. */
const MOST_IN_CARD = 60_000;

export interface Extras {
  readonly files?: readonly FileTouch[];
  readonly entries?: readonly EntryBody[];
  readonly loads?: readonly ToolDefinition[];
}

export function done(content: string | readonly Part[], card: Card, extras: Extras = {}): ToolOutcome {
  return outcome('ok', content, card, extras);
}

/** The card's detail is the message's first line, if none is given. */
export function failed(title: string, message: string, extras: Extras & { readonly body?: readonly CardBlock[]; readonly detail?: string } = {}): ToolOutcome {
  const { body = [], detail = message.split('\n', 1)[0] ?? message, ...rest } = extras;
  return outcome('failed', message, { title, detail, tone: 'bad', body }, rest);
}

export function interrupted(title: string, message: string, extras: Extras & { readonly body?: readonly CardBlock[] } = {}): ToolOutcome {
  const { body = [], ...rest } = extras;
  return outcome('interrupted', message, { title, detail: 'interrupted', tone: 'muted', body }, rest);
}

/** The user, or the way the program runs, does not want it. */
export function refused(title: string, message: string, extras: Extras & { readonly body?: readonly CardBlock[]; readonly detail?: string } = {}): ToolOutcome {
  const { body = [], detail = 'refused', ...rest } = extras;
  return outcome('refused', message, { title, detail, tone: 'bad', body }, rest);
}

function outcome(kind: ToolResult['kind'], content: string | readonly Part[], card: Card, extras: Extras): ToolOutcome {
  const parts: readonly Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return {
    result: { kind, content: parts, card, ...(extras.files === undefined ? {} : { files: extras.files }), ...(extras.loads === undefined ? {} : { loads: extras.loads }) },
    ...(extras.entries === undefined || extras.entries.length === 0 ? {} : { entries: extras.entries }),
  };
}

/**
 * The gate at which every result enters the log: text is well-formed, blank parts are left out, and what is beyond the
 * limit is cut with a line that says so. Tools cut at better places themselves; this holds for all of them.
 */
export function atIntake(result: ToolResult, mostBytes = MOST_BYTES): ToolResult {
  let room = Math.max(MOST_BYTES, mostBytes);
  const content: Part[] = [];
  for (const part of result.content) {
    if (part.type === 'media') {
      content.push(part);
      continue;
    }
    const text = wellFormed(part.text);
    const bytes = Buffer.byteLength(text);
    const shown = cutToBytes(text, room);
    room -= Math.min(bytes, room);
    if (text === '') continue;
    content.push({ type: 'text', text: shown === text ? text : `${shown}\n[shown ${Buffer.byteLength(shown)} of ${count(bytes, 'byte')}; ask for less at a time to see the rest]` });
  }
  return { ...result, content, card: cardAtIntake(result.card) };
}

function cardAtIntake(card: Card): Card {
  const line = (text: string): string => wellFormed(text.replace(/\s*\n\s*/g, ' '));
  return { ...card, title: line(card.title), ...(card.detail === undefined ? {} : { detail: line(card.detail) }), body: card.body.map(blockAtIntake) };
}

function blockAtIntake(block: CardBlock): CardBlock {
  if (block.type === 'diff') return { ...block, patch: shortened(block.patch) };
  return block.type === 'list' || block.type === 'table' ? block : { ...block, text: shortened(block.text) };
}

function shortened(text: string): string {
  if (text.length <= MOST_IN_CARD) return wellFormed(text);
  const end = text.lastIndexOf('\n', MOST_IN_CARD);
  return `${wellFormed(text.slice(0, end === -1 ? MOST_IN_CARD : end))}\n… ${count(text.length, 'character')} in all`;
}
