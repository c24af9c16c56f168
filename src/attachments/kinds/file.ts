import { oneLine } from '#lib/names.ts';
import { cutToBytes, wellFormed } from '#lib/text.ts';
import { FILE_CONTENTS_LIMIT_BYTES, type Attachment, type StoredAttachment } from '#domain/attachment.ts';

export interface InlineOptions {
  /** Whether contents beyond {@link FILE_CONTENTS_LIMIT_BYTES} are cut (default true). With `false` they are rendered as they are, however long. */
  readonly truncate?: boolean;
}

/** A file kept in view: its path alone, or its path with contents that the caller provides. The id is `file:` and the path. */
export class FileAttachment implements Attachment {
  readonly kind = 'file';
  readonly id: `file:${string}`;
  readonly path: string;
  readonly #contents: string | undefined;

  private constructor(path: string, contents: string | undefined) {
    this.id = `file:${path}`;
    this.path = path;
    this.#contents = contents;
  }

  /** Keeps the path in view; the model reads the file when it needs to. */
  static pathOnly(path: string): FileAttachment {
    return new FileAttachment(path, undefined);
  }

  /**
   * Keeps contents in view as they are now; insert another one under the same path to bring them up to date. Contents of more
   * than {@link FILE_CONTENTS_LIMIT_BYTES} bytes (UTF-8) are cut between graphemes and end in a line that states the byte counts.
   */
  static inline(path: string, contents: string, options: InlineOptions = {}): FileAttachment {
    const text = wellFormed(contents);
    return new FileAttachment(path, options.truncate === false ? text : cut(text));
  }

  render(): string {
    return this.#contents === undefined ? `Pinned path: ${oneLine(this.path)}` : `Pinned file ${oneLine(this.path)}:\n${this.#contents}`;
  }

  /** As the log keeps it: the path, or the rendered text of contents. */
  stored(): StoredAttachment {
    return this.#contents === undefined
      ? { kind: 'file', id: this.id, form: 'path', whole: false, target: { type: 'file', path: this.path } }
      : { kind: 'text', id: this.id, as: 'file', text: this.render() };
  }
}

function cut(text: string): string {
  const total = Buffer.byteLength(text);
  if (total <= FILE_CONTENTS_LIMIT_BYTES) return text;
  const shown = cutToBytes(text, FILE_CONTENTS_LIMIT_BYTES);
  return `${shown}\n[cut: ${Buffer.byteLength(shown)} of ${total} bytes shown]`;
}
