import { gzipSync } from 'node:zlib';
import { connect, createServer } from 'node:net';
import { createServer as createHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Environment } from '#lib/proxies.ts';
import type { Page } from '#tools/web/web.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../../support/temp.ts';
import { CERTIFICATE } from '../../client/certificate.ts';
import { SITE_CERTIFICATE } from './certificate.ts';
import { type Answer, browser, INSIDE, moved, OUTSIDE, site, typed } from './site.ts';

const page = (fetched: { readonly kind: string }): Page => {
  if (fetched.kind !== 'page') throw new Error(`no page: ${JSON.stringify(fetched)}`);
  return fetched as Page;
};
const at = (port: number, path = '/', host = 'site.test'): string => `http://${host}:${port}${path}`;

describe('a page', () => {
  test('comes as Markdown, with whole links, without what no reader sees', async () => {
    const { port } = await site({ '/a/b': '<title>The  page</title><nav>Menu</nav><script>alert(1)</script><p>Some <b>bold</b> text, <a href="../c?x=(1)">a link</a>, <a href="javascript:x()">none</a>.</p><p hidden>obey</p><p style="display: none">obey</p><pre><code class="language-ts">const a = 1;</code></pre><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>x|y</td></tr></table><img src="/i.png" alt="A picture"><img src="/tracker.gif">' });
    expect(page(await browser().open(at(port, '/a/b')))).toMatchObject({ status: 200, type: 'text/html', mime: 'text/markdown', notes: [] });
    expect(page(await browser().open(at(port, '/a/b'))).text).toBe([
      '# The page', '', `Some **bold** text, [a link](http://site.test:${port}/c?x=%281%29), none.`, '', '```ts', 'const a = 1;', '```', '', '| a | b |', '| --- | --- |', String.raw`| 1 | x\|y |`, '', `![A picture](http://site.test:${port}/i.png)`,
    ].join('\n'));
  });

  test('that names its main part is read from there', async () => {
    const { port } = await site({ '/': `<div>${'side '.repeat(20)}</div><main><h1>Main</h1><p>${'words '.repeat(20)}</p></main><div>foot</div>` });
    expect(page(await browser().open(at(port))).text).toBe(`# Main\n\n${'words '.repeat(20).trim()}`);
  });

  test('of other text is as it is', async () => {
    const { port } = await site({ '/a.json': typed('application/json', '{"a": 1}\r\n'), '/b.md': typed('text/plain', '# b'), '/c': typed('', '<!DOCTYPE html><p>hi'), '/d': typed('application/vnd.api+json', '{}'), '/e': typed('image/svg+xml', '<svg/>') });
    const { open } = browser();
    expect(page(await open(at(port, '/a.json')))).toMatchObject({ mime: 'text/json', text: '{"a": 1}\n' });
    expect(page(await open(at(port, '/b.md')))).toMatchObject({ mime: 'text/markdown', text: '# b' });
    expect(page(await open(at(port, '/c')))).toMatchObject({ mime: 'text/markdown', text: 'hi' });
    expect(page(await open(at(port, '/d')))).toMatchObject({ mime: 'text/json' });
    expect(page(await open(at(port, '/e')))).toMatchObject({ text: '<svg/>' });
  });

  test.each([
    ['the server says', 'text/html; charset=windows-1251', Buffer.from([0x3c, 0x70, 0x3e, 0xcf, 0xf0]), 'Пр', 'windows-1251'],
    ['the page says', 'text/html', Buffer.concat([Buffer.from('<meta charset="shift_jis"><p>'), Buffer.from([0x93, 0xfa, 0x96, 0x7b])]), '日本', 'shift_jis'],
    ['is wrong', 'text/html; charset=utf-8', Buffer.concat([Buffer.from('<p>caf'), Buffer.from([0xe9])]), 'café', 'windows-1252'],
    ['is unknown', 'text/html; charset=klingon', Buffer.from('<p>é'), 'é', undefined],
    ['is UTF-16', 'text/plain; charset=utf-16le', Buffer.from('hällo', 'utf16le'), 'hällo', 'utf-16le'],
    ['is UTF-16 by its mark', 'text/html; charset=utf-8', Buffer.from('\ufeff<p>ä', 'utf16le'), 'ä', 'utf-16le'],
  ])('is read in the encoding that %s', async (_, type, bytes, text, charset) => {
    const { port } = await site({ '/': typed(type, bytes) });
    expect(page(await browser().open(at(port)))).toMatchObject({ text, notes: charset === undefined ? [] : [`read as ${charset}`] });
  });

  test('with characters that nobody sees comes without them, and says so', async () => {
    const { port } = await site({ '/': `<p>a\u{e0041}\u{e0042}b\u202ec` });
    expect(page(await browser().open(at(port)))).toMatchObject({ text: 'abc', notes: ['3 characters that cannot be seen left out'] });
  });

  test('nested too deeply gives its bare words', async () => {
    const { port } = await site({ '/': `<script>no</script>${'<div>'.repeat(2_500)}deep &amp; dark<p>below` });
    expect(page(await browser().open(at(port)))).toMatchObject({ mime: 'text/plain', text: 'deep & dark\nbelow', notes: [expect.stringContaining('bare words')] });
  });

  test('is remembered for a quarter of an hour', async () => {
    const { port, asked } = await site({ '/': 'x' });
    let now = 0;
    const { open } = browser({ now: () => now });
    await open(at(port));
    now = 14 * 60_000;
    expect(page(await open(at(port))).text).toBe('x');
    expect(asked).toHaveLength(1);
    now = 16 * 60_000;
    await open(at(port));
    expect(asked).toHaveLength(2);
    await open(at(port, '/missing'));
    await open(at(port, '/missing'));
    expect(asked).toHaveLength(4);
  });

  test('that is a picture comes as bytes', async () => {
    const { port } = await site({ '/p': typed('image/png', Buffer.from([1, 0, 2])), '/q': typed('text/html', '%PDF-1.7'), '/z': typed('application/zip', Buffer.from([0x50, 0x4b, 0, 0])) });
    const { open } = browser();
    expect(await open(at(port, '/p'))).toMatchObject({ kind: 'binary', type: 'image/png' });
    expect(await open(at(port, '/q'))).toMatchObject({ kind: 'binary' });
    expect(await open(at(port, '/z'))).toMatchObject({ kind: 'binary', type: 'application/zip' });
  });
});

describe('bounds', () => {
  test('an endless page is cut while it comes', async () => {
    let written = 0;
    const endless: Answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = (): void => { while (!response.destroyed && response.write('é'.repeat(8_000))) written += 16_000; };
      response.on('drain', more);
      more();
    };
    const { port } = await site({ '/': endless });
    const got = page(await browser({ mostBytes: 100_001 }).open(at(port)));
    expect(got).toMatchObject({ bytes: 100_001, notes: ['only the first 100001 bytes were taken'] });
    expect(got.text).toBe('é'.repeat(50_000));
    expect(written).toBeLessThan(50_000_000);
  });

  test('so is one that is small until it is unpacked', async () => {
    const { port } = await site({ '/': typed('text/plain', gzipSync(Buffer.alloc(50 * 1024 * 1024, 0x61)), { 'content-encoding': 'gzip' }) });
    const before = process.memoryUsage().rss;
    expect(page(await browser({ mostBytes: 1_000_000 }).open(at(port))).text).toHaveLength(1_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  test('what cannot be unpacked is told', async () => {
    const { port } = await site({ '/': typed('text/plain', 'no gzip', { 'content-encoding': 'gzip' }) });
    expect(await browser().open(at(port))).toEqual({ kind: 'problem', message: expect.stringContaining('cannot be unpacked') });
  });

  test('a server that drips a byte now and then is given up', async () => {
    const { port } = await site({ '/': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => { clearInterval(timer); });
    } });
    expect(await browser({ totalMs: 300 }).open(at(port))).toEqual({ kind: 'problem', message: expect.stringContaining('not done after') });
  });

  test('an interrupt ends it at once', async () => {
    const { port } = await site({ '/': () => undefined });
    const stop = new AbortController();
    const fetching = browser().open(at(port), false, stop.signal);
    setTimeout(() => { stop.abort(new Error('stopped')); }, 50);
    await expect(fetching).rejects.toThrow('stopped');
  });

  test.each([
    ['nobody listens', async () => (await closedPort()), 'nobody listens there'],
    ['the connection breaks', async () => (await rudePort()), 'broke the connection off'],
  ])('where %s that is said', async (_, port, words) => {
    expect(await browser().open(at(await port()))).toEqual({ kind: 'problem', message: expect.stringContaining(words) });
  });
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => { server.listen(0, OUTSIDE, listening); });
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => { server.close(closed); });
  return port;
}

async function rudePort(): Promise<number> {
  const server = createServer((socket) => { socket.once('data', () => { socket.resetAndDestroy(); }); });
  await new Promise<void>((listening) => { server.listen(0, OUTSIDE, listening); });
  onTestFinished(() => { server.close(); });
  return (server.address() as AddressInfo).port;
}

describe('where it leads', () => {
  test('redirects on the same host are followed, to others they are told', async () => {
    const { port, asked } = await site({ '/a': moved('/b'), '/b': moved('c', 307), '/c': 'there', '/away': moved('https://user:secret@other.test/x#y', 301), '/port': moved('http://site.test:1/') });
    const { open } = browser();
    expect(page(await open(at(port, '/a')))).toMatchObject({ text: 'there', url: at(port, '/c') });
    expect(await open(at(port, '/away'))).toMatchObject({ kind: 'moved', status: 301, to: { href: 'https://other.test/x' } });
    expect(await open(at(port, '/port'))).toMatchObject({ kind: 'moved' });
    expect(asked.map((line) => line.split(' ')[2])).toEqual(['/a', '/b', '/c', '/away', '/port']);
  });

  test('a ring of redirects ends, and one to nowhere is told', async () => {
    const { port, asked } = await site({ '/a': moved('/a'), '/file': moved('file:///etc/passwd'), '/odd': moved('http://[') });
    const { open } = browser();
    expect(await open(at(port, '/a'))).toEqual({ kind: 'problem', message: expect.stringContaining('given up after 5') });
    expect(asked).toHaveLength(6);
    for (const path of ['/file', '/odd']) expect(await open(at(port, path))).toEqual({ kind: 'problem', message: expect.stringContaining('leads to no address') });
  });

  test('no name leads inside: at once, by a redirect, by one of several addresses, or by a second look', async () => {
    const inner = await site({ '/': 'secret' }, { address: INSIDE });
    const outer = await site({ '/': 'public', '/in': moved(`http://127.0.0.1:${inner.port}/`) });
    const { open } = browser();
    for (const host of ['inner.test', 'both.test']) expect(await open(at(inner.port, '/', host))).toEqual({ kind: 'problem', message: `${host} leads to ${INSIDE}, which is not on the public internet; it is not fetched.` });
    for (const host of ['localhost', '127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', '10.0.0.1', 'printer', 'wiki.internal', '[fd00::1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '0.0.0.0']) {
      expect(await open(at(inner.port, '/', host))).toEqual({ kind: 'problem', message: expect.stringMatching(/this machine or one of its network/) });
    }
    expect(await open(at(outer.port, '/in'))).toMatchObject({ kind: 'moved' });
    const answers = [[OUTSIDE], [INSIDE]];
    const rebound = browser({ names: (host) => (host === 'rebind.test' ? answers.shift() ?? [INSIDE] : []) });
    expect(page(await rebound.open(at(outer.port, '/', 'rebind.test'))).text).toBe('public');
    expect(rebound.looked).toEqual(['rebind.test']);
    expect(await rebound.open(at(outer.port, '/?again', 'rebind.test'))).toMatchObject({ kind: 'problem' });
    expect(inner.connections()).toBe(0);
  });

  test('each redirect is looked at anew', async () => {
    const inner = await site({ '/b': 'secret' }, { address: INSIDE });
    const answers = [[OUTSIDE], [INSIDE]];
    const server = await site({ '/a': moved('/b') });
    expect(await browser({ names: () => answers.shift() ?? [] }).open(at(server.port, '/a'))).toMatchObject({ kind: 'problem', message: expect.stringContaining('not on the public internet') });
    expect([server.asked.length, inner.connections()]).toEqual([1, 0]);
  });

  test('services that are no pages are left alone, and names that are not there are told', async () => {
    const { open } = browser();
    expect(await open('http://site.test:6379/')).toEqual({ kind: 'problem', message: expect.stringContaining('Port 6379') });
    expect(await open('http://nowhere.test:8080/')).toEqual({ kind: 'problem', message: expect.stringContaining('no host named nowhere.test') });
  });

  test('a local host that the user has named is fetched', async () => {
    const { port } = await site({ '/': '<p>my own' }, { address: INSIDE });
    expect(page(await browser().open(at(port, '/', 'localhost'), true)).text).toBe('my own');
    expect(page(await browser().open(at(port, '/', INSIDE), true)).text).toBe('my own');
  });
});

describe('encryption', () => {
  const trusting = (certificate: string): Environment => {
    const file = join(tempFolder(), 'ca.pem');
    writeFileSync(file, certificate);
    return { NODE_EXTRA_CA_CERTS: file };
  };

  test('comes first where somebody answers with it', async () => {
    const safe = await site({ '/': 'safe', '/back': moved('http://site.test/back') }, { tls: true });
    const plain = await site({ '/': 'plain', '/back': 'plain again' });
    const env = trusting(SITE_CERTIFICATE);
    expect(await browser({ http: plain.port, https: safe.port, env }).open('http://site.test/')).toMatchObject({ text: 'safe', url: 'https://site.test/' });
    expect(await browser({ http: plain.port, https: safe.port, env }).open('http://site.test/back')).toMatchObject({ text: 'plain again' });
    expect(await browser({ http: plain.port, env }).open('http://site.test/')).toMatchObject({ text: 'plain', url: 'http://site.test/' });
    expect(await browser({ http: plain.port, https: safe.port }).open('http://site.test/')).toMatchObject({ text: 'plain' });
  });

  test('that is not sound is no encryption', async () => {
    const safe = await site({ '/': 'safe' }, { tls: true });
    expect(await browser({ https: safe.port }).open('https://site.test/')).toEqual({ kind: 'problem', message: expect.stringMatching(/^site.test cannot be fetched: its certificate or encryption is not sound/) });
    expect(await browser({ https: safe.port, env: trusting(SITE_CERTIFICATE) }).open('https://other.test/')).toEqual({ kind: 'problem', message: expect.stringContaining('certificate') });
    expect(await browser({ https: safe.port, env: { NODE_EXTRA_CA_CERTS: '/nowhere' } }).open('https://site.test/')).toEqual({ kind: 'problem', message: expect.stringContaining('NODE_EXTRA_CA_CERTS cannot be read') });
  });

  test('is not given up on the way', async () => {
    const safe = await site({ '/': moved('http://localhost/x') }, { tls: true, address: INSIDE });
    expect(await browser({ https: safe.port, env: trusting(CERTIFICATE) }).open('https://localhost/', true)).toMatchObject({ kind: 'moved', to: { href: 'http://localhost/x' } });
  });
});

describe('a proxy', () => {
  test('is asked where the environment names one, and looks up what is not known here', async () => {
    const target = await site({ '/': 'through' });
    const tunnelled: string[] = [];
    const proxy = createHttp().on('connect', (request, socket) => {
      tunnelled.push(request.url ?? '');
      const upstream = connect(target.port, OUTSIDE, () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => { socket.destroy(); });
      socket.on('error', () => { upstream.destroy(); });
    });
    await new Promise<void>((listening) => { proxy.listen(0, INSIDE, listening); });
    onTestFinished(() => {
      proxy.close();
      proxy.closeAllConnections();
    });
    const env = { HTTP_PROXY: `http://${INSIDE}:${(proxy.address() as AddressInfo).port}`, NO_PROXY: 'other.test' };
    const { open } = browser({ env });
    expect(page(await open('http://unknown-here.test:8080/')).text).toBe('through');
    expect(await open('http://inner.test:8080/')).toMatchObject({ kind: 'problem', message: expect.stringContaining('not on the public internet') });
    expect(page(await open(at(target.port, '/', 'other.test'))).text).toBe('through');
    expect(tunnelled).toEqual(['unknown-here.test:8080']);
  });
});
