import { count, cutToLength } from '#lib/text.ts';
import type { ContentBlock, MediaPart } from '#domain/content.ts';
import type { Entry, EntryId, EntryOf } from '#domain/entry.ts';
import type { ModelRequest, Origin, Row } from '#domain/request.ts';
import { mediaIn, mediaTokens, partOf } from './media.ts';

/** A part of a request that has one origin: what is counted, and what the account says of it. */
export interface Piece extends Pick<Row, 'label' | 'group' | 'origin' | 'age'> {
  readonly entry?: EntryId;
  readonly text: string;
  /** Tokens that are known without counting: of pictures, and of what frames a message. */
  readonly fixed: number;
  /** Number of the block in the request, counted over all messages; -1 for system and tools. */
  readonly at: number;
}

/** What the API adds for a message, and for having tools at all. */
const PER_MESSAGE = 4;
const FOR_TOOLS = 350;
const LABEL = 60;

interface Look {
  readonly request: ModelRequest;
  readonly entries: ReadonlyMap<EntryId, Entry>;
  age(entry: EntryId | undefined): number;
}

/** Everything that a request holds, in its order. */
export function piecesOf(request: ModelRequest, log: readonly Entry[]): Piece[] {
  const look = lookAt(request, log);
  const pieces = headPieces(look, log);
  let at = 0;
  request.messages.forEach(({ content }, message) => {
    if (typeof content === 'string') return;
    content.forEach((block, place) => {
      const origin = request.origins[message]?.[place] ?? { what: 'note' as const, entries: [] };
      const made = blockPieces(block, origin, at, look);
      pieces.push(...made.map((piece, first) => (place === 0 && first === 0 ? { ...piece, fixed: piece.fixed + PER_MESSAGE } : piece)));
      at += 1;
    });
  });
  return pieces;
}

function lookAt(request: ModelRequest, log: readonly Entry[]): Look {
  const stepsBefore = new Map<EntryId, number>();
  let steps = 0;
  for (const { id, type } of log) {
    stepsBefore.set(id, steps);
    if (type === 'assistant') steps += 1;
  }
  return {
    request,
    entries: new Map(log.map((entry) => [entry.id, entry])),
    age: (id) => (id === undefined ? 0 : steps - (stepsBefore.get(id) ?? steps)),
  };
}

function headPieces({ request, age }: Look, log: readonly Entry[]): Piece[] {
  const head = log.findLast(({ type }) => type === 'head')?.id;
  const shared = { age: age(head), at: -1, ...(head === undefined ? {} : { entry: head }) };
  const system = request.system.map(({ text }, index): Piece => (
    { ...shared, label: index === 0 ? 'System prompt' : 'Added to the system prompt', group: 'system', origin: index === 0 ? 'pinion' : 'user', text, fixed: 0 }));
  if (request.tools.length === 0) return system;
  const plain = request.tools.filter((tool) => tool.defer_loading !== true);
  const used = new Set(request.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content.flatMap((block) => referencesIn(block)))));
  const unused = request.tools.filter(({ name, defer_loading: deferred }) => deferred === true && !used.has(name));
  return [
    ...system, { ...shared, label: count(plain.length, 'tool'), group: 'tools', origin: 'pinion', text: JSON.stringify(plain), fixed: FOR_TOOLS },
    ...unused.map(({ name }): Piece => ({ ...shared, label: `${shortened(name)} (on demand, not loaded now)`, group: 'tools', origin: 'pinion', text: '', fixed: 0 })),
  ];
}

/** Names of the tools that a result has loaded. */
function referencesIn(block: ContentBlock): readonly string[] {
  if (block.type !== 'tool_result' || !Array.isArray(block.content)) return [];
  return block.content.flatMap((part) => (part.type === 'tool_reference' ? [part.tool_name] : []));
}

function blockPieces(block: ContentBlock, origin: Origin, at: number, look: Look): Piece[] {
  const first = origin.entries[0];
  const entry = first === undefined ? undefined : look.entries.get(first);
  const base = { at, age: look.age(first), fixed: 0, ...(first === undefined ? {} : { entry: first }) };
  const parts = origin.entries.flatMap((id) => mediaIn(look.entries.get(id)));
  if (block.type === 'image' || block.type === 'document') return [mediaPiece(block, parts, origin.what, base, look)];
  if (block.type === 'tool_result') return resultPieces(block, origin, parts, base, look);
  if (origin.what === 'reminder') return reminderPieces(block.type === 'text' ? block.text : '', origin.entries, base, look);
  return [{ ...base, ...describe(block, origin, entry), text: textOf(block) }];
}

type Base = Pick<Piece, 'at' | 'age' | 'fixed'> & { readonly entry?: EntryId };

function resultPieces(block: Extract<ContentBlock, { type: 'tool_result' }>, origin: Origin, parts: readonly MediaPart[], base: Base, look: Look): Piece[] {
  const results = origin.entries.map((id) => look.entries.get(id));
  const result = results.find((entry) => entry?.type === 'toolResult');
  const reminders = origin.entries.filter((id) => look.entries.get(id)?.type === 'reminder');
  const content = typeof block.content === 'string' ? [] : block.content ?? [];
  const spoken = reminders.length > 0 ? content.findLastIndex(({ type }) => type === 'text') : -1;
  const own = content.flatMap((part, at) => (part.type === 'text' && at !== spoken ? [part.text] : [])).join('\n');
  const said = content[spoken];
  const label = result?.type === 'toolResult' ? shortened(result.result.card.title || result.tool) : 'A call without result';
  return [
    { ...base, label, group: 'tool results', origin: result?.type === 'toolResult' ? result.tool : 'pinion', text: own, fixed: 8 },
    // What a reference stands for is rendered where it stands.
    ...referencesIn(block).map((name): Piece => ({ ...base, label: `${shortened(name)} (on demand)`, group: 'tools', origin: 'ToolSearch', text: JSON.stringify(look.request.tools.find((tool) => tool.name === name) ?? ''), fixed: 0 })),
    ...content.flatMap((part) => (part.type === 'image' || part.type === 'document' ? [mediaPiece(part, parts, 'toolResult', base, look)] : [])),
    ...(said?.type === 'text' ? reminderPieces(said.text, reminders, base, look) : []),
  ];
}

/** One piece a source. The frame of the block goes with the first. */
function reminderPieces(text: string, ids: readonly EntryId[], base: Base, { entries, age }: Look): Piece[] {
  const said = ids.map((id) => entries.get(id)).filter((entry): entry is EntryOf<'reminder'> => entry?.type === 'reminder');
  const [only, ...more] = said;
  if (only === undefined) return [{ ...base, label: 'A reminder', group: 'reminders', origin: 'pinion', text }];
  const pieces = said.map((entry): Piece => ({
    ...base, ...reminderLabel(entry), age: age(entry.id), entry: entry.id, text: entry.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n'),
  }));
  const bodies = pieces.reduce((sum, piece) => sum + piece.text.length, 0);
  // With one source the block is its own; and so it is counted where an exclusion left only a stub of what was said.
  if (more.length === 0 || bodies > text.length) return pieces.map((piece, index) => ({ ...piece, text: index === 0 ? text : '' }));
  return pieces.map((piece, index) => (index === 0 ? { ...piece, fixed: piece.fixed + 10 } : piece));
}

function reminderLabel({ source, form }: EntryOf<'reminder'>): Pick<Piece, 'label' | 'group' | 'origin'> {
  const group = source === 'pins' ? 'pins' : source === 'todos' || source === 'todo_reminders' ? 'todos' : 'reminders';
  return { label: form === 'full' ? source : `${source} (${form})`, group, origin: source };
}

function mediaPiece(block: Extract<ContentBlock, { type: 'image' | 'document' }>, parts: readonly MediaPart[], what: Origin['what'], base: Base, { request }: Look): Piece {
  const part = partOf(block, parts);
  const guess = { mime: block.type === 'document' ? 'application/pdf' as const : 'image/png' as const, blob: { bytes: block.source.type === 'base64' ? block.source.data.length : 0 } };
  return { ...base, label: part === undefined ? block.type : shortened(part.name), group: 'media', origin: what, text: '', fixed: mediaTokens(part ?? guess, request.model) };
}

const GROUPS: Readonly<Record<Origin['what'], Row['group']>> = {
  prompt: 'prompts', queued: 'prompts', reminder: 'reminders', assistant: 'answers', toolResult: 'tool results', summary: 'summary', shell: 'shell', note: 'reminders',
};

function describe(block: ContentBlock, { what }: Origin, entry: Entry | undefined): Pick<Piece, 'label' | 'group' | 'origin'> {
  const group = GROUPS[what];
  if (what === 'assistant') return { label: entry?.type === 'assistant' ? answerLabel(entry) : 'answer', group, origin: 'model' };
  if (what === 'summary') return { label: 'Summary of what came before', group, origin: 'compaction' };
  if (what === 'note') return { label: 'A note on the conversation', group, origin: 'pinion' };
  if (what === 'shell') return { label: entry?.type === 'shell' ? shortened(`!${entry.command}`) : 'shell', group, origin: 'user' };
  return { label: block.type === 'text' ? shortened(block.text) : what, group, origin: what === 'queued' ? 'user (queued)' : 'user' };
}

function answerLabel({ content }: EntryOf<'assistant'>): string {
  const text = content.flatMap((block) => (block.type === 'text' && block.text.trim() !== '' ? [block.text] : []))[0];
  const calls = content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []));
  return shortened(text ?? (calls.length > 0 ? `calls ${calls.join(', ')}` : 'thinking'));
}

/** What of a block costs tokens. Thinking that is not shown is in its signature. */
function textOf(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'thinking') return block.thinking === '' ? block.signature.slice(0, Math.ceil(block.signature.length / 3)) : block.thinking;
  if (block.type === 'redacted_thinking') return block.data.slice(0, Math.ceil(block.data.length / 3));
  return block.type === 'tool_use' ? `${block.name} ${JSON.stringify(block.input)}` : JSON.stringify(block);
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= LABEL ? line : `${cutToLength(line, LABEL - 1)}…`;
}
