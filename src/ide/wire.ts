import { WebSocket } from 'ws';
import { isTooDeep } from '#lib/json-depth.ts';
import { oneLine } from '#lib/names.ts';
import { isFields } from './messages.ts';

/** JSON-RPC with one editor. Nothing that it sends can do more than end this connection. */
export interface Wire {
  /** Rejects with one line when the editor refuses, the connection ends, or the signal aborts (the editor is told). */
  request(method: string, params: object, signal: AbortSignal): Promise<unknown>;
  notify(method: string, params: object): void;
  close(): void;
}

export interface WireOptions {
  readonly port: number;
  readonly token: string;
  onNotification(method: string, params: unknown): void;
  /** Is called once when an open connection has ended, whoever ended it. */
  onClosed(why: string): void;
}

/** A frame that is larger ends the connection before it is read. */
const MOST_FRAME = 16 * 1024 * 1024;
/** What an editor says by itself is small; what is not, is not read. */
const MOST_NOTIFICATION = 1024 * 1024;
/** What may come in a second, in messages and bytes. */
const MOST_A_SECOND = { messages: 2000, bytes: 32 * 1024 * 1024 };
const MOST_GARBAGE = 20;
const HANDSHAKE_MS = 3000;
/** Milliseconds after which an editor that does not answer a ping is dead. */
const PING_MS = 30_000;
const HEADER = 'x-claude-code-ide-authorization';

/** Connects to 127.0.0.1 and nowhere else. Rejects with one line. */
export async function openWire(options: WireOptions, signal: AbortSignal): Promise<Wire> {
  try {
    return new OpenWire(await open(options, ['mcp'], signal), options);
  } catch (error) {
    // Some servers know no sub-protocols, and the library takes that for a fault.
    if (!(error instanceof Error) || !error.message.includes('subprotocol')) throw error;
    return new OpenWire(await open(options, [], signal), options);
  }
}

function open({ port, token }: WireOptions, protocols: readonly string[], signal: AbortSignal): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, [...protocols], {
      headers: { [HEADER]: token }, maxPayload: MOST_FRAME, perMessageDeflate: false, handshakeTimeout: HANDSHAKE_MS, followRedirects: false,
    });
    const giveUp = (): void => {
      socket.terminate();
      reject(new Error('interrupted'));
    };
    // Stays: a socket that is given up may still fail.
    socket.on('error', (error) => {
      signal.removeEventListener('abort', giveUp);
      reject(new Error(oneLine(error.message)));
    });
    socket.once('open', () => {
      signal.removeEventListener('abort', giveUp);
      // Its first words may stand in the same packet: they wait until somebody listens.
      socket.pause();
      resolve(socket);
    });
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

class OpenWire implements Wire {
  readonly #socket: WebSocket;
  readonly #options: WireOptions;
  readonly #pending = new Map<number, Pending>();
  readonly #ping: NodeJS.Timeout;
  #ids = 0;
  #answers = true;
  #garbage = 0;
  #window = { from: 0, messages: 0, bytes: 0 };
  #why = 'it closed the connection';

  constructor(socket: WebSocket, options: WireOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('message', (data, isBinary) => { this.#take(Buffer.isBuffer(data) ? data : Buffer.alloc(0), isBinary); });
    socket.on('pong', () => { this.#answers = true; });
    socket.on('error', (error) => { this.#why = oneLine(error.message); });
    socket.once('close', () => { this.#ended(); });
    this.#ping = setInterval(() => { this.#check(); }, PING_MS);
    this.#ping.unref();
    socket.resume();
  }

  request(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal.aborted || this.#socket.readyState !== WebSocket.OPEN) {
        reject(new Error(signal.aborted ? 'interrupted' : this.#why));
        return;
      }
      const id = (this.#ids += 1);
      const giveUp = (): void => {
        if (!this.#pending.delete(id)) return;
        this.notify('notifications/cancelled', { requestId: id });
        reject(new Error('no answer in time'));
      };
      const settle = (done: () => void): void => {
        signal.removeEventListener('abort', giveUp);
        done();
      };
      this.#pending.set(id, { resolve: (value) => { settle(() => { resolve(value); }); }, reject: (error) => { settle(() => { reject(error); }); } });
      signal.addEventListener('abort', giveUp, { once: true });
      this.#send({ jsonrpc: '2.0', id, method, params });
    });
  }

  notify(method: string, params: object): void {
    this.#send({ jsonrpc: '2.0', method, params });
  }

  close(): void {
    clearInterval(this.#ping);
    this.#why = 'it was disconnected';
    this.#socket.close();
    // An editor that does not say goodbye keeps nobody waiting.
    const end = setTimeout(() => { this.#socket.terminate(); }, 500);
    end.unref();
    this.#socket.once('close', () => { clearTimeout(end); });
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message), () => undefined);
  }

  #end(why: string): void {
    this.#why = why;
    this.#socket.terminate();
  }

  #check(): void {
    if (!this.#answers) {
      this.#end('it does not answer any more');
      return;
    }
    this.#answers = false;
    this.#socket.ping();
  }

  #ended(): void {
    clearInterval(this.#ping);
    for (const { reject } of this.#pending.values()) reject(new Error(this.#why));
    this.#pending.clear();
    this.#options.onClosed(this.#why);
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (this.#isFlood(data.length)) {
      this.#end('it sends too much');
      return;
    }
    if (data.length > MOST_NOTIFICATION && this.#pending.size === 0) return;
    const message = isBinary ? undefined : parsed(data.toString('utf8'));
    if (message === undefined) {
      this.#garbage += 1;
      if (this.#garbage > MOST_GARBAGE) this.#end('it sends what is no message');
      return;
    }
    if (typeof message['method'] === 'string') this.#asked(message['method'], message);
    else this.#answered(message);
  }

  #isFlood(bytes: number): boolean {
    const now = Date.now();
    if (now - this.#window.from > 1000) this.#window = { from: now, messages: 0, bytes: 0 };
    this.#window.messages += 1;
    this.#window.bytes += bytes;
    return this.#window.messages > MOST_A_SECOND.messages || this.#window.bytes > MOST_A_SECOND.bytes;
  }

  #asked(method: string, { id, params }: Readonly<Record<string, unknown>>): void {
    if (id === undefined || id === null) this.#options.onNotification(method, params);
    else if (method === 'ping') this.#send({ jsonrpc: '2.0', id, result: {} });
    else this.#send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'there is no such method' } });
  }

  #answered({ id, result, error }: Readonly<Record<string, unknown>>): void {
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (pending === undefined || typeof id !== 'number') return;
    this.#pending.delete(id);
    if (error === undefined || error === null) pending.resolve(result);
    else pending.reject(new Error(refusal(error)));
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    const value = JSON.parse(text) as unknown;
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function refusal(error: unknown): string {
  const { message, data } = isFields(error) ? error : {};
  const words = [message, data].filter((text) => typeof text === 'string' && text !== '');
  return oneLine(words.join(': ') || 'it refused', 300);
}
