import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { client, type ClientCapabilities, type ClientContext, type ContentBlock, type CreateElicitationRequest, type CreateElicitationResponse, type McpServer, methods, ndJsonStream, type RequestPermissionRequest, type SessionUpdate } from '@agentclientprotocol/sdk';
import { onTestFinished } from 'vitest';
import { PINION, type Product } from './product.ts';

type Update = SessionUpdate;
type Kind = Update['sessionUpdate'];

/** How a client answers a question: by an option's id, by closing it (`cancelled`), or never. */
export type Reply = string | Promise<string>;

export interface EditorOptions {
  readonly args?: readonly string[];
  readonly capabilities?: ClientCapabilities;
  readonly answer?: (question: RequestPermissionRequest) => Reply;
  readonly form?: (question: CreateElicitationRequest) => CreateElicitationResponse;
  readonly file?: (path: string) => string | Promise<string>;
  readonly env?: Readonly<Record<string, string>>;
}

/** An editor of the protocol's own SDK, beside the built program over real pipes. */
export interface Editor {
  readonly agent: ClientContext;
  readonly pid: number;
  readonly updates: { readonly sessionId: string; readonly update: Update }[];
  readonly asked: readonly RequestPermissionRequest[];
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly stderr: string }>;
  initialize(): Promise<Awaited<ReturnType<ClientContext['request']>>>;
  /** A new session of the project or another folder. */
  open(cwd?: string, mcpServers?: readonly McpServer[]): Promise<string>;
  prompt(sessionId: string, prompt: string | readonly ContentBlock[]): Promise<string>;
  cancel(sessionId: string): Promise<void>;
  of<K extends Kind>(kind: K): readonly Extract<Update, { readonly sessionUpdate: K }>[];
  /** All text of the model, or of the user, in one piece. */
  text(kind?: 'agent_message_chunk' | 'user_message_chunk' | 'agent_thought_chunk', sessionId?: string): string;
  /** The newest state of each call, updates put over one another. */
  calls(): readonly Readonly<Record<string, unknown>>[];
  forget(): void;
  /** Ends the program's input. */
  leave(): void;
  kill(signal: NodeJS.Signals): void;
}

export function edit(place: Product, options: EditorOptions = {}): Editor {
  const child = spawn(process.execPath, [PINION, 'acp', ...options.args ?? []], { cwd: '/', env: { ...place.env, ...options.env }, stdio: ['pipe', 'pipe', 'pipe'] });
  onTestFinished(() => { if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL'); });
  child.stdin.on('error', () => undefined);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (words: string) => { stderr += words; });
  const ended = new Promise<Awaited<Editor['ended']>>((resolve) => { child.on('close', (code, signal) => { resolve({ code, signal, stderr }); }); });
  const updates: { sessionId: string; update: Update }[] = [];
  const asked: RequestPermissionRequest[] = [];
  const app = client({ name: 'editor' })
    .onNotification(methods.client.session.update, ({ params }) => { updates.push(params); })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      const reply = await (options.answer?.(params) ?? 'cancelled');
      return { outcome: reply === 'cancelled' ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: reply } };
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => options.form?.(params) ?? { action: 'cancel' })
    .onRequest(methods.client.fs.readTextFile, async ({ params }) => ({ content: await (options.file?.(params.path) ?? '') }));
  const connection = app.connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>));
  const { agent } = connection;
  const of: Editor['of'] = (kind) => updates.map(({ update }) => update).filter((update): update is Extract<Update, { readonly sessionUpdate: typeof kind }> => update.sessionUpdate === kind);
  const initialize = () => agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: options.capabilities ?? {} });
  let initialized: Promise<unknown> | undefined;
  return {
    agent, pid: child.pid ?? 0, updates, asked, ended, initialize, of,
    async open(cwd = place.cwd, mcpServers = []) {
      await (initialized ??= initialize());
      return (await agent.request(methods.agent.session.new, { cwd, mcpServers: [...mcpServers] })).sessionId;
    },
    prompt: async (sessionId, prompt) => (await agent.request(methods.agent.session.prompt, { sessionId, prompt: typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : [...prompt] })).stopReason,
    cancel: (sessionId) => agent.notify(methods.agent.session.cancel, { sessionId }),
    text: (kind = 'agent_message_chunk', sessionId) => updates.filter((one) => sessionId === undefined || one.sessionId === sessionId)
      .map(({ update }) => (update.sessionUpdate === kind && update.content.type === 'text' ? update.content.text : '')).join(''),
    calls() {
      const all = new Map<string, Readonly<Record<string, unknown>>>();
      for (const { update: { sessionUpdate, ...fields } } of updates) if ('toolCallId' in fields && sessionUpdate.startsWith('tool_call')) all.set(fields.toolCallId, { ...all.get(fields.toolCallId), ...fields });
      return [...all.values()];
    },
    forget() { updates.length = 0; },
    leave() { child.stdin.end(); },
    kill(signal) { child.kill(signal); },
  };
}
