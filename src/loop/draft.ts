import type { ContentBlock, MessageParam } from '#domain/content.ts';
import type { Entry, EntryId, EntryOf } from '#domain/entry.ts';
import type { BlobPort } from '#domain/ports.ts';
import { renderReminder } from '#domain/reminder.ts';
import type { Origin } from '#domain/request.ts';
import type { Amendments } from './amend.ts';
import {
  assistantView, clean, EMPTY_PROMPT, isBlank, isThinking, LEFT_OUT, mediaBlock, mediaOf, NO_RESULT, resultContent, type ResultContent,
  shellText, summaryText, textBlock, textsOf, type WireCall,
} from './blocks.ts';

interface Made {
  readonly block: ContentBlock;
  readonly origin: Origin;
}

interface Message {
  readonly role: 'user' | 'assistant';
  made: Made[];
}

type OpenPrompt = EntryOf<'prompt' | 'queued'>;

/** A prompt with the reminders of its moment; without a prompt, only what the program and the queue have to say. */
interface Group {
  readonly prompt: OpenPrompt | undefined;
  readonly reminders: EntryOf<'reminder'>[];
}

interface OpenCall extends WireCall {
  readonly asked: EntryId;
  result?: EntryOf<'toolResult'>;
}

interface Result {
  readonly id: string;
  readonly content: ResultContent[];
  readonly isError: boolean;
  readonly entries: EntryId[];
}

const INTERRUPTED = renderReminder(['The user interrupted your reply before it was finished. Do not go on with it unless the user asks.']);
const BEGINNING = renderReminder(['The beginning of the conversation is not shown.']);

/** Takes entries in the order of the log and makes messages of them; holds what is not yet placed. */
export class Draft {
  readonly #amendments: Amendments;
  readonly #blobs: BlobPort;
  readonly #loadable: ReadonlySet<string>;
  readonly #messages: Message[] = [];
  readonly #ids = new Set<string>();
  /** Calls of the last answer, and the reminders that go into their results. */
  #calls: OpenCall[] = [];
  #folded: EntryOf<'reminder'>[] = [];
  /** Reminders of a step whose results could hold no text: they go with what comes next. */
  #held: EntryOf<'reminder'>[] = [];
  #group: Group | undefined;
  /** What the next prompt brings along: commands that the user ran, and media that no result could hold. */
  #shells: EntryOf<'shell'>[] = [];
  #waiting: Made[] = [];
  #answered = 0;

  constructor(amendments: Amendments, blobs: BlobPort, loadable: ReadonlySet<string>) {
    this.#amendments = amendments;
    this.#blobs = blobs;
    this.#loadable = loadable;
  }

  summary(entry: EntryOf<'compaction'>, open: OpenPrompt | undefined): void {
    this.#push('user', [{ block: textBlock(summaryText(entry.summary)), origin: { what: 'summary', entries: [entry.id] } }]);
    if (open !== undefined) this.#group = { prompt: open, reminders: [] };
  }

  prompt(entry: EntryOf<'prompt'>): void {
    this.closeGroup();
    this.#settleCalls();
    this.#group = { prompt: entry, reminders: [] };
  }

  reminder(entry: EntryOf<'reminder'>): void {
    if (this.#group !== undefined) this.#group.reminders.push(entry);
    else if (entry.moment === 'step' && this.#calls.length > 0) this.#folded.push(entry);
    else {
      this.#settleCalls();
      this.#group = { prompt: undefined, reminders: [entry] };
    }
  }

  shell(entry: EntryOf<'shell'>): void {
    this.#shells.push(entry);
  }

  toolResult(entry: EntryOf<'toolResult'>): void {
    const call = this.#calls.find(({ raw, result }) => raw === entry.callId && result === undefined);
    if (call !== undefined) call.result = entry;
  }

  assistant(entry: EntryOf<'assistant'>): void {
    this.closeGroup();
    this.#settleCalls();
    this.#answered = this.#messages.reduce((sum, { made }) => sum + made.length, 0);
    const how = { stripped: this.#amendments.stripped(entry.id), leftOut: this.#leavesOut(entry) };
    const view = assistantView(entry, how, (raw) => this.#uniqueId(raw));
    if (this.#messages.length === 0) this.#push('user', [note(BEGINNING)]);
    this.#push('assistant', view.blocks.map((block): Made => ({ block, origin: { what: 'assistant', entries: [entry.id] } })));
    this.#calls = view.calls.map((call) => ({ ...call, asked: entry.id }));
    if (entry.stop === 'interrupted') this.#push('user', [note(INTERRUPTED, entry.id)]);
  }

  /** Places the last prompt with its reminders; reminders that come later no longer join it. */
  closeGroup(): void {
    if (this.#group === undefined) return;
    const { prompt, reminders } = this.#group;
    const held = this.#held;
    this.#group = undefined;
    this.#held = [];
    const own = prompt === undefined ? { media: [], text: [] } : this.#promptMade(prompt);
    const ran = this.#shells.map((entry): Made => ({ block: textBlock(shellText(entry, this.#leavesOut(entry))), origin: { what: 'shell', entries: [entry.id] } }));
    this.#push('user', [
      ...ran, ...this.#waiting, ...this.#reminderMade([...held, ...reminders]), ...reminders.flatMap((entry) => this.#mediaMade(entry)), ...own.media,
      ...reminders.flatMap((entry) => this.#wordsMade(entry)), ...own.text,
    ]);
    this.#shells = [];
    this.#waiting = [];
  }

  finish(): { readonly messages: MessageParam[]; readonly origins: Origin[][]; readonly answered: number } {
    this.closeGroup();
    this.#settleCalls();
    if (this.#messages.length === 0) this.#push('user', [note(BEGINNING)]);
    return {
      messages: this.#messages.map(({ role, made }) => ({ role, content: made.map(({ block }) => block) })),
      origins: this.#messages.map(({ made }) => made.map(({ origin }) => origin)),
      answered: this.#answered,
    };
  }

  /** Answers every call of the last answer, in order, and folds the step's reminders into the last result. */
  #settleCalls(): void {
    if (this.#calls.length === 0) return;
    const results = this.#calls.map((call) => this.#resultOf(call));
    const open = results.filter(({ content }) => content.every(({ type }) => type !== 'tool_reference'));
    const last = open.at(-1);
    const sound = open.findLast(({ isError }) => !isError);
    const media = this.#folded.flatMap((entry) => this.#mediaMade(entry));
    if (sound === undefined) this.#waiting.push(...media);
    else foldInto(sound, media);
    const told = [...this.#held, ...this.#folded];
    if (last !== undefined) foldInto(last, this.#reminderMade(told));
    this.#held = last === undefined ? told : [];
    const words = this.#folded.flatMap((entry) => this.#wordsMade(entry));
    this.#calls = [];
    this.#folded = [];
    this.#push('user', [...results.map(resultMade), ...words]);
  }

  #resultOf({ id, asked, result }: OpenCall): Result {
    if (result === undefined) return { id, content: [textBlock(NO_RESULT)], isError: true, entries: [asked] };
    const leftOut = { whole: this.#leavesOut(result), media: this.#leavesOutMedia(result) };
    return { id, ...resultContent(result, this.#blobs, leftOut, this.#loadable), entries: [result.id] };
  }

  #push(role: Message['role'], made: readonly Made[]): void {
    if (made.length === 0) return;
    if (role === 'user') sealAnswer(this.#messages);
    const last = this.#messages.at(-1);
    if (last?.role === role) last.made.push(...made);
    else this.#messages.push({ role, made: [...made] });
  }

  #uniqueId(raw: string): string {
    const base = raw.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call';
    let id = base;
    for (let n = 2; this.#ids.has(id); n += 1) id = `${base}_${n}`;
    this.#ids.add(id);
    return id;
  }

  #leavesOut(entry: Entry): boolean {
    return this.#amendments.entries.has(entry.id);
  }

  #leavesOutMedia(entry: Entry): boolean {
    return this.#leavesOut(entry) || this.#amendments.media.has(entry.id);
  }

  #bodiesOf(entry: EntryOf<'reminder'>): string[] {
    const texts = textsOf(entry.parts);
    return this.#leavesOut(entry) && texts.length > 0 ? [LEFT_OUT] : texts;
  }

  #reminderMade(reminders: readonly EntryOf<'reminder'>[]): Made[] {
    const speaking = reminders.filter((entry) => this.#bodiesOf(entry).length > 0);
    if (speaking.length === 0) return [];
    const text = renderReminder(speaking.flatMap((entry) => this.#bodiesOf(entry)));
    return [{ block: textBlock(text), origin: { what: 'reminder', entries: speaking.map(({ id }) => id) } }];
  }

  #mediaMade(entry: EntryOf<'reminder'>): Made[] {
    return mediaOf(entry.parts).map((part) => ({
      block: mediaBlock(part, this.#blobs, this.#leavesOutMedia(entry)), origin: { what: 'reminder', entries: [entry.id] },
    }));
  }

  #wordsMade(entry: EntryOf<'reminder'>): Made[] {
    return (entry.userTexts ?? []).filter((text) => !isBlank(text)).map((text) => ({
      block: textBlock(this.#leavesOut(entry) ? LEFT_OUT : clean(text)), origin: { what: 'queued', entries: [entry.id] },
    }));
  }

  #promptMade(entry: OpenPrompt): { readonly media: readonly Made[]; readonly text: readonly Made[] } {
    const made = (block: ContentBlock): Made => ({ block, origin: { what: entry.type, entries: [entry.id] } });
    if (this.#leavesOut(entry)) return { media: [], text: [made(textBlock(LEFT_OUT))] };
    const parts = entry.type === 'prompt' ? entry.media ?? [] : [];
    const media = parts.map((part) => made(mediaBlock(part, this.#blobs, this.#leavesOutMedia(entry))));
    if (!isBlank(entry.text)) return { media, text: [made(textBlock(clean(entry.text)))] };
    return { media, text: media.length > 0 ? [] : [made(textBlock(EMPTY_PROMPT))] };
  }
}

function foldInto(result: Result, made: readonly Made[]): void {
  for (const { block, origin } of made) {
    if (block.type !== 'text' && block.type !== 'image' && block.type !== 'document') continue;
    result.content.push(block);
    result.entries.push(...origin.entries);
  }
}

function resultMade({ id, content, isError, entries }: Result): Made {
  return {
    block: { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) },
    origin: { what: 'toolResult', entries: [...new Set(entries)] },
  };
}

function note(text: string, entry?: EntryId): Made {
  return { block: textBlock(text), origin: { what: 'note', entries: entry === undefined ? [] : [entry] } };
}

/** Once the user speaks after it, an answer may no longer hold a server-side call without its result, nor a result without its call. */
function sealAnswer(messages: Message[]): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return;
  const asked = new Set(last.made.flatMap(({ block }) => (block.type === 'server_tool_use' ? [block.id] : [])));
  const given = new Set(last.made.flatMap(({ block }) => serverResultOf(block)));
  last.made = last.made.filter(({ block }) => (block.type === 'server_tool_use' ? given.has(block.id) : serverResultOf(block).every((id) => asked.has(id))));
  if (last.made.every(({ block }) => isThinking(block))) messages.pop();
}

function serverResultOf(block: ContentBlock): string[] {
  return block.type !== 'tool_result' && 'tool_use_id' in block ? [block.tool_use_id] : [];
}
