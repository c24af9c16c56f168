import type { Card } from '#domain/card.ts';
import type { Part } from '#domain/content.ts';
import type { CompactionBody, Entry, EntryOf } from '#domain/entry.ts';
import type { Form } from '#domain/reminder.ts';
import type { TaskRecord } from '#domain/tasks.ts';
import type { ToolResult } from '#domain/tool.ts';
import { sanitise, truncateTo } from '#lib/terminal.ts';
import { count } from '#lib/text.ts';
import { FOLDED_LINES, isLong } from './card-lines.ts';
import type { Piece } from './markdown-split.ts';

export interface Said {
  readonly source: string;
  readonly form: Form;
  readonly text: string;
}

/** One finished thing of the transcript, as data: how it looks depends on the width at the time it is printed. */
export type BlockBody =
  /** `whole`: what was sent in place of the line that was typed. */
  | { readonly type: 'prompt'; readonly text: string; readonly media: readonly string[]; readonly whole?: string }
  /** A piece of an answer; `first` bears the answer's mark. */
  | { readonly type: 'answer'; readonly piece: Piece; readonly first: boolean }
  | { readonly type: 'thought'; readonly text: string }
  | { readonly type: 'tool'; readonly card: Card; readonly outcome: ToolResult['kind'] }
  | { readonly type: 'shell'; readonly command: string; readonly output: string; readonly exitCode: number | null; readonly task?: string }
  /** Without a card: what came of the command stands below, as blocks of its own. */
  | { readonly type: 'command'; readonly line: string; readonly card?: Card }
  | { readonly type: 'card'; readonly card: Card }
  | { readonly type: 'notice'; readonly level: 'info' | 'warning' | 'error'; readonly text: string }
  /** What the program told the model at one moment. */
  | { readonly type: 'reminders'; readonly said: readonly Said[] }
  | { readonly type: 'compaction'; readonly compaction: CompactionBody }
  | { readonly type: 'plan'; readonly text: string; readonly file: string; readonly approved: boolean }
  /** One dim line about the conversation itself. */
  | { readonly type: 'mark'; readonly text: string };

/** `full`: nothing is folded away. `tight`: belongs to the block before, no blank line between. The key is unique in its screen. */
export type Block = BlockBody & { readonly key: string; readonly full: boolean; readonly tight?: true };

/** Lines of a prompt that are shown before it is folded: a long paste should not bury the answer. */
export const PROMPT_LINES = 20;
export const THOUGHT_LINES = 3;
/** Of a task's title so much is told when it ends. */
const HOOK_COLUMNS = 160;
const TASK_COLUMNS = 50;

/** Whether a block has more to show than it does when folded. */
export function isFolded(block: Block): boolean {
  if (block.full) return false;
  switch (block.type) {
    case 'tool': return isLong(block.card.body, FOLDED_LINES);
    case 'shell': return isLong([{ type: 'text', text: block.output }], FOLDED_LINES);
    case 'prompt': return block.whole !== undefined || isLong([{ type: 'text', text: block.text }], PROMPT_LINES);
    case 'thought': return isLong([{ type: 'text', text: block.text }], THOUGHT_LINES);
    case 'reminders': case 'compaction': case 'plan': return true;
    default: return false;
  }
}

/** What an entry shows by itself. Answers, reminders and queued words are shown by the reducer, which knows what went before. */
export function blocksOf(entry: Entry): readonly BlockBody[] {
  switch (entry.type) {
    case 'prompt': return [{
      type: 'prompt', text: entry.shown ?? entry.text, media: (entry.media ?? []).map(mediaLabel), ...(entry.shown !== undefined && entry.shown !== entry.text && { whole: entry.text }),
    }];
    case 'plan': return entry.state === 'proposed' ? [] : [{ type: 'plan', text: entry.text, file: entry.file, approved: entry.state === 'approved' }];
    case 'toolResult': return [{ type: 'tool', card: entry.result.card, outcome: entry.result.kind }];
    case 'shell': return [{ type: 'shell', command: entry.command, output: entry.output, exitCode: entry.exitCode, ...(entry.task !== undefined && { task: entry.task }) }];
    case 'command': return [{ type: 'command', line: entry.line, card: entry.card }];
    case 'notice': return [{ type: 'notice', level: entry.level, text: entry.text }];
    case 'hookContext': return [{ type: 'mark', text: hookLine(entry) }];
    case 'compaction': return [{ type: 'compaction', compaction: entry }];
    case 'exclude': return [{ type: 'mark', text: `an earlier ${entry.what === 'media' ? 'picture or PDF' : 'entry'} is left out of later requests` }];
    case 'restore': return [{ type: 'mark', text: 'an earlier entry is part of later requests again' }];
    case 'rewind': return [{ type: 'mark', text: 'rewound: the conversation goes on from an earlier place' }];
    case 'strip': return [{ type: 'mark', text: `earlier thinking is no longer sent (${entry.reason})` }];
    default: return [];
  }
}

/** What a hook has to say to the model, on one line: all of it stands in the reminder that tells it. */
export function hookLine({ event, hook, text }: EntryOf<'hookContext'>): string {
  return truncateTo(sanitise(`${event} hook ${hook}: ${text.trim().replaceAll(/\s+/g, ' ')}`, { newlines: false, tabs: 4 }), HOOK_COLUMNS);
}

/** How a background task has ended, in one line. Undefined while it runs: the card of the call that began it says so. */
export function taskLine({ id, title, state, exitCode }: TaskRecord): string | undefined {
  if (state === 'running') return undefined;
  const code = exitCode === undefined ? '' : ` (exit code ${exitCode})`;
  const what = { done: 'is done', failed: `failed${code}`, stopped: 'was stopped', lost: 'was lost when the program ended' }[state];
  return `${id} ${what}: ${truncateTo(sanitise(title, { newlines: false, tabs: 4 }), TASK_COLUMNS)}`;
}

/** How a reply ended, where that needs saying; for other reasons the loop leaves a notice. */
export function endingOf({ stop }: EntryOf<'assistant'>): BlockBody | undefined {
  return stop === 'interrupted' ? { type: 'mark', text: 'interrupted' } : undefined;
}

/** The answer's text as it streams: text blocks one after the other. */
export function answerOf({ content }: EntryOf<'assistant'>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

export function thoughtsOf({ content }: EntryOf<'assistant'>): string {
  return content.map((block) => (block.type === 'thinking' ? block.thinking.trim() : '')).filter((text) => text !== '').join('\n\n');
}

export function saidOf({ source, form, parts }: EntryOf<'reminder'>): Said {
  return { source, form, text: parts.map((part) => (part.type === 'text' ? part.text : mediaLabel(part))).join('\n') };
}

function mediaLabel(part: Exclude<Part, { readonly type: 'text' }>): string {
  const size = part.width !== undefined && part.height !== undefined ? ` ${part.width}×${part.height}` : part.pages === undefined ? '' : ` ${count(part.pages, 'page')}`;
  return `[${part.mime === 'application/pdf' ? 'PDF' : 'image'} ${part.name}${size}]`;
}
