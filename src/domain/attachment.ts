import type { BlobRef } from './content.ts';

export type AttachmentKind = 'memory' | 'file' | 'todo';

/** `{kind}:{slug}`, unique in a store. */
export type AttachmentId = `${AttachmentKind}:${string}`;

/**
 * Something kept in view. `render` gives text, deterministic for the state that was pinned, and changes nothing.
 * `stored`, where an attachment has one, is what the log keeps of it; without one the rendered text is kept.
 */
export interface Attachment {
  readonly id: string;
  readonly kind: AttachmentKind;
  render(): string;
  stored?(): StoredAttachment;
}

/** Contents of a file attachment are cut here (bytes of UTF-8) unless it says otherwise: 8 KiB, as in the seed. */
export const FILE_CONTENTS_LIMIT_BYTES = 8 * 1024;

export type TodoState = 'open' | 'active' | 'done';

export interface TodoItem {
  /** Small positive number, unique in its list and never used again. */
  readonly id: number;
  readonly text: string;
  readonly state: TodoState;
  readonly by: 'user' | 'model';
}

/** What a pinned file is: one file (with an optional range of lines), a directory's listing, a glob's names, or a command's output. */
export type PinTarget =
  | { readonly type: 'file'; readonly path: string; readonly lines?: { readonly from: number; readonly to: number } }
  | { readonly type: 'directory'; readonly path: string }
  | { readonly type: 'glob'; readonly pattern: string }
  | { readonly type: 'command'; readonly command: string };

/** An attachment as the log keeps it: paths and options, not bytes, so that a live pin is read when it is said. */
export type StoredAttachment =
  | {
    readonly kind: 'file';
    readonly id: string;
    readonly form: 'live' | 'snapshot' | 'path';
    /** Whether contents beyond {@link FILE_CONTENTS_LIMIT_BYTES} are shown too. */
    readonly whole: boolean;
    readonly target: PinTarget;
    /** The frozen text of a snapshot. */
    readonly snapshot?: BlobRef;
  }
  | { readonly kind: 'memory'; readonly id: string; readonly slug: string; readonly text: string }
  | { readonly kind: 'todo'; readonly id: string; readonly items: readonly TodoItem[] }
  /** An attachment of a library user's own making: the text that it rendered to. */
  | { readonly kind: 'text'; readonly id: string; readonly as: AttachmentKind; readonly text: string };

/** The one todo list of a session. */
export const TODO_LIST_ID = 'todo:list';
