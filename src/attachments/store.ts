import { never } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import type { Attachment, AttachmentKind, StoredAttachment } from '#domain/attachment.ts';
import type { MessageParam } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { attachmentsOf } from '#domain/folds.ts';
import { renderReminder } from '#domain/reminder.ts';
import type { PinView } from '#domain/world.ts';
import { FileAttachment } from './kinds/file.ts';
import { MemoryAttachment } from './kinds/memory.ts';
import { TodoAttachment } from './kinds/todo.ts';

const ORDER: readonly AttachmentKind[] = ['memory', 'file', 'todo'];

/**
 * What is kept in view, by id. Its order is by kind (memory, then file, then todo), within a kind by first insertion: replacing
 * an attachment leaves it where it stood. Not shared between sessions; nothing in it is ever dropped to save room.
 */
export class AttachmentStore {
  readonly #byId = new Map<string, Attachment>();

  /** Adds an attachment, or replaces the one of the same id in its place: the way to bring an attachment up to date. */
  insert(attachment: Attachment): void {
    this.#byId.set(attachment.id, attachment);
  }

  /** Whether there was one of that id. */
  remove(id: string): boolean {
    return this.#byId.delete(id);
  }

  contains(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Everything in the store, in its order. */
  attachments(): readonly Attachment[] {
    const all = [...this.#byId.values()];
    return ORDER.flatMap((kind) => all.filter((attachment) => attachment.kind === kind));
  }

  /** The texts of all attachments as they are now, in the store's order. */
  renderAll(): readonly string[] {
    return this.attachments().map((attachment) => attachment.render());
  }

  /**
   * One user message that holds everything in one `<system-reminder>` block. Undefined for an empty store, so that a request
   * made with it is the request made without a store, byte for byte.
   */
  consolidatedMessage(): MessageParam | undefined {
    const texts = this.renderAll();
    return texts.length === 0 ? undefined : { role: 'user', content: [{ type: 'text', text: renderReminder(texts) }] };
  }
}

/**
 * The store of a session: what its log attached and did not detach. A pin whose text is read when it is said (a live file, a
 * listing, a command) renders the text that `views` has for it, and its name without one.
 */
export function storeOf(log: readonly Entry[], views: readonly PinView[] = []): AttachmentStore {
  const store = new AttachmentStore();
  for (const stored of attachmentsOf(log)) store.insert(reviveAttachment(stored, views.find(({ id }) => id === stored.id)));
  return store;
}

/** A stored attachment taken back: it renders what it rendered when it was stored. */
export function reviveAttachment(stored: StoredAttachment, view?: PinView): Attachment {
  switch (stored.kind) {
    case 'memory': return new MemoryAttachment(stored.slug, stored.text);
    case 'todo': return new TodoAttachment(stored.items);
    case 'text': return fixed(stored, stored.as, stored.text);
    case 'file': {
      if (stored.form === 'path' && stored.target.type === 'file' && stored.id === `file:${stored.target.path}`) return FileAttachment.pathOnly(stored.target.path);
      return fixed(stored, 'file', view?.text ?? `Pinned: ${oneLine(view?.label ?? stored.id.replace(/^file:/, ''))}`);
    }
    default: return never(stored);
  }
}

function fixed(stored: StoredAttachment, kind: AttachmentKind, text: string): Attachment {
  return { id: stored.id, kind, render: () => text, stored: () => stored };
}
