import type { ServerResponse } from 'node:http';

/** One step of what goes over the wire, as `cases/sse-faults.json` writes it. */
export interface WireStep {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The whole answer's body; ends it. */
  readonly body?: string;
  /** Bytes of the stream, as text. */
  readonly send?: string;
  readonly send_b64?: string;
  /** Bytes in one write. */
  readonly chunk?: number;
  readonly delay_ms?: number;
  readonly close?: 'fin' | 'rst';
  readonly repeat?: { readonly send: string };
  readonly every_ms?: number;
  /** Something that the test does at this point of the stream. */
  readonly act?: () => void;
}

export interface WireScript {
  readonly wire: readonly WireStep[];
}

/** Plays the steps, times multiplied by `scale`. Ends early when the client goes away. */
export async function playWire(steps: readonly WireStep[], response: ServerResponse, requestId: string, scale: number): Promise<void> {
  response.socket?.setNoDelay(true);
  for (const step of steps) {
    if (response.destroyed) return;
    if (step.status !== undefined) {
      const type = step.body === undefined ? 'text/event-stream; charset=utf-8' : 'application/json';
      response.writeHead(step.status, { ...(step.status === 204 ? {} : { 'content-type': type }), 'request-id': requestId, ...step.headers });
      response.flushHeaders();
    }
    if (step.body !== undefined) { response.end(step.body); return; }
    if (step.send !== undefined) await write(response, Buffer.from(step.send), step.chunk);
    if (step.send_b64 !== undefined) await write(response, Buffer.from(step.send_b64, 'base64'), step.chunk);
    if (step.act !== undefined) step.act();
    if (step.delay_ms !== undefined) await pause(response, step.delay_ms * scale);
    if (step.repeat !== undefined) await repeat(response, step.repeat.send, (step.every_ms ?? 1_000) * scale);
    if (step.close !== undefined) { hangUp(response, step.close); return; }
  }
  response.end();
}

/** A clean end of the body where one has begun, else an end of the connection without an answer. */
function hangUp(response: ServerResponse, how: 'fin' | 'rst'): void {
  if (how === 'rst') response.socket?.resetAndDestroy();
  else if (response.headersSent) response.end();
  else response.socket?.end();
}

async function repeat(response: ServerResponse, bytes: string, everyMs: number): Promise<void> {
  while (!response.destroyed) {
    await write(response, Buffer.from(bytes), undefined);
    await pause(response, everyMs);
  }
}

async function write(response: ServerResponse, bytes: Buffer, chunk: number | undefined): Promise<void> {
  const size = chunk ?? bytes.length;
  for (let at = 0; at < bytes.length && !response.destroyed; at += size) {
    await new Promise<void>((done) => { response.write(bytes.subarray(at, at + size), () => { done(); }); });
    if (chunk !== undefined) await new Promise<void>((done) => { setImmediate(done); });
  }
}

/** Resolves after the time, or as soon as the client is gone. */
export function pause(response: ServerResponse, ms: number): Promise<void> {
  return new Promise((done) => {
    if (response.destroyed) { done(); return; }
    const end = (): void => { clearTimeout(timer); response.off('close', end); done(); };
    const timer = setTimeout(end, ms);
    response.on('close', end);
  });
}
