import type { FetchLike } from '@modelcontextprotocol/client';
import { messageOf } from '#lib/errors.ts';

/**
 * Sees what the library does not tell of: a server that cannot be reached, a session that has ended, and the end of the only
 * stream that the old way (`sse`) has. `onLost`: nothing that is sent from now on is heard, with why, one line.
 */
export function watched(inner: FetchLike, type: 'http' | 'sse', onLost: (why: string) => void): FetchLike {
  return async (url, init) => {
    const post = init?.method === 'POST';
    const response = await inner(url, init).catch((error: unknown) => {
      if (post && init.signal?.aborted !== true) onLost(`it cannot be reached: ${causeOf(error)}`);
      throw error;
    });
    if (post && response.status === 404 && (type === 'sse' || new Headers(init.headers).has('mcp-session-id'))) onLost('its session has ended');
    // The library would open another stream, in whose session nobody has said hello.
    if (type !== 'sse' || post || !response.ok || response.body === null) return response;
    return withBody(response, endingWhole(response.body, () => { if (init?.signal?.aborted !== true) onLost('its stream of events ended'); }));
  };
}

/** A request was not heard at all: it may be sent once more when the server is there again. */
export function wasUnheard(error: unknown): boolean {
  const { data, cause, code } = fieldsOf(error);
  const { status } = fieldsOf(data);
  return status === 404 || code === 'ECONNREFUSED' || fieldsOf(cause)['code'] === 'ECONNREFUSED';
}

function causeOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? value as Readonly<Record<string, unknown>> : {};
}

/** The same answer with another body. */
export function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // The body is no longer as long as it was, nor encoded.
  headers.delete('content-length');
  headers.delete('content-encoding');
  const made = new Response([204, 205, 304].includes(status) ? null : body, { status, statusText, headers });
  Object.defineProperty(made, 'url', { value: response.url });
  return made;
}

/** A stream that ends where it breaks off. `onEnd` is called unless whoever reads it leaves first. */
export function endingWhole(body: ReadableStream<Uint8Array>, onEnd: () => void = () => undefined): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true as const, value: undefined }));
      if (!done) {
        controller.enqueue(value);
        return;
      }
      controller.close();
      onEnd();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
