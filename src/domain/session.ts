import type { Attachment } from './attachment.ts';
import type { Entry, EntryBody } from './entry.ts';

/** An append-only log. Whatever else there is to know of a session is a fold over it. */
export interface Session {
  readonly id: string;
  /** The same array for the session's whole life: it only grows. */
  readonly log: readonly Entry[];
  /** Gives the entry its id and time, writes it durably, and returns it. */
  append(body: EntryBody): Entry;
}

/** The four ways of the library to keep an attachment in view of a session. */
export interface AttachmentHolder {
  setAttachment(attachment: Attachment): void;
  /** As `setAttachment`; returns the session, to chain. */
  withAttachment(attachment: Attachment): this;
  /** Whether there was one of that id. */
  detachAttachment(id: string): boolean;
  /** In the store's order: memory, then file, then todo; within a kind, oldest first. */
  attachmentIds(): readonly string[];
}

/** One line of the picker of `/resume`. */
export interface SessionSummary {
  readonly id: string;
  readonly file: string;
  readonly cwd: string;
  readonly firstWords: string;
  /** Milliseconds since the epoch of the last write. */
  readonly modifiedMs: number;
  readonly bytes: number;
  readonly branch?: string;
}
