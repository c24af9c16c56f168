import * as sdk from '@modelcontextprotocol/client';
import type { AuthProvider, FetchLike, Transport } from '@modelcontextprotocol/client';
import { createLines } from './lines.ts';
import { endingWhole, watched, withBody } from './lost.ts';
import { staying } from './redirects.ts';
import { errorForLong, longAnswer, MOST_MESSAGE_BYTES } from './too-long.ts';

export interface RemoteOptions {
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: AuthProvider;
  readonly fetch?: FetchLike;
  /** Nothing that is sent from now on is heard; one line: why. */
  readonly onLost: (why: string) => void;
}

/** How often and how long a stream that broke off is opened again by the library; whole servers are connected anew by us. */
const RECONNECTION = { initialReconnectionDelay: 500, maxReconnectionDelay: 5000, reconnectionDelayGrowFactor: 2, maxRetries: 3 };

/** The transport that came before streamable HTTP: the library would be rid of it, but there are servers that speak nothing else. */
const { SSEClientTransport: Sse } = sdk as unknown as { readonly SSEClientTransport: new (url: URL, options: sdk.StreamableHTTPClientTransportOptions) => Transport };

export function createRemote({ type, url, headers, auth, fetch: given = fetch, onLost }: RemoteOptions): Transport {
  const common = { requestInit: { headers: { ...headers } }, fetch: limited(watched(staying(given), type, onLost)), ...(auth !== undefined && { authProvider: auth }) };
  return type === 'sse' ? new Sse(new URL(url), common) : new sdk.StreamableHTTPClientTransport(new URL(url), { ...common, reconnectionOptions: RECONNECTION });
}

/** No answer holds more than a message may have: in the place of one that does stands an error. */
function limited(inner: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await inner(url, init);
    const type = response.headers.get('content-type') ?? '';
    if (response.body === null) return response;
    const id = idIn(init?.body);
    if (type.includes('text/event-stream')) return withBody(response, endingWhole(response.body).pipeThrough(limitEvents(id)));
    return withBody(response, response.body.pipeThrough(limitWhole(id, type.includes('application/json'))));
  };
}

function idIn(body: unknown): number | string | undefined {
  if (typeof body !== 'string') return undefined;
  try {
    const { id, method } = JSON.parse(body) as { id?: unknown; method?: unknown };
    return typeof method === 'string' && (typeof id === 'number' || typeof id === 'string') ? id : undefined;
  } catch {
    return undefined;
  }
}

function limitWhole(id: number | string | undefined, json: boolean): TransformStream<Uint8Array, Uint8Array> {
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= MOST_MESSAGE_BYTES) {
        chunks.push(chunk);
        return;
      }
      chunks = [];
      if (json && id !== undefined) controller.enqueue(Buffer.from(JSON.stringify(longAnswer(id, bytes))));
      controller.terminate();
    },
    flush(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
    },
  });
}

function isAnswer(line: string, id: number | string | undefined): boolean {
  return line.startsWith('data:') && new RegExp(`"id"\\s*:\\s*"?${id ?? ''}"?\\s*[,}]`).test(line) && /"(?:result|error)"\s*:/.test(line);
}

/** Line by line: an event of a server is a few lines, of which `data:` may be as long as a message. */
function limitEvents(id: number | string | undefined): TransformStream<Uint8Array, Uint8Array> {
  let out: TransformStreamDefaultController<Uint8Array> | undefined;
  // With a name for what came last the library asks for the rest.
  let awaited = id !== undefined;
  const put = (line: string): void => {
    if (awaited && (line.startsWith('id:') || isAnswer(line, id))) awaited = false;
    out?.enqueue(Buffer.from(`${line}\n`));
  };
  const lines = createLines(MOST_MESSAGE_BYTES, {
    line: put,
    tooLong(head, tail, bytes) {
      const error = id === undefined ? errorForLong(head.replace(/^data:\s*/, ''), tail, bytes, undefined) : longAnswer(id, bytes);
      if (error !== undefined) put(`data: ${JSON.stringify(error)}`);
    },
    blank: () => { put(''); },
  });
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      out = controller;
      lines.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    },
    flush(controller) {
      out = controller;
      lines.end();
      if (awaited && id !== undefined) put(`\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'the stream of its answer broke off; whether it has done what it was asked is not known' } })}\n`);
    },
  });
}
