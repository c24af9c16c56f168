import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Json } from '#lib/brand.ts';
import { obj, type Obj, text } from './messages-server/shape.ts';

/** A change that is shown and waits for the user's answer. */
export interface OpenDiff {
  readonly tab: string;
  readonly path: string;
  readonly contents: string;
  /** Saves it, with another text if one is given. */
  save(contents?: string): void;
  reject(): void;
  /** Closes its tab as a person does. */
  shut(): void;
}

export interface TestEditor {
  readonly port: number;
  readonly token: string;
  readonly lockFile: string;
  /** Methods of all that was heard, and names of the tools that were called with their arguments. */
  readonly methods: readonly string[];
  readonly calls: readonly { readonly name: string; readonly args: Obj }[];
  /** Handshakes that were refused. */
  readonly refused: readonly (string | undefined)[];
  readonly diffs: readonly OpenDiff[];
  connected(): number;
  /** Lines count from 1, both included; without a text nothing is marked. */
  select(path: string, from?: number, to?: number, marked?: string): void;
  mention(path: string, from?: number, to?: number): void;
  /** What `getDiagnostics` answers for a file from now on. */
  report(path: string, ...problems: readonly { readonly message: string; readonly severity?: string; readonly line?: number; readonly source?: string; readonly code?: string }[]): void;
  notify(method: string, params: object): void;
  /** A frame as it stands. */
  raw(frame: string | Buffer): void;
  /** Begins a frame of so many bytes, and sends none of them. */
  announce(bytes: number): void;
  /** Ends all connections, the server goes on listening. */
  drop(): void;
  close(): void;
}

export interface EditorOptions {
  /** Folder of the lock file. */
  readonly locks: string;
  readonly folders: readonly string[];
  readonly name?: string;
  readonly token?: string;
  readonly port?: number;
  /** In the lock file, in place of what is right. */
  readonly lock?: Readonly<Record<string, Json>>;
  /** What tools answer in place of what they answer else; `hang`: nothing ever; a text: an error. */
  readonly tools?: Readonly<Record<string, string | ((args: Obj) => readonly string[])>>;
  readonly methods?: Readonly<Record<string, 'hang'>>;
  /** Whether it takes part in the sub-protocol that is offered. */
  readonly protocol?: false;
}

/** An editor as its public protocol describes it: a server for WebSockets on the loopback, with its lock file and its token. */
export async function startEditor(options: EditorOptions): Promise<TestEditor> {
  const token = options.token ?? 'a3f1c2d4e5f60718293a4b5c6d7e8f90';
  const state = createState(options);
  const server = new WebSocketServer({
    host: '127.0.0.1', port: options.port ?? 0,
    ...(options.protocol === false && { handleProtocols: () => false }),
    verifyClient: ({ req }, answer) => {
      const given = req.headers['x-claude-code-ide-authorization'];
      if (given !== token) state.refused.push(typeof given === 'string' ? given : undefined);
      answer(given === token, 401);
    },
  });
  await new Promise((resolve) => { server.once('listening', resolve); });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server.on('connection', (socket, { socket: tcp }) => { state.take(socket, tcp); });
  mkdirSync(options.locks, { recursive: true, mode: 0o700 });
  const lockFile = join(options.locks, `${port}.lock`);
  writeFileSync(lockFile, JSON.stringify({ pid: process.pid, workspaceFolders: options.folders, ideName: options.name ?? 'Neovim', transport: 'ws', authToken: token, ...options.lock }), { mode: 0o600 });
  const drop = (): void => { for (const client of server.clients) client.terminate(); };
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    rmSync(lockFile, { force: true });
    drop();
    server.close();
  };
  onTestFinished(close);
  const { notify, select, mention, report, raw, announce } = state;
  return { port, token, lockFile, methods: state.methods, calls: state.calls, refused: state.refused, diffs: state.diffs, connected: () => server.clients.size, select, mention, report, notify, raw, announce, drop, close };
}

const position = (line: number, character: number): Obj => ({ line: line - 1, character });

function createState({ tools = {}, methods: handled = {} }: EditorOptions) {
  const sockets = new Set<WebSocket>();
  const streams = new Set<Duplex>();
  const methods: string[] = [];
  const calls: { name: string; args: Obj }[] = [];
  const refused: (string | undefined)[] = [];
  const diffs: OpenDiff[] = [];
  const reports = new Map<string, unknown>();
  let selection: Obj | undefined;
  const raw = (frame: string | Buffer): void => { for (const socket of sockets) socket.send(frame); };
  const notify = (method: string, params: object): void => { raw(JSON.stringify({ jsonrpc: '2.0', method, params })); };
  const call = (name: string, args: Obj, answer: (...texts: readonly string[]) => void, fail: (why: string) => void): void => {
    calls.push({ name, args });
    const odd = tools[name];
    if (odd === 'hang') return;
    if (typeof odd === 'string') return fail(odd);
    if (odd !== undefined) return answer(...odd(args));
    if (name === 'openDiff') {
      const tab = text(args['tab_name']);
      diffs.push({
        tab, path: text(args['old_file_path']), contents: text(args['new_file_contents']),
        save: (contents) => { answer('FILE_SAVED', contents ?? text(args['new_file_contents'])); }, reject: () => { answer('DIFF_REJECTED', tab); }, shut: () => { answer('TAB_CLOSED'); },
      });
      return undefined;
    }
    if (name === 'close_tab') return answer('TAB_CLOSED');
    if (name === 'getCurrentSelection') return answer(JSON.stringify(selection === undefined ? { success: false, message: 'No active editor found' } : { success: true, ...selection }));
    if (name === 'checkDocumentDirty') return answer(JSON.stringify({ success: true, filePath: args['filePath'], isDirty: false }));
    if (name === 'openFile') return answer(`Opened file: ${text(args['filePath'])}`);
    if (name === 'getDiagnostics') return answer(JSON.stringify([{ uri: args['uri'], diagnostics: reports.get(text(args['uri'])) ?? [] }]));
    return fail(`Unknown tool: ${name}`);
  };
  const heard = (socket: WebSocket, message: Obj): void => {
    const method = text(message['method']);
    const id = message['id'];
    methods.push(method);
    const reply = (body: Obj): void => { socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...body })); };
    if (id === undefined || handled[method] === 'hang') return;
    if (method === 'initialize') reply({ result: { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'test-editor', version: '1' } } });
    else if (method !== 'tools/call') reply({ error: { code: -32601, message: 'Method not found' } });
    else {
      const params = obj(message['params']);
      call(text(params['name']), obj(params['arguments']), (...texts) => { reply({ result: { content: texts.map((part) => ({ type: 'text', text: part })) } }); }, (why) => { reply({ error: { code: -32000, message: why } }); });
    }
  };
  return {
    methods, calls, refused, diffs, raw, notify,
    announce(bytes: number): void {
      const head = Buffer.alloc(10);
      head.writeUInt16BE(0x817f);
      head.writeBigUInt64BE(BigInt(bytes), 2);
      for (const tcp of streams) tcp.write(head);
    },
    take(socket: WebSocket, tcp: Duplex): void {
      streams.add(tcp);
      sockets.add(socket);
      socket.on('close', () => { sockets.delete(socket); });
      socket.on('error', () => undefined);
      socket.on('message', (data) => { heard(socket, obj(JSON.parse(Buffer.isBuffer(data) ? data.toString('utf8') : '{}') as Json)); });
    },
    select(path: string, from = 1, to = from, marked = ''): void {
      const last = marked.split('\n').at(-1);
      const end = marked.endsWith('\n') ? position(to + 1, 0) : position(to, text(last).length);
      const said = { text: marked, filePath: path, fileUrl: pathToFileURL(path).href, selection: { start: position(from, 0), end: marked === '' ? position(from, 0) : end, isEmpty: marked === '' } };
      selection = said;
      notify('selection_changed', said);
    },
    mention(path: string, from?: number, to = from): void {
      notify('at_mentioned', { filePath: path, ...(from !== undefined && to !== undefined && { lineStart: from - 1, lineEnd: to - 1 }) });
    },
    report(path: string, ...problems: readonly { readonly message: string; readonly severity?: string; readonly line?: number; readonly source?: string; readonly code?: string }[]): void {
      reports.set(pathToFileURL(path).href, problems.map(({ message, severity = 'Error', line = 1, ...rest }) => ({ message, severity, range: { start: position(line, 0), end: position(line, 1) }, ...rest })));
      notify('diagnostics_changed', { uris: [pathToFileURL(path).href] });
    },
  };
}
