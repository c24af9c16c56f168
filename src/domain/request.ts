import type { Effort, MessageParam, ServerTool, TextBlock, ToolDefinition } from './content.ts';
import type { EntryId } from './entry.ts';

/** Where one block of a request comes from. `entries` are the log's entries that it shows, in order. */
export interface Origin {
  readonly what: 'prompt' | 'queued' | 'reminder' | 'assistant' | 'toolResult' | 'summary' | 'shell' | 'note';
  readonly entries: readonly EntryId[];
}

/**
 * One request as it will be sent, without cache marks. `origins[m][b]` tells where block `b` of message `m` comes from.
 * Content is always a list of blocks. `headEnd` counts the messages up to and including the one that holds the compaction
 * summary (0 without one); `answered` counts the blocks of the last request that got an answer (0 before the first).
 */
export interface ModelRequest {
  readonly model: string;
  readonly effort?: Effort;
  readonly system: readonly TextBlock[];
  readonly tools: readonly ToolDefinition[];
  /** Never part of a conversation: only of requests of their own. */
  readonly serverTools?: readonly ServerTool[];
  readonly messages: readonly MessageParam[];
  readonly origins: readonly (readonly Origin[])[];
  readonly headEnd: number;
  readonly answered: number;
}

/** One line of the account of a request: `/context`, the status bar and the accounts all read these. */
export interface Row {
  readonly label: string;
  readonly group: 'system' | 'tools' | 'pins' | 'todos' | 'reminders' | 'prompts' | 'answers' | 'tool results' | 'summary' | 'media' | 'shell';
  readonly origin: string;
  /** Steps since it was first sent; 0 is the next request. */
  readonly age: number;
  /** Estimated, scaled by what past replies measured; rows add up to the estimate of the whole. */
  readonly tokens: number;
  readonly entry?: EntryId;
}

/** One block of a request: `messages[message].content[block]`. */
export interface BlockPlace {
  readonly message: number;
  readonly block: number;
}

/**
 * Where `cache_control` is set: at most four places in all, `blocks` in order. `system` is how long the end of the system text is
 * kept, `false` for no mark there. Marks up to and including the block `hourUpTo` are for an hour (the system's then too), later
 * ones for five minutes: longer lives must stand before shorter ones.
 */
export interface CacheMarks {
  readonly system: false | '5m' | '1h';
  readonly blocks: readonly BlockPlace[];
  readonly hourUpTo?: BlockPlace;
}
