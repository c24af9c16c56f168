import type { ContentBlock as AcpContent, SessionUpdate } from '@agentclientprotocol/sdk';
import type { Json } from '#lib/brand.ts';
import { createSanitiser, sanitise } from '#lib/terminal.ts';
import type { MediaPart } from '#domain/content.ts';
import type { Entry, EntryId, EntryOf, Event } from '#domain/entry.ts';
import { faultLine } from '#domain/fault.ts';
import { todosOf } from '#domain/folds.ts';
import { onOneLine, stateOf } from '#domain/task-words.ts';
import type { Call, CallId } from '#domain/tool.ts';
import { cardMarkdown, fence } from './markdown.ts';
import { planOfText, planOfTodos } from './plan.ts';
import { announced, finished, progressing, shown } from './tool-calls.ts';

export interface NarratorOptions {
  /** Absolute; paths of calls are measured from it. */
  readonly cwd: () => string;
  /** The session's log, as it stands. */
  readonly log: () => readonly Entry[];
  /** Whether the client shows notices, and compactions, as such. */
  readonly notices: boolean;
  readonly compactions: boolean;
  /** Bytes of a picture, for a conversation that is shown again. */
  readonly picture: (part: MediaPart) => Uint8Array | undefined;
}

/** What happens in a session, as the protocol tells it. */
export interface Narrator {
  tell(event: Event): readonly SessionUpdate[];
  /** A whole stored conversation, prompts too. */
  retell(entries: readonly Entry[]): readonly SessionUpdate[];
}

type Level = 'info' | 'warning' | 'error';

export function createNarrator(options: NarratorOptions): Narrator {
  const live = new Live(options);
  return {
    tell: (event) => live.tell(event),
    retell: (entries) => {
      const again = new Live(options);
      return standing(entries).flatMap((entry) => again.retell(entry, entries));
    },
  };
}

/** What a rewind took back is not shown again. */
function standing(entries: readonly Entry[]): readonly Entry[] {
  const now: Entry[] = [];
  for (const entry of entries) {
    const at = entry.type === 'rewind' ? now.findIndex(({ id }) => id === entry.to) : -1;
    if (at === -1) now.push(entry);
    else now.splice(at + 1);
  }
  return now;
}

const message = (text: string): SessionUpdate => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const thought = (text: string): SessionUpdate => ({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } });

/** Follows one conversation: which calls were told, and what of the reply under way was shown already. */
class Live {
  readonly #options: NarratorOptions;
  readonly #calls = new Map<string, Call>();
  /** Of the reply that is being written. */
  #streamed: { readonly text: boolean; readonly thinking: boolean } = { text: false, thinking: false };
  #clean = createSanitiser();
  /** Of a compaction that is under way. */
  #compacting: string | undefined;
  #compactions = 0;

  constructor(options: NarratorOptions) {
    this.#options = options;
  }

  tell(event: Event): readonly SessionUpdate[] {
    switch (event.type) {
      case 'entry': return this.entry(event.entry);
      case 'textDelta': {
        const text = this.#clean.push(event.text);
        if (text !== '') this.#streamed = { ...this.#streamed, text: true };
        return text === '' ? [] : [message(text)];
      }
      case 'thinkingDelta': {
        if (event.text === '') return [];
        this.#streamed = { ...this.#streamed, thinking: true };
        return [thought(sanitise(event.text))];
      }
      case 'discarded': {
        const began = this.#streamed.text;
        this.#renew();
        return began ? [message('\n\n*(The answer broke off and is asked for again.)*\n\n')] : [];
      }
      case 'toolStarted': return this.#started(event);
      case 'toolProgress': return [{ sessionUpdate: 'tool_call_update', ...progressing(event.callId, this.#calls.get(event.callId), event.text) }];
      case 'waiting': return this.#notice('info', `${event.reason}; trying again in ${Math.ceil(event.ms / 1000)} s`);
      case 'doing': return this.#doing(event.what);
      case 'fault': return this.#notice('warning', faultLine(event));
      case 'callDelta': return [];
    }
  }

  entry(entry: Entry): readonly SessionUpdate[] {
    switch (entry.type) {
      case 'assistant': return this.#answer(entry);
      case 'toolResult': return this.#result(entry);
      case 'attach': return entry.attachment.kind === 'todo' ? [{ sessionUpdate: 'plan', ...planOfTodos(entry.attachment.items) }] : [];
      case 'plan': return entry.state === 'approved' && todosOf(this.#options.log()).length === 0 ? [{ sessionUpdate: 'plan', ...planOfText(entry.text) }] : [];
      case 'mode': return [{ sessionUpdate: 'current_mode_update', currentModeId: entry.mode }];
      case 'compaction': return this.#compacted(entry);
      case 'command': return [message(`${cardMarkdown(entry.card)}\n\n`)];
      case 'shell': return [shellUpdate(entry)];
      case 'notice': return this.#notice(entry.level, entry.text);
      case 'task': return entry.task.state === 'running' ? [] : this.#notice('info', `${entry.task.id} ${stateOf(entry.task)}: ${onOneLine(entry.task.title, 120)}`);
      default: return [];
    }
  }

  retell(entry: Entry, log: readonly Entry[]): readonly SessionUpdate[] {
    switch (entry.type) {
      case 'prompt': return [...said(entry.shown ?? entry.text), ...(entry.media ?? []).flatMap((part) => this.#picture(part))];
      case 'queued': return log.some((other) => other.type === 'unqueued' && other.target === entry.id) ? [] : said(entry.text);
      case 'command': return [...said(entry.line), ...this.entry(entry)];
      case 'attach': return entry === lastTodos(log) ? this.entry(entry) : [];
      // What went by is no news.
      case 'mode':
      case 'task': return [];
      case 'notice': return entry.level === 'info' ? [] : [message(noticeText(entry.level, entry.text))];
      default: return this.entry(entry);
    }
  }

  #renew(): void {
    this.#streamed = { text: false, thinking: false };
    this.#clean = createSanitiser();
  }

  #started({ call, card }: Extract<Event, { readonly type: 'toolStarted' }>): readonly SessionUpdate[] {
    return [...this.#announce(call), { sessionUpdate: 'tool_call_update', ...shown(call, card, 'in_progress', this.#options.cwd()) }];
  }

  #announce(call: Call): readonly SessionUpdate[] {
    if (this.#calls.has(call.id)) return [];
    this.#calls.set(call.id, call);
    return [{ sessionUpdate: 'tool_call', ...announced(call, this.#options.cwd()) }];
  }

  #answer({ content }: EntryOf<'assistant'>): readonly SessionUpdate[] {
    const { text, thinking } = this.#streamed;
    const rest = this.#clean.end();
    this.#renew();
    const tail = rest === '' ? [] : [message(rest)];
    return [...tail, ...content.flatMap((block): readonly SessionUpdate[] => {
      if (block.type === 'text') return text || block.text === '' ? [] : [message(sanitise(block.text))];
      if (block.type === 'thinking') return thinking || block.thinking === '' ? [] : [thought(sanitise(block.thinking))];
      return block.type === 'tool_use' ? this.#announce({ id: block.id as CallId, tool: block.name, input: block.input as Json }) : [];
    })];
  }

  #result({ callId, tool, result }: EntryOf<'toolResult'>): readonly SessionUpdate[] {
    const call = this.#calls.get(callId) ?? { id: callId, tool, input: {} };
    return [...this.#announce(call), { sessionUpdate: 'tool_call_update', ...finished(call, result, this.#options.cwd()) }];
  }

  #doing(what: string): readonly SessionUpdate[] {
    if (what !== 'compacting' || !this.#options.compactions) return this.#notice('info', `${what} …`);
    this.#compacting = this.#nextCompaction();
    return [{ sessionUpdate: 'compaction_update', compactionId: this.#compacting, status: 'in_progress' }];
  }

  #compacted(entry: EntryOf<'compaction'>): readonly SessionUpdate[] {
    if (!this.#options.compactions) return [message('*The conversation so far was replaced by a summary; pins and todos are kept.*\n\n')];
    const compactionId = this.#compacting ?? this.#nextCompaction();
    this.#compacting = undefined;
    return [{ sessionUpdate: 'compaction_update', compactionId, status: 'completed', summary: [{ type: 'text', text: sanitise(entry.summary) }] }];
  }

  #nextCompaction(): string {
    this.#compactions += 1;
    return `compaction-${this.#compactions}`;
  }

  /** Where the client shows no notices: what matters is a message, the rest passes as a thought. */
  #notice(level: Level, text: string): readonly SessionUpdate[] {
    const title = sanitise(text, { newlines: false });
    if (title.trim() === '') return [];
    if (this.#options.notices) return [{ sessionUpdate: 'notice', severity: level, title }];
    return level === 'info' ? [thought(`${title}\n`)] : [message(noticeText(level, text))];
  }

  #picture(part: MediaPart): readonly SessionUpdate[] {
    const bytes = this.#options.picture(part);
    if (bytes === undefined || part.mime === 'application/pdf') return said(`[${part.name}]`);
    return said({ type: 'image', mimeType: part.mime, data: Buffer.from(bytes).toString('base64') });
  }
}

function said(what: string | AcpContent): readonly SessionUpdate[] {
  const content: AcpContent = typeof what === 'string' ? { type: 'text', text: sanitise(what) } : what;
  return [{ sessionUpdate: 'user_message_chunk', content }];
}

function noticeText(level: Level, text: string): string {
  return `\n\n> ${level === 'error' ? 'Error' : 'Note'}: ${sanitise(text, { newlines: false })}\n\n`;
}

function lastTodos(log: readonly Entry[]): Entry | undefined {
  return log.findLast((entry) => entry.type === 'attach' && entry.attachment.kind === 'todo');
}

function shellUpdate({ id, command, output, exitCode }: EntryOf<'shell'> & { readonly id: EntryId }): SessionUpdate {
  const text = fence(output);
  return {
    sessionUpdate: 'tool_call', toolCallId: id, kind: 'execute', status: exitCode === 0 ? 'completed' : 'failed', rawInput: { command },
    title: sanitise(`! ${onOneLine(command, 200)}`, { newlines: false }), content: text === '' ? [] : [{ type: 'content', content: { type: 'text', text } }],
  };
}
