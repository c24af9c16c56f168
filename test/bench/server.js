// A Messages API on the loopback interface that answers at once with what it was told to, so that only the program's time is measured.
import { createServer } from 'node:http';

/**
 * Starts the server. `script` holds replies in order: a string is an answer in words, an object `{ tool, input }` a call;
 * past its end every request is answered in words. Close it.
 */
export async function startServer(script = []) {
  const requests = [];
  const handle = async (request, response) => {
    const at = performance.now();
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    if (request.method !== 'POST' || !request.url?.startsWith('/v1/messages')) return response.writeHead(404, { 'content-type': 'application/json' }).end('{"type":"error","error":{"type":"not_found_error","message":"not here"}}');
    const index = requests.push({ at, bytes: Buffer.byteLength(body), body: JSON.parse(body) }) - 1;
    return answer(response, script[index] ?? 'Done.', index);
  };
  const server = createServer((request, response) => { handle(request, response).catch(() => { response.destroy(); }); });
  await new Promise((listening) => { server.listen(0, '127.0.0.1', listening); });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    close: () => new Promise((closed) => { server.close(closed); server.closeAllConnections(); }),
  };
}

function answer(response, reply, index) {
  const isCall = typeof reply !== 'string';
  const block = isCall ? { type: 'tool_use', id: `toolu_${String(index).padStart(4, '0')}`, name: reply.tool, input: {} } : { type: 'text', text: '' };
  const delta = isCall ? { type: 'input_json_delta', partial_json: JSON.stringify(reply.input) } : { type: 'text_delta', text: reply };
  const usage = { input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end([
    { type: 'message_start', message: { id: `msg_${index}`, type: 'message', role: 'assistant', model: 'claude-opus-5-5', content: [], stop_reason: null, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: 20 } },
    { type: 'message_stop' },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}
