import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, UserError } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';

/** What came back from the browser. `finish` writes the page that the user sees there, once. */
export interface Redirected {
  readonly code: string;
  readonly iss?: string;
  finish(headline: string, text: string): void;
}

/** A door on this machine to which the browser comes back after the user has agreed, or not. */
export interface Callback {
  /** What the authorization server is told to send the browser to. */
  readonly address: string;
  /** Resolves with the one answer of the right state; rejects with a UserError at an error answer, the limit or the signal. */
  readonly answer: Promise<Redirected>;
  /** An address that the user brings by hand. Why it is not the right one, one line; undefined: it was. */
  take(pasted: string): string | undefined;
  /** Who is still connected a moment later is cut off. */
  close(): void;
}

const PATH = '/callback';
const LONGEST = 16 * 1024;
const MOST_CONNECTIONS = 32;
/** A page that is still being sent needs no longer. */
const GOODBYE_MS = 500;

/** Opens the door on 127.0.0.1, at this port or a free one. Rejects with a UserError where the port is taken. */
export async function openCallback(options: { readonly state: string; readonly port?: number; readonly limitMs: number; readonly signal: AbortSignal }): Promise<Callback> {
  const server = createServer({ maxHeaderSize: LONGEST });
  server.maxConnections = MOST_CONNECTIONS;
  const port = await listen(server, options.port ?? 0);
  // Who registers a program by hand names its port with `localhost`; for a port of the moment the number is the safer name.
  const address = `http://${options.port === undefined ? '127.0.0.1' : 'localhost'}:${port}${PATH}`;
  let settle: { resolve(value: Redirected): void; reject(error: Error): void } = { resolve: () => undefined, reject: () => undefined };
  const answer = new Promise<Redirected>((resolve, reject) => { settle = { resolve, reject }; });
  // Nobody may be waiting yet when it fails.
  answer.catch(() => undefined);
  const timer = setTimeout(() => { fail(`nobody signed in within ${Math.round(options.limitMs / 60_000)} minutes`); }, options.limitMs);
  const abort = (): void => { fail('interrupted'); };
  const close = (): void => {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', abort);
    server.close();
    server.closeIdleConnections();
  };
  const fail = (why: string): void => {
    settle.reject(new UserError(`${why}.`));
    close();
  };
  options.signal.addEventListener('abort', abort, { once: true });
  if (options.signal.aborted) abort();
  let answered = false;
  const consider = (params: URLSearchParams, finish: Redirected['finish']): string | undefined => {
    if (params.get('state') !== options.state) return 'This answer does not belong to the sign-in that is under way.';
    if (answered) return 'There was an answer already.';
    answered = true;
    const outcome = readAnswer(params);
    if (typeof outcome === 'string') {
      finish('Not signed in', outcome);
      fail(outcome.replace(/\.$/, ''));
    } else {
      settle.resolve({ ...outcome, finish });
      close();
    }
    return undefined;
  };
  server.on('request', (request, response) => { serve(request, response, port, consider); });
  return {
    address, answer,
    close() {
      close();
      setTimeout(() => { server.closeAllConnections(); }, GOODBYE_MS).unref();
    },
    take(pasted) {
      if (!URL.canParse(pasted.trim())) return 'That is no address: it begins with http:// and holds code= and state=.';
      return consider(new URL(pasted.trim()).searchParams, () => undefined);
    },
  };
}

function readAnswer(params: URLSearchParams): Omit<Redirected, 'finish'> | string {
  const error = params.get('error');
  if (error !== null) return `The server refused: ${oneLine(params.get('error_description') ?? error)}.`;
  const [code, iss] = [params.get('code'), params.get('iss')];
  if (code === null || code === '') return 'The answer holds no code.';
  return { code, ...(iss !== null && { iss }) };
}

function serve(request: IncomingMessage, response: ServerResponse, port: number, consider: (params: URLSearchParams, finish: Redirected['finish']) => string | undefined): void {
  // A page of elsewhere that points a name of its own at this machine is no browser that comes back.
  const host = request.headers.host ?? '';
  const here = host === `127.0.0.1:${port}` || host === `localhost:${port}`;
  const url = URL.canParse(request.url ?? '', 'http://127.0.0.1') ? new URL(request.url ?? '', 'http://127.0.0.1') : undefined;
  if (!here || request.method !== 'GET' || url?.pathname !== PATH) return page(response, 404, 'Nothing here', 'This address only takes the answer to a sign-in.');
  const problem = consider(url.searchParams, (headline, text) => { page(response, headline === 'Signed in' ? 200 : 400, headline, text); });
  return problem === undefined ? undefined : page(response, 400, 'Not signed in', problem);
}

function page(response: ServerResponse, status: number, headline: string, text: string): void {
  if (response.writableEnded) return;
  const escape = (words: string): string => words.replace(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`);
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff', connection: 'close',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  });
  response.end(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>${escape(headline)}</title><body style="font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem"><h1 style="font-size:1.6rem">${escape(headline)}</h1><p>${escape(text)}</p></body></html>\n`);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new UserError(error.code === 'EADDRINUSE' ? `port ${port} ("callbackPort") is taken by another program. End it, or name another port.` : `no port could be opened for the browser to come back to: ${messageOf(error)}`));
    });
    server.listen(port, '127.0.0.1', () => { resolve((server.address() as AddressInfo).port); });
  });
}
