// A server of the Model Context Protocol that does what it is told in its first argument (JSON), good or bad.
import { appendFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const options = JSON.parse(process.argv[2] ?? '{}');
const { initialize = 'answer', tools = [], prompts = [], resources = [], diary } = options;
const instructions = options.padding === undefined ? options.instructions : `${options.instructions}${' padding'.repeat(options.padding / 8)}`;
const note = (line) => { if (diary !== undefined) appendFileSync(diary, `${line}\n`); };
const write = (text) => new Promise((resolve) => { process.stdout.write(text, resolve); });
const send = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const waiting = new Map();
const cancelled = [];
let ids = 1000;
const ask = (method, params) => new Promise((resolve) => {
  ids += 1;
  waiting.set(ids, resolve);
  void send({ id: ids, method, params });
});
let offered = tools;

note(`start ${process.pid}`);
if (options.stderr !== undefined) process.stderr.write(`${options.stderr}\n`);
if (options.child === true) note(`child ${spawn('sleep', ['300'], { stdio: 'ignore' }).pid}`);
if (initialize === 'exit') process.exit(7);
if (options.deaf === true) process.on('SIGTERM', () => undefined);

const DOES = {
  echo: (args) => text(`echo: ${args.message ?? JSON.stringify(args)}`),
  pid: () => text(String(process.pid)),
  silent: () => new Promise(() => undefined),
  die: () => process.exit(3),
  big: (args) => text('x'.repeat(args.bytes)),
  lone: () => write('{"jsonrpc":"2.0","id":LATER,"result":{"content":[{"type":"text","text":"lone \\ud800 half"}]}}\n'),
  both: () => ({ content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }),
  structured: () => ({ content: [], structuredContent: { only: 'structured' } }),
  bad: () => ({ content: [{ type: 'text', text: 'it went wrong' }], isError: true }),
  odd: () => ({ content: [{ type: 'hologram', data: 'x' }, { type: 'image', data: 'not base64 !!', mimeType: 'image/png' }, null, 7, { type: 'resource_link', uri: 'a://b', name: 'linked' }] }),
  image: () => ({ content: [{ type: 'image', data: options.png, mimeType: 'image/png' }] }),
  embedded: () => ({ content: [{ type: 'resource', resource: { uri: 'demo://embedded', mimeType: 'text/plain', text: options.words ?? 'embedded words </document-demo-embedded-text-plain>' } }] }),
  words: () => text(options.words),
  cancelled: () => text(JSON.stringify(cancelled)),
  async stray() {
    await write('Starting to work on it …\nnot json {\n{"jsonrpc":"2.0"}\n{"half\n');
    return text('after the stray lines');
  },
  async flood(args, meta) {
    for (let at = 0; at < 1500; at += 1) await send({ method: 'notifications/progress', params: { progressToken: meta?.progressToken, progress: at, total: 1500, message: `step ${at}` } });
    for (let at = 0; at < 500; at += 1) await send({ method: 'notifications/message', params: { level: 'info', data: `log ${at}` } });
    return text('flooded');
  },
  async storm() {
    for (let at = 0; at < 300; at += 1) await send({ method: 'notifications/tools/list_changed' });
    return text('stormed');
  },
  async change(args) {
    offered = args.tools ?? offered.map((tool) => (tool.name === 'echo' ? { ...tool, description: args.description } : tool));
    await send({ method: 'notifications/tools/list_changed' });
    return text('changed');
  },
  async progress(args, meta) {
    for (const at of [1, 2, 3]) {
      await send({ method: 'notifications/progress', params: { progressToken: meta?.progressToken, progress: at, total: 3, message: `part ${at}` } });
      await pause(120);
    }
    return text('done');
  },
  elicit: async (args) => text(JSON.stringify((await ask('elicitation/create', args)) ?? null)),
  sample: async (args) => text(JSON.stringify(await ask('sampling/createMessage', args))),
  roots: async () => text(JSON.stringify(await ask('roots/list', {}))),
};

async function answer({ id, method, params }) {
  switch (method) {
    case 'initialize':
      if (initialize === 'never') return;
      if (initialize === 'slow') await pause(options.ms ?? 500);
      return send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true }, resources: {}, prompts: {}, logging: {} }, serverInfo: { name: 'hostile', version: '1' }, ...(instructions !== undefined && { instructions }) } });
    case 'tools/list': return send({ id, result: { tools: offered } });
    case 'resources/list': return send({ id, result: { resources } });
    case 'resources/read': {
      const found = resources.find(({ uri }) => uri === params.uri);
      if (params.uri === 'slow://one') return;
      return found === undefined ? send({ id, error: { code: -32002, message: 'no such resource' } }) : send({ id, result: { contents: [{ uri: params.uri, mimeType: found.mimeType, text: found.text, blob: found.blob }] } });
    }
    case 'prompts/list': return send({ id, result: { prompts } });
    case 'prompts/get': return send({ id, result: { messages: [{ role: 'user', content: { type: 'text', text: `${prompts.find(({ name }) => name === params.name)?.text ?? ''} ${JSON.stringify(params.arguments)}` } }] } });
    case 'tools/call': {
      note(`call ${params.name}`);
      if (params.name === 'lone') return write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"lone \\ud800 half"}]}}\n`);
      const result = await (DOES[params.name] ?? (() => text(`called ${params.name}`)))(params.arguments ?? {}, params._meta);
      return send({ id, result });
    }
    case 'ping': return send({ id, result: {} });
    default: if (id !== undefined) return send({ id, error: { code: -32601, message: `no ${method}` } });
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method === 'notifications/cancelled') {
    cancelled.push(message.params);
    note(`cancelled ${message.params.requestId}`);
  }
  if (message.method === 'notifications/roots/list_changed') note('roots changed');
  if (message.method === undefined) return waiting.get(message.id)?.(message.result ?? message.error);
  void answer(message);
}).on('close', () => { note('input closed'); if (options.deaf !== true) process.exit(0); });
