import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

/** A package registry that has these packages, all of them hollow: a manifest and nothing else. Others are not found. Close it. */
export async function hollowRegistry(folder: string, versions: Readonly<Record<string, string>>): Promise<Registry> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    if (path.startsWith('-/') && path.endsWith('.tgz')) return void response.end(hollow(folder, path));
    const version = versions[path];
    if (version === undefined) return void response.writeHead(404).end('{"error":"not found"}');
    const dist = { tarball: `${addressOf(server)}/-/${encodeURIComponent(path)}@${version}.tgz` };
    return void response.end(JSON.stringify({ name: path, 'dist-tags': { latest: version }, versions: { [version]: { name: path, version, dist } } }));
  });
  await new Promise<void>((listening) => { server.listen(0, '127.0.0.1', listening); });
  return {
    url: addressOf(server),
    close: () => new Promise((closed) => {
      server.close(() => { closed(); });
      server.closeAllConnections();
    }),
  };
}

const addressOf = (server: ReturnType<typeof createServer>): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function hollow(folder: string, path: string): Buffer {
  const [, name = '', version = ''] = /^-\/(.+)@([^@]+)\.tgz$/.exec(path) ?? [];
  const base = join(folder, name.replace('/', '+'));
  mkdirSync(join(base, 'package'), { recursive: true });
  writeFileSync(join(base, 'package', 'package.json'), JSON.stringify({ name, version }));
  return execFileSync('tar', ['-czf', '-', '-C', base, 'package']);
}
