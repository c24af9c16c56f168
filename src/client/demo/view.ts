import { afterCall, afterTold, type Done, type InView, NOTHING } from './in-view.ts';
import { type Told, toldIn } from './told.ts';

/** A request as the demo model sees it: plain JSON, read with care, for any compatible client may have sent it. */
export interface DemoRequest {
  readonly model?: string;
  readonly messages: readonly { readonly role: string; readonly content: string | readonly DemoBlock[] }[];
  readonly tools?: readonly { readonly name: string; readonly input_schema?: unknown }[];
  readonly system?: unknown;
}

export interface DemoBlock {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string | readonly DemoBlock[];
  readonly is_error?: boolean;
}

/** What the user said, what was called for it, and the last that was answered. */
export interface Exchange {
  readonly ask: string;
  readonly calls: readonly string[];
  readonly answer: string;
}

/** What a rule looks at. */
export interface View {
  /** The words to answer now. */
  readonly ask: string;
  /** Calls made for them, oldest first. */
  readonly done: readonly Done[];
  readonly tools: ReadonlySet<string>;
  /** What was said before, since the last summary. */
  readonly before: readonly Exchange[];
  readonly summary: string | undefined;
  readonly inView: InView;
  /** All that reminders told, oldest first; `fresh` is what came with the last words of the user or later. */
  readonly told: readonly Told[];
  readonly fresh: readonly Told[];
}

/** What the user said that has no finished answer yet. */
export interface Open {
  readonly text: string;
  /** Other words stand behind it and no result before it: it was queued, or interrupted before anything was done for it. */
  readonly loose: boolean;
}

/** A request taken apart. */
export interface Conversation extends Omit<View, 'ask' | 'done'> {
  /** The prompt, and what was queued while it was worked on. */
  readonly open: readonly Open[];
  /** Calls since the last finished answer. */
  readonly calls: readonly Done[];
  /** What reminders told since then. */
  readonly news: readonly Told[];
}

const REMINDER = /^<system-reminder>\n([\s\S]*)\n<\/system-reminder>$/;
const SUMMARY = 'The conversation before this point was replaced by this summary';
const INTERRUPTED = /^The user interrupted your reply/;
/** Stubs that stand where something else stood. */
const STUB = /^(?:\[[^\n]*: (?:left out of the conversation|its contents are no longer stored)\]|\(taken out of the conversation by the user\))$/;
const SHELL = /^I ran this command myself:\n\$ ([^\n]*)\n([\s\S]*)$/;

interface Walk {
  readonly exchanges: Exchange[];
  readonly told: Told[];
  open: Open[];
  calls: Done[];
  /** Length of `told` when the user last spoke. */
  freshFrom: number;
  /** Length of `told` at the last finished answer. */
  answeredAt: number;
  inView: InView;
  summary: string | undefined;
}

/** Goes through the messages once and keeps what the rules need. Throws nothing for JSON of whatever shape that has messages. */
export function viewOf({ messages, tools = [] }: DemoRequest): Conversation {
  const walk: Walk = { exchanges: [], told: [], open: [], calls: [], freshFrom: 0, answeredAt: 0, inView: NOTHING, summary: undefined };
  const results = new Map(messages.flatMap(({ content }) => blocksOf(content)).flatMap((block) => (block.type === 'tool_result' ? [[block.tool_use_id, block] as const] : [])));
  for (const { role, content } of messages) {
    if (role === 'assistant') takeAnswer(walk, blocksOf(content), results);
    else takeWords(walk, blocksOf(content));
  }
  return {
    open: walk.open, calls: walk.calls, summary: walk.summary, inView: walk.inView,
    tools: new Set(tools.map(({ name }) => name)),
    before: walk.exchanges.slice(0, walk.exchanges.length - walk.open.length),
    told: walk.told, fresh: walk.told.slice(walk.freshFrom), news: walk.told.slice(walk.answeredAt),
  };
}

function takeAnswer(walk: Walk, blocks: readonly DemoBlock[], results: ReadonlyMap<string | undefined, DemoBlock>): void {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('\n').trim();
  const made = blocks.flatMap((block): Done[] => (block.type === 'tool_use' ? [doneOf(block, results.get(block.id))] : []));
  const last = walk.exchanges.at(-1);
  if (last !== undefined) walk.exchanges[walk.exchanges.length - 1] = { ...last, calls: [...last.calls, ...made.map(nameOf)], answer: text === '' ? last.answer : text };
  for (const call of made) walk.inView = afterCall(walk.inView, call);
  walk.calls = made.length === 0 ? [] : [...walk.calls, ...made];
  if (made.length > 0) return;
  walk.open = [];
  walk.answeredAt = walk.told.length;
}

function takeWords(walk: Walk, blocks: readonly DemoBlock[]): void {
  const words = blocks.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : []));
  const asks = words.filter(isAsk).map((text) => text.trim());
  if (asks.length > 0) walk.freshFrom = walk.told.length;
  const results = blocks.some(({ type }) => type === 'tool_result');
  for (const block of blocks) {
    const text = block.text ?? '';
    if (block.type === 'tool_result') for (const reminder of partsOf(block).flatMap(reminderIn)) hear(walk, reminder, asks);
    else if (block.type !== 'text') continue;
    else if (text.startsWith(SUMMARY)) walk.summary = text.split('\n').slice(1).join('\n').trim();
    else if (isAsk(text)) {
      // Sent again after a failure: said once all the same.
      if (!results && walk.open.at(-1)?.text === text.trim()) continue;
      walk.exchanges.push({ ask: text.trim(), calls: [], answer: '' });
      walk.open = [...walk.open.map((one) => ({ ...one, loose: one.loose || !results })), { text: text.trim(), loose: false }];
    } else for (const reminder of [...reminderIn(text), ...shellIn(text)]) hear(walk, reminder, asks);
  }
}

function hear(walk: Walk, reminder: string, asks: readonly string[]): void {
  if (INTERRUPTED.test(reminder)) {
    walk.open = [];
    walk.calls = [];
    return;
  }
  for (const told of toldIn(reminder)) {
    walk.told.push(told);
    walk.inView = afterTold(walk.inView, told, asks);
  }
}

function isAsk(text: string): boolean {
  return text.trim() !== '' && !REMINDER.test(text) && !text.startsWith(SUMMARY) && !STUB.test(text) && !SHELL.test(text);
}

function reminderIn(text: string): readonly string[] {
  const body = REMINDER.exec(text)?.[1];
  return body === undefined ? [] : [body];
}

/** A command that the user ran is in view like a pinned one. */
function shellIn(text: string): readonly string[] {
  const [, command, output] = SHELL.exec(text) ?? [];
  return command === undefined || output === undefined ? [] : [`Output of "${command.replace(/["\\]/g, String.raw`\$&`)}":\n${output}`];
}

function doneOf(block: DemoBlock, result: DemoBlock | undefined): Done {
  const input = typeof block.input === 'object' && block.input !== null ? (block.input as Readonly<Record<string, unknown>>) : {};
  const text = result === undefined ? '' : partsOf(result).filter((part) => !REMINDER.test(part)).join('\n').trimEnd();
  return { tool: block.name ?? '', input, text, failed: result?.is_error === true };
}

function nameOf({ tool, input }: Done): string {
  const what = [input['file_path'], input['command'], input['pattern']].find((value) => typeof value === 'string');
  return what === undefined ? tool : `${tool} ${what}`;
}

function partsOf({ content = [] }: DemoBlock): readonly string[] {
  return blocksOf(content).flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : []));
}

function blocksOf(content: unknown): readonly DemoBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter((block: unknown): block is DemoBlock => typeof block === 'object' && block !== null) : [];
}
