// A language server that misbehaves in the way that its first argument names. Each line of a document that holds "bad" is an error.
import { appendFileSync, writeFileSync } from 'node:fs';

const [, , how = 'good', file] = process.argv;
const note = (line) => { if (file !== undefined) appendFileSync(file, `${line}\n`); };
note(`started ${process.pid}`);

const raw = (text, length = Buffer.byteLength(text)) => { process.stdout.write(`Content-Length: ${length}\r\n\r\n${text}`); };
const send = (message) => { raw(JSON.stringify({ jsonrpc: '2.0', ...message })); };
const docs = new Map();

if (how === 'dies at once') process.exit(3);
if (how === 'stderr') for (let i = 0; i < 5000; i += 1) process.stderr.write(`noise ${i} \u001b[31m${'x'.repeat(300)}\n`);
if (how === 'no protocol') process.stdout.write('hello, I am no server\n'.repeat(500));
if (how === 'no term') process.on('SIGTERM', () => note('term'));
if (how === 'endless length') process.stdout.write('Content-Length: 99999999999999\r\n\r\n');

const at = (line) => (how === 'utf-8' ? Buffer.byteLength(line.slice(0, line.indexOf('bad'))) : line.indexOf('bad'));
const reports = (uri) => (docs.get(uri)?.text ?? '').split('\n').flatMap((line, number) => (line.includes('bad') ? [{ range: { start: { line: number, character: at(line) }, end: { line: number, character: at(line) + 3 } }, severity: 1, source: 'odd', message: `${line.trim()} is bad` }] : []));

function publish(uri) {
  const doc = docs.get(uri);
  if (how === 'old versions') send({ method: 'textDocument/publishDiagnostics', params: { uri, version: doc.version - 1, diagnostics: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }, severity: 1, message: `stale of ${doc.version - 1}` }] } });
  else if (how === 'silent') return;
  else if (how === 'huge') send({ method: 'textDocument/publishDiagnostics', params: { uri, version: doc.version, diagnostics: [], padding: 'x'.repeat(10 * 1024 * 1024) } });
  else if (how === 'many') send({ method: 'textDocument/publishDiagnostics', params: { uri, version: doc.version, diagnostics: Array.from({ length: 5000 }, (_, i) => ({ range: { start: { line: i, character: 0 }, end: { line: i, character: 1 } }, severity: 1, message: `error ${i} ${'y'.repeat(1000)}` })) } });
  else if (how === 'nonsense') send({ method: 'textDocument/publishDiagnostics', params: { uri, diagnostics: [null, 7, {}, { range: null, message: 'x' }, { range: { start: { line: 'a', character: {} } }, message: [] }, { range: { start: { line: -5, character: 1e300 } }, severity: 99, message: { value: 'taken all the same' }, code: { a: 1 }, source: 5 }] } });
  else send({ method: 'textDocument/publishDiagnostics', params: { uri, version: doc.version, diagnostics: reports(uri) } });
}

const STARTS = {
  asks() {
    for (const [id, method, params] of [['a', 'workspace/configuration', { items: [{ section: 'odd.deep' }, { section: 'none' }, {}] }], ['b', 'what/is/this', {}], ['c', 'client/registerCapability', { registrations: [null, { method: 'workspace/didChangeWatchedFiles', id: 'w', registerOptions: { watchers: [{ globPattern: '**/*.odd' }, null, { globPattern: 7 }] } }] }], ['d', 'workspace/applyEdit', { edit: {} }], ['e', 'window/showMessageRequest', { message: 'yes?', actions: [] }], ['f', 'workspace/workspaceFolders', null]]) send({ id, method, params });
  },
  flood() { setInterval(() => { for (let i = 0; i < 5000; i += 1) send({ method: 'window/logMessage', params: { type: 3, message: 'flood' } }); }, 1); },
};

function answer({ id, method, params }) {
  if (method === undefined) {
    note(`answer ${id} ${JSON.stringify(params)}`);
    return;
  }
  note(method);
  if (method === 'initialize') {
    if (how === 'never initialises') return;
    if (how === 'dies at initialize') process.exit(4);
    if (how === 'error') return send({ id, error: { code: -32603, message: 'I do not feel like it' } });
    if (how === 'bad length') return raw(JSON.stringify({ jsonrpc: '2.0', id, result: { capabilities: {} } }), 20);
    if (how === 'deep') return raw(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${'['.repeat(100000)}${']'.repeat(100000)}}`);
    send({ id, result: { capabilities: { positionEncoding: how === 'utf-8' ? 'utf-8' : 'utf-16', textDocumentSync: how === 'utf-8' ? 2 : 1, documentSymbolProvider: true, hoverProvider: true, workspaceSymbolProvider: true, definitionProvider: true, ...(how.startsWith('pull') && { diagnosticProvider: {} }) } } });
    STARTS[how]?.();
  } else if (method === 'shutdown') {
    if (how !== 'no shutdown' && how !== 'no term') send({ id, result: null });
  } else if (method === 'exit') {
    note('exited');
    if (how !== 'no term') process.exit(0);
  } else if (method === 'textDocument/didOpen') {
    docs.set(params.textDocument.uri, { version: params.textDocument.version, text: params.textDocument.text });
    if (how === 'dies at open') process.exit(5);
    publish(params.textDocument.uri);
  } else if (method === 'textDocument/didChange') {
    const doc = docs.get(params.textDocument.uri);
    doc.version = params.textDocument.version;
    for (const change of params.contentChanges) doc.text = change.range === undefined ? change.text : applied(doc.text, change);
    if (file !== undefined) writeFileSync(`${file}.text`, doc.text);
    publish(params.textDocument.uri);
  } else if (method === 'textDocument/didClose') docs.delete(params.textDocument.uri);
  else if (method === 'textDocument/diagnostic') {
    if (how === 'pull hangs') return;
    if (how === 'pull refreshes') send({ id: `r${id}`, method: 'workspace/diagnostic/refresh' });
    send({ id, result: { kind: 'full', items: reports(params.textDocument.uri) } });
  } else if (method === 'textDocument/definition') send({ id, result: { uri: params.textDocument.uri, range: { start: params.position, end: params.position } } });
  else if (method === 'textDocument/hover') send({ id, result: { contents: ['one', { language: 'odd', value: 'two' }] } });
  else if (method === 'workspace/symbol') {
    if (how !== 'no symbols') send({ id, result: [{ name: 'Deep', kind: 5, containerName: 'Top', location: { uri: [...docs.keys()][0], range: { start: { line: 1, character: 0 }, end: { line: 3, character: 0 } } } }] });
  } else if (id !== undefined) send({ id, result: [] });
}

/** Positions in bytes of UTF-8, as this server has said. */
function applied(text, { range, text: put }) {
  const offset = ({ line, character }) => {
    const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
    const before = lines.slice(0, line).join('');
    return before.length + Buffer.from(lines[line] ?? '').subarray(0, character).toString('utf8').length;
  };
  return text.slice(0, offset(range.start)) + put + text.slice(offset(range.end));
}

let buffer = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(buffer.toString('utf8', 0, end))[1]);
    if (buffer.length < end + 4 + length) return;
    const message = JSON.parse(buffer.toString('utf8', end + 4, end + 4 + length));
    buffer = buffer.subarray(end + 4 + length);
    if ('result' in message || 'error' in message) note(`answer ${message.id} ${JSON.stringify('result' in message ? message.result : message.error)}`);
    else answer(message);
  }
});
process.stdin.on('end', () => { if (how !== 'no term') process.exit(0); });
if (how === 'no term') setInterval(() => undefined, 1000);
