/** A request as the demo model sees it: plain JSON, read with care, for any compatible client may have sent it. */
export interface DemoRequest {
  readonly model?: string;
  readonly messages: readonly { readonly role: string; readonly content: string | readonly DemoBlock[] }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly system?: unknown;
  readonly stream?: boolean;
  readonly max_tokens?: number;
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

/** A call of this turn with what came back. */
export interface Done {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly failed: boolean;
}

/** A document that stands in a reminder: a pin, a mention, an instruction file. */
export interface Shown {
  readonly name: string;
  readonly body: string;
}

/** What a rule looks at. */
export interface View {
  /** The user's last words. */
  readonly ask: string;
  /** Calls made since then, oldest first. */
  readonly done: readonly Done[];
  readonly tools: ReadonlySet<string>;
  /** Every user text of the conversation, oldest first. */
  readonly asks: readonly string[];
  /** Reminder texts, oldest first; `fresh` are those of the last user message. */
  readonly reminders: readonly string[];
  readonly fresh: readonly string[];
  /** Documents of all reminders; a later one of a name takes the place of an earlier. */
  readonly documents: readonly Shown[];
  /** Documents that came with the last user message. */
  readonly freshDocuments: readonly Shown[];
  readonly summary: string | undefined;
  /** Everything that reminders and tool results told, in order: the todo list is read from it. */
  readonly told: readonly string[];
}

const REMINDER = /<system-reminder>\n([\s\S]*?)\n<\/system-reminder>/g;
const DOCUMENT = /^File "((?:[^"\\\n]|\\.)*)": [^\n]*\n<(document-[a-z0-9-]+)>\n([\s\S]*?)\n<\/\2>/gm;
const SUMMARY = 'The conversation before this point was replaced by this summary';

const blocksOf = (content: string | readonly DemoBlock[]): readonly DemoBlock[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : content);
const textOf = (content: string | readonly DemoBlock[] | undefined): string => (content === undefined ? '' : blocksOf(content).map((block) => block.text ?? '').join('\n'));

export function viewOf(request: DemoRequest): View {
  const messages = request.messages.map(({ role, content }) => ({ role, blocks: blocksOf(content) }));
  const isAsk = (block: DemoBlock): boolean => block.type === 'text' && isWords(block.text ?? '');
  const last = messages.findLastIndex(({ role, blocks }) => role === 'user' && blocks.some(isAsk));
  const asksIn = (blocks: readonly DemoBlock[]): readonly string[] => blocks.filter(isAsk).map(({ text = '' }) => text.trim());
  const reminders = messages.map(({ role, blocks }) => (role === 'user' ? blocks.flatMap(remindersIn) : []));
  const fresh = (last === -1 ? reminders : reminders.slice(last)).flat();
  const documents = new Map(documentsIn(reminders.flat()).map((document) => [document.name, document]));
  return {
    ask: last === -1 ? '' : (asksIn(messages[last]?.blocks ?? []).at(-1) ?? ''),
    done: callsAfter(messages, last),
    tools: new Set((request.tools ?? []).map(({ name }) => name)),
    asks: messages.flatMap(({ role, blocks }) => (role === 'user' ? asksIn(blocks) : [])),
    reminders: reminders.flat(),
    fresh,
    documents: [...documents.values()],
    freshDocuments: documentsIn(fresh),
    summary: messages.flatMap(({ blocks }) => blocks).find(({ text }) => text?.startsWith(SUMMARY) === true)?.text,
    told: messages.flatMap(({ role, blocks }) => (role === 'user' ? blocks.flatMap(({ type, text = '', content }) => (type === 'tool_result' ? [textOf(content)] : isWords(text) ? [] : [text])) : [])),
  };
}

function isWords(text: string): boolean {
  return text.trim() !== '' && !text.startsWith('<system-reminder>') && !text.startsWith(SUMMARY) && !/^\[[^\n]*\]$/.test(text.trim());
}

function remindersIn(block: DemoBlock): readonly string[] {
  const text = block.type === 'tool_result' ? textOf(block.content) : (block.text ?? '');
  return [...text.matchAll(REMINDER)].map(([, body = '']) => body);
}

function documentsIn(reminders: readonly string[]): readonly Shown[] {
  return reminders.flatMap((text) => [...text.matchAll(DOCUMENT)].map(([, name = '', , body = '']) => ({ name, body })));
}

function callsAfter(messages: readonly { role: string; blocks: readonly DemoBlock[] }[], last: number): readonly Done[] {
  const after = messages.slice(last + 1);
  const results = new Map(after.flatMap(({ blocks }) => blocks).flatMap((block) => (block.type === 'tool_result' ? [[block.tool_use_id, block] as const] : [])));
  return after.flatMap(({ blocks }) => blocks).flatMap((block): Done[] => {
    const result = results.get(block.id);
    if (block.type !== 'tool_use' || result === undefined) return [];
    const input = typeof block.input === 'object' && block.input !== null ? (block.input as Readonly<Record<string, unknown>>) : {};
    return [{ tool: block.name ?? '', input, text: textOf(result.content).replace(REMINDER, '').trimEnd(), failed: result.is_error === true }];
  });
}
