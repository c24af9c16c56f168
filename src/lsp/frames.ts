import type { Readable } from 'node:stream';
import { AbstractMessageReader, type DataCallback, type Disposable, type Message } from 'vscode-jsonrpc/node';
import { isTooDeep } from '#lib/json-depth.ts';

const MOST_HEAD_BYTES = 4096;
/** Larger messages are dropped unread. */
const MOST_BODY_BYTES = 8 * 1024 * 1024;
/** Nobody sends so much in one message: the length is wrong. */
const MOST_DROPPED_BYTES = 512 * 1024 * 1024;
const WINDOW_MS = 10_000;
/** What a server may send in {@link WINDOW_MS}. */
const MOST_IN_WINDOW = { bytes: 256 * 1024 * 1024, messages: 50_000 };
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Reads messages as the library's own reader does, with bounds: that one keeps whatever length a header names. A stream that is
 * no protocol, or a flood, is an error, after which nothing more is read. A message that is too large is dropped, and told to `onDropped`.
 */
export class BoundedReader extends AbstractMessageReader {
  readonly #stream: Readable;
  readonly #onDropped: (line: string) => void;
  #head: Buffer = Buffer.alloc(0);
  #body: Buffer[] = [];
  /** Bytes of the body that are still to come; undefined between messages. */
  #missing: number | undefined;
  #dropping = false;
  #broken = false;
  #window = { since: Date.now(), bytes: 0, messages: 0 };

  constructor(stream: Readable, onDropped: (line: string) => void) {
    super();
    this.#stream = stream;
    this.#onDropped = onDropped;
  }

  listen(callback: DataCallback): Disposable {
    const take = (chunk: Buffer): void => { this.#take(chunk, callback); };
    this.#stream.on('data', take);
    this.#stream.once('close', () => { this.fireClose(); });
    this.#stream.on('error', (error) => { this.fireError(error); });
    return { dispose: () => { this.#stream.off('data', take); } };
  }

  #take(chunk: Buffer, callback: DataCallback): void {
    this.#count(chunk.length, 0);
    let rest = chunk;
    while (!this.#broken && rest.length > 0) rest = this.#missing === undefined ? this.#takeHead(rest) : this.#takeBody(rest, this.#missing, callback);
  }

  /** Gives back what stands behind the header. */
  #takeHead(chunk: Buffer): Buffer {
    const head = Buffer.concat([this.#head, chunk]);
    const end = head.indexOf(HEAD_END);
    if (end === -1 || end > MOST_HEAD_BYTES) {
      if (head.length > MOST_HEAD_BYTES) this.#fail('it does not speak the protocol (no header)');
      this.#head = head;
      return Buffer.alloc(0);
    }
    this.#head = Buffer.alloc(0);
    const length = Number(/^content-length:[ \t]*(\d{1,15})[ \t]*$/im.exec(head.toString('latin1', 0, end))?.[1] ?? 'NaN');
    if (!(length <= MOST_DROPPED_BYTES)) this.#fail('it does not speak the protocol (no length in a header)');
    this.#missing = length;
    this.#dropping = length > MOST_BODY_BYTES;
    if (this.#dropping) this.#onDropped(`a message of ${length} bytes was dropped`);
    return head.subarray(end + HEAD_END.length);
  }

  #takeBody(chunk: Buffer, missing: number, callback: DataCallback): Buffer {
    const part = chunk.subarray(0, missing);
    if (!this.#dropping) this.#body.push(part);
    this.#missing = missing - part.length;
    if (this.#missing > 0) return Buffer.alloc(0);
    this.#missing = undefined;
    const body = Buffer.concat(this.#body);
    this.#body = [];
    this.#count(0, 1);
    if (!this.#dropping && !this.#broken) this.#deliver(body.toString('utf8'), callback);
    return chunk.subarray(part.length);
  }

  #deliver(text: string, callback: DataCallback): void {
    let message: unknown;
    try {
      if (isTooDeep(text)) throw new Error('too deep');
      message = JSON.parse(text);
    } catch {
      return this.#fail('it does not speak the protocol (a message is no JSON)');
    }
    if (typeof message !== 'object' || message === null) return this.#fail('it does not speak the protocol (a message is no object)');
    callback(message as Message);
  }

  #count(bytes: number, messages: number): void {
    const now = Date.now();
    if (now - this.#window.since > WINDOW_MS) this.#window = { since: now, bytes: 0, messages: 0 };
    this.#window.bytes += bytes;
    this.#window.messages += messages;
    if (this.#window.bytes > MOST_IN_WINDOW.bytes || this.#window.messages > MOST_IN_WINDOW.messages) this.#fail('it floods: too many messages');
  }

  #fail(why: string): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#body = [];
    this.#stream.resume();
    this.fireError(new Error(why));
  }
}
