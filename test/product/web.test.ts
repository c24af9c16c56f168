import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { startServer } from '../support/messages-server/server.ts';
import { product, resultIn } from '../support/product.ts';

/** A page of this machine, of a size that takes a while to parse. */
async function page(): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers['user-agent']}`);
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>Lighthouse</h1><nav>menu</nav>${'<p>It <b>shines</b>.</p>'.repeat(500)}`);
  });
  await new Promise<void>((listening) => { server.listen(0, '127.0.0.1', listening); });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://localhost:${(server.address() as AddressInfo).port}/`, asked };
}

it('the built program fetches a page of a host that a flag allows, and refuses what nobody allowed', async () => {
  const { url, asked } = await page();
  const { run } = product();
  const allowed = await run(['-p', `Fetch ${url}`, '--allowedTools', 'WebFetch(domain:localhost)']);
  expect([allowed.code, allowed.stderr]).toEqual([0, '']);
  expect(allowed.stdout).toMatch(/has characters 1-\d+ of \d+\.|has \d+ characters\./);
  expect(allowed.stdout).toContain('# Lighthouse\n');
  expect(allowed.stdout).toContain('It **shines**.');
  expect(allowed.stdout).not.toContain('menu');
  expect(asked).toEqual([expect.stringMatching(/^pinion\/\d/)]);
  const refused = await run(['-p', `Fetch ${url}`, '--output-format', 'json']);
  expect(resultIn(refused.stdout)).toMatchObject({ permission_denials: [{ tool_name: 'WebFetch' }] });
  expect(asked).toHaveLength(1);
});

it('a search is made by the small model, costs a cent, and its own blocks never come into the conversation', async () => {
  const found = { type: 'raw' as const, block: { type: 'web_search_tool_result', tool_use_id: 's1', caller: { type: 'direct' }, content: [{ type: 'web_search_result', url: 'https://lighthouse.test/', title: 'The lighthouse', encrypted_content: 'secret', page_age: null }] } };
  const server = await startServer({
    script: ({ body }, index) => {
      if (body['model'] === 'claude-haiku-5-5') return { content: [{ type: 'raw', block: { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'lighthouse' } } }, found, { type: 'text', text: 'It is 30 m high.' }], usage: { server_tool_use: { web_search_requests: 1 } } };
      return index === 0 ? { content: [call('ToolSearch', { query: 'select:WebSearch' })] } : index === 1 ? { content: [call('WebSearch', { query: 'height of the lighthouse' })] } : say('30 m.');
    },
  });
  onTestFinished(() => server.close());
  const { run, entries } = product({}, server);
  const { code, stdout } = await run(['-p', 'How high is it?', '--allowedTools', 'WebSearch', '--output-format', 'json']);
  expect([code, resultIn(stdout).result]).toEqual([0, '30 m.']);
  expect(server.requests.flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
  expect(server.requests.map(({ body }) => body['model'])).toEqual(['claude-opus-5-5', 'claude-opus-5-5', 'claude-haiku-5-5', 'claude-opus-5-5']);
  const last = JSON.stringify(server.requests.at(-1)?.body);
  expect(last).toContain('It is 30 m high.');
  expect(last).toContain('https://lighthouse.test/');
  expect(last).not.toMatch(/encrypted|server_tool_use|web_search_2/);
  expect(entries().find(({ type }) => type === 'spent')).toMatchObject({ what: 'web search', model: 'claude-haiku-5-5', requests: 1, usage: { searches: 1 } });
  expect(resultIn(stdout)['total_cost_usd']).toBeGreaterThan(0.01);
});
