import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { say } from '../support/messages-server/reply.ts';
import { startServer } from '../support/messages-server/server.ts';
import { product } from '../support/product.ts';

/** A proxy that tunnels to the one server whatever it is asked for, and says what that was. */
async function tunnel(port: number): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const proxy = createServer().on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => { socket.destroy(); });
    socket.on('error', () => { upstream.destroy(); });
  });
  await new Promise<void>((listening) => { proxy.listen(0, '127.0.0.1', listening); });
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
}

it('the built program reaches its model through a proxy', async () => {
  const server = await startServer({ script: [say('Through the tunnel.')] });
  onTestFinished(() => server.close());
  const { url, asked } = await tunnel(Number(new URL(server.url).port));
  const { run } = product({}, { url: 'http://model.test' }, { HTTP_PROXY: url });
  expect(await run(['-p', 'hello'])).toEqual({ code: 0, stdout: 'Through the tunnel.\n', stderr: '' });
  expect(asked).toEqual(['model.test:80']);
});
