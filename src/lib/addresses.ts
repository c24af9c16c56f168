import { BlockList, isIP } from 'node:net';

/** Networks of IPv4 that are not the public internet: this host, private, shared (CGNAT), link-local with cloud metadata, a cloud's host agent, test, relay, multicast, reserved. */
const NOT_PUBLIC_4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['168.63.129.16', 32], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.0.0.0', 24], ['192.0.2.0', 24],
  ['192.88.99.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15], ['198.51.100.0', 24], ['203.0.113.0', 24], ['224.0.0.0', 4], ['240.0.0.0', 4],
];
/** Parts of the one public block of IPv6 that are none: Teredo, benchmarks, ORCHID, documentation, and 6to4, which holds an IPv4 address. */
const NOT_PUBLIC_6: readonly (readonly [string, number])[] = [['2001::', 23], ['2001:db8::', 32], ['2002::', 16], ['3fff::', 20]];
const PUBLIC_6 = ['2000::', 3] as const;

const refused = new BlockList();
for (const [network, bits] of NOT_PUBLIC_4) refused.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of NOT_PUBLIC_6) refused.addSubnet(network, bits, 'ipv6');
const public6 = new BlockList();
public6.addSubnet(...PUBLIC_6, 'ipv6');

/** Whether an IP address is one of the public internet. Whatever stands for an IPv4 address in IPv6 (mapped, NAT64, 6to4) is none. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  switch (isIP(plain)) {
    case 4: return !refused.check(plain, 'ipv4');
    case 6: return public6.check(plain, 'ipv6') && !refused.check(plain, 'ipv6');
    default: return false;
  }
}

const LOCAL_NAME = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|private|home\.arpa)$/;

/** Whether a host of a URL plainly is this machine or one nearby: by its name, or as an address that is not public. */
export function isLocalHost(host: string): boolean {
  const plain = host.toLowerCase().replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(plain) !== 0) return !isPublicAddress(plain);
  return !plain.includes('.') || LOCAL_NAME.test(plain);
}
