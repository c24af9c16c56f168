import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { browse, startOAuthServer } from '../support/oauth-server.ts';
import { type InTerminal, product, until } from '../support/product.ts';

const MEMORY = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/server-memory/dist/index.js', import.meta.url));
const ready = (screen: readonly string[]): boolean => screen.some((line) => line.startsWith('> Ask, or /'));
/** Enters the line again, after a while each time, until it shows that. */
async function askUntil(terminal: InTerminal, line: string, what: string): Promise<void> {
  for (let tries = 0; tries < 20 && !terminal.lines().some((one) => one.includes(what)); tries += 1) {
    await new Promise((resolve) => { setTimeout(resolve, 500); });
    terminal.enter(line);
    await terminal.settled();
  }
  await terminal.waitFor(what);
  await terminal.waitFor(ready);
}

/** No first question. */
const welcomed = (home: string, files: Readonly<Record<string, string>> = {}): void => {
  mkdirSync(home, { recursive: true });
  for (const [name, text] of Object.entries({ welcomed: '', ...files })) writeFileSync(join(home, name), text);
};

describe('a server that a repository brings along', () => {
  const servers = { notes: { command: process.execPath, args: [MEMORY], env: { MEMORY_FILE_PATH: '${HOME}/memory.json' } }, canary: { command: '/bin/sh', args: ['-c', 'touch canary; sleep 60', '--', 'x'.repeat(120)] } };

  it('is asked about after trust, whole, at 40 columns; what was refused does not start', async () => {
    const { open, home, cwd } = product({ '.mcp.json': JSON.stringify({ mcpServers: servers }) });
    welcomed(home);
    const terminal = open({ columns: 40, rows: 40 });
    await terminal.waitFor('Do you trust');
    expect(existsSync(join(cwd, 'canary'))).toBe(false);
    terminal.type('1');
    await terminal.waitFor(/MCP server\s+canary/);
    const shown = terminal.lines().map((line) => line.trim()).join('');
    expect(shown).toContain('x'.repeat(120));
    expect(shown).toMatch(/touch ?canary; ?sleep ?60/);
    expect(existsSync(join(cwd, 'canary'))).toBe(false);
    // Enter takes no.
    terminal.type('\r');
    await terminal.waitFor(/MCP server\s+notes/);
    terminal.type('1');
    await terminal.waitFor(ready);
    expect(existsSync(join(cwd, 'canary'))).toBe(false);
    terminal.enter('/mcp ');
    await terminal.waitFor('of 2 connected');
    await askUntil(terminal, '/mcp ', '1 of 2 connected');
    expect(terminal.lines().join('\n')).toContain('you refused it');
    expect(existsSync(join(cwd, 'canary'))).toBe(false);
    terminal.enter('/exit ');
    await terminal.expectLeft();
    // Both answers were kept.
    const again = open({ columns: 80, rows: 40 });
    await again.waitFor(ready);
    expect(again.lines().join('\n')).not.toContain('May it start?');
    again.enter('/mcp approve canary ');
    await again.waitFor('Approved: canary');
    await until(() => existsSync(join(cwd, 'canary')));
    again.enter('/exit ');
    await again.expectLeft();
  });
});

describe('/mcp', () => {
  it('signs in with the browser, and out', async () => {
    const server = await startOAuthServer();
    const one = product();
    const bin = join(one.home, '..', 'bin');
    welcomed(one.home, { 'mcp.json': JSON.stringify({ mcpServers: { guarded: { url: server.url } } }) });
    mkdirSync(bin);
    for (const name of ['xdg-open', 'open']) {
      writeFileSync(join(bin, name), `#!/bin/sh\nprintf '%s' "$*" > '${bin}/part' && mv '${bin}/part' '${bin}/seen'\n`);
      chmodSync(join(bin, name), 0o755);
    }
    const terminal = one.open({ rows: 40, env: { PATH: `${bin}:${one.env['PATH'] ?? ''}` } });
    await terminal.waitFor(ready);
    terminal.enter('/mcp guarded ');
    await terminal.waitFor('sign-in needed');
    terminal.enter('/mcp login guarded ');
    await terminal.waitFor('Waiting for the browser');
    await until(() => existsSync(join(bin, 'seen')));
    expect((await browse(readFileSync(join(bin, 'seen'), 'utf8'))).status).toBe(200);
    await terminal.waitFor('Signed in to guarded');
    await terminal.waitFor(ready);
    terminal.enter('/mcp guarded ');
    await terminal.waitFor('mcp__guarded__greet');
    await terminal.waitFor(ready);
    terminal.enter('/mcp logout guarded ');
    await terminal.waitFor('Signed out of guarded');
    // Esc gives up.
    terminal.enter('/mcp login guarded ');
    await terminal.waitFor('Waiting for the browser');
    terminal.type('\u001b');
    await terminal.waitFor('interrupted');
    await terminal.waitFor(ready);
    terminal.enter('/exit ');
    await terminal.expectLeft();
  });
});
