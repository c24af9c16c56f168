import { expect, it } from 'vitest';
import { isLocalHost, isPublicAddress } from '#lib/addresses.ts';

it.each([
  '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.254', '127.0.0.1', '127.255.0.1', '168.63.129.16', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.88.99.1',
  '192.168.1.1', '198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9', '224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255',
  '::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::7f00:1', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1', '100::1', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:10::1', '2001:20::1', '2001:db8::1',
  '2002:7f00:1::', '2002:808:808::1', '3fff::1', '5f00::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', 'nonsense', '', '1.2.3', '01.2.3.4',
])('%s is not of the public internet', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

it.each(['1.1.1.1', '8.8.8.8', '93.184.216.34', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '192.0.1.1', '198.17.0.1', '198.20.0.1', '223.255.255.255', '2606:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888', '2003::1'])('%s is', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

it('hosts nearby are told by their names', () => {
  for (const host of ['localhost', 'LOCALHOST', 'a.localhost', 'localhost.', 'printer', 'nas.local', 'wiki.internal', 'router.home.arpa', 'x.lan', '127.0.0.1', '[::1]', '10.1.1.1', '[fe80::1]']) expect([host, isLocalHost(host)]).toEqual([host, true]);
  for (const host of ['example.com', 'local.example.com', 'mylocal', 'notlocalhost.com', '8.8.8.8', '[2606:4700::1111]', 'internal.com']) expect([host, isLocalHost(host)]).toEqual([host, host === 'mylocal']);
});
