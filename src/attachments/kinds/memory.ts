import { oneLine } from '#lib/names.ts';
import { wellFormed } from '#lib/text.ts';
import type { Attachment, StoredAttachment } from '#domain/attachment.ts';

/** A fact kept in view, word for word. The id is `memory:` and the slug. */
export class MemoryAttachment implements Attachment {
  readonly kind = 'memory';
  readonly id: `memory:${string}`;
  readonly slug: string;
  readonly #text: string;

  constructor(slug: string, text: string) {
    this.id = `memory:${slug}`;
    this.slug = slug;
    this.#text = wellFormed(text);
  }

  render(): string {
    return `Memory "${oneLine(this.slug)}":\n${this.#text}`;
  }

  stored(): StoredAttachment {
    return { kind: 'memory', id: this.id, slug: this.slug, text: this.#text };
  }
}
