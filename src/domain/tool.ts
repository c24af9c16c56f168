import type { Brand, Json } from '#lib/brand.ts';
import type { Card } from './card.ts';
import type { BlobHash, Part, ToolDefinition } from './content.ts';

/** The API's id of a tool call (`toolu_…`). */
export type CallId = Brand<'CallId'>;

export interface Call {
  readonly id: CallId;
  readonly tool: string;
  /** As the model sent it: not yet checked against the tool's schema. */
  readonly input: Json;
}

/** Whether a call looks, changes files, or runs a program. Decides the order of calls and what the gate asks. */
export type ToolEffect = 'reads' | 'writes' | 'executes';

/**
 * A file of which the model was given bytes, or which one of our tools wrote. `path` is absolute and real (no symbolic
 * links); `hash` is that of the raw bytes on disk. `partial`: some of these bytes were given; what was known of the file before
 * stays the measure for changed-file notices. `heard`: the model was told of a change, or made one, and does not know the whole
 * of these bytes. All others: it knows every byte.
 */
export interface FileTouch {
  readonly path: string;
  readonly hash: BlobHash;
  readonly how: 'read' | 'partial' | 'mention' | 'pin' | 'notice' | 'write' | 'heard';
  /** Whether the blob store holds the bytes, so that a later change can be told as a diff. */
  readonly kept: boolean;
}

/** In a {@link FileTouch}: the model was told that the file is no longer there, or that it cannot be read any more. No bytes have these hashes. */
export const MISSING_HASH = 'missing' as BlobHash;
export const UNREADABLE_HASH = 'unreadable' as BlobHash;

/** A tool that no request holds until it was loaded. `summary`: what it does, on one line. */
export interface DeferredTool {
  readonly definition: ToolDefinition;
  readonly summary: string;
  /** `main`: sub-agents do not have it. */
  readonly threads: 'all' | 'main';
  /** It is to stand in requests from the start, as long as that breaks no cache. */
  readonly alwaysLoad?: true;
}

/** A result is data whatever happened; only a broken program throws. */
export interface ToolResult {
  readonly kind: 'ok' | 'failed' | 'refused' | 'interrupted';
  /** Of a refused call: what decided so. `unattended`: nobody was there to ask. */
  readonly refusedBy?: 'user' | 'rule' | 'mode' | 'unattended' | 'hook';
  /** What the model is given. Empty means "(no output)". */
  readonly content: readonly Part[];
  readonly files?: readonly FileTouch[];
  /** Tools that this result makes callable: from now on they are part of every request, as loaded on demand. */
  readonly loads?: readonly ToolDefinition[];
  /** How it looks; kept with the result, so that a resumed session needs no tool to draw it. */
  readonly card: Card;
}

/** A text file as a call would leave it. `path`: absolute, real. `hash`: of its bytes as they are now; undefined where there are none. */
export interface ProposedFile {
  readonly path: string;
  readonly hash: string | undefined;
  readonly after: string;
}

/** What the user made of a proposed file before they agreed to it: this is to be written instead. */
export interface Amendment {
  readonly proposed: ProposedFile;
  readonly text: string;
}
