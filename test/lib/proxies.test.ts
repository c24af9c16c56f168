import { expect, it } from 'vitest';
import { proxyFor } from '#lib/proxies.ts';

it.each([
  ['http://a.com/', { HTTP_PROXY: 'http://p:1' }, 'http://p:1'], ['https://a.com/', { HTTP_PROXY: 'http://p:1' }, undefined], ['https://a.com/', { https_proxy: 'http://q:1', HTTPS_PROXY: 'http://p:1' }, 'http://q:1'],
  ['http://localhost/', { HTTP_PROXY: 'http://p:1' }, undefined], ['http://127.0.0.9:80/', { HTTP_PROXY: 'http://p:1' }, undefined], ['http://a.com/', { HTTP_PROXY: '' }, undefined],
  ['http://a.com/', { HTTP_PROXY: 'http://p:1', NO_PROXY: '*' }, undefined], ['http://a.com/', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'b.com, a.com' }, undefined],
  ['http://x.a.com/', { HTTP_PROXY: 'http://p:1', NO_PROXY: '.a.com' }, undefined], ['http://x.a.com/', { HTTP_PROXY: 'http://p:1', no_proxy: '*.a.com' }, undefined], ['http://xa.com/', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'a.com' }, 'http://p:1'],
  ['http://a.com/', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'a.com:80' }, undefined], ['http://a.com:81/', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'a.com:80' }, 'http://p:1'],
])('%s with %j goes through %s', (url, env, proxy) => {
  expect(proxyFor(env, new URL(url))).toBe(proxy);
});
