import { randomUUID } from 'node:crypto';
import type { Attachment, StoredAttachment } from '#domain/attachment.ts';
import type { Entry, EntryBody, EntryId } from '#domain/entry.ts';
import { attachmentsOf } from '#domain/folds.ts';
import type { AttachmentHolder, Session } from '#domain/session.ts';

const ORDER = { memory: 0, file: 1, todo: 2 } as const;
const kindOf = (stored: StoredAttachment): keyof typeof ORDER => (stored.kind === 'text' ? stored.as : stored.kind);

/** A session: an append-only log of entries, kept by `write` as they come. Without `write` it lives in memory only. */
export class LogSession implements Session, AttachmentHolder {
  readonly id: string;
  readonly log: readonly Entry[];
  readonly #log: Entry[];
  readonly #write: (entry: Entry) => void;
  readonly #now: () => Date;
  #next: number;

  constructor(id: string, entries: readonly Entry[] = [], write: (entry: Entry) => void = () => undefined, now: () => Date = () => new Date()) {
    this.id = id;
    this.#log = [...entries];
    this.log = this.#log;
    this.#write = write;
    this.#now = now;
    this.#next = entries.reduce((most, entry) => Math.max(most, Number.parseInt(entry.id, 10) || 0), 0) + 1;
  }

  append(body: EntryBody): Entry {
    const entry: Entry = { id: String(this.#next).padStart(6, '0') as EntryId, at: this.#now().toISOString(), ...body };
    this.#next += 1;
    this.#log.push(entry);
    this.#write(entry);
    return entry;
  }

  setAttachment(attachment: Attachment): void {
    const stored = attachment.stored?.() ?? { kind: 'text', id: attachment.id, as: attachment.kind, text: attachment.render() } as const;
    this.append({ type: 'attach', attachment: stored, by: 'user' });
  }

  withAttachment(attachment: Attachment): this {
    this.setAttachment(attachment);
    return this;
  }

  detachAttachment(id: string): boolean {
    const held = attachmentsOf(this.#log).some((attachment) => attachment.id === id);
    if (held) this.append({ type: 'detach', attachmentId: id });
    return held;
  }

  attachmentIds(): readonly string[] {
    return attachmentsOf(this.#log).toSorted((a, b) => ORDER[kindOf(a)] - ORDER[kindOf(b)]).map(({ id }) => id);
  }
}

/** A session that lives in memory, for programs that keep their own records. */
export function createSession(): LogSession {
  return new LogSession(randomUUID());
}
