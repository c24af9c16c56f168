import { describe, expect, it } from 'vitest';
import { Answered, UsageError } from '#cli/arguments.ts';
import { parseMcpArguments } from '#cli/mcp.ts';

const parse = (...argv: readonly string[]) => parseMcpArguments(argv, 80);
const thrown = (...argv: readonly string[]): Error => thrownAt(80, argv);
function thrownAt(columns: number, argv: readonly string[]): Error {
  try {
    parseMcpArguments(argv, columns);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
}

describe('pinion mcp reads', () => {
  it.each([
    ['a command, everything behind -- in its order', ['add', 'a', '--', 'npx', '-y', 'pkg', '--', '-e', 'X=1', '--scope'], { verb: 'add', name: 'a', scope: 'local', value: { command: 'npx', args: ['-y', 'pkg', '--', '-e', 'X=1', '--scope'] } }],
    ['flags before and behind the name', ['add', '-e', 'A=b=c', '-s', 'user', 'a', '-e', 'B=', '--', 'x'], { verb: 'add', name: 'a', scope: 'user', value: { command: 'x', args: [], env: { A: 'b=c', B: '' } } }],
    ['a command without --', ['add', 'a', 'node', 'server.js'], { verb: 'add', name: 'a', scope: 'local', value: { command: 'node', args: ['server.js'] } }],
    ['an address', ['add', '--scope', 'project', 'a', 'https://x.test/mcp', '-H', 'Authorization: Bearer a:b', '--header', 'X:y'], { verb: 'add', name: 'a', scope: 'project', value: { type: 'http', url: 'https://x.test/mcp', headers: { Authorization: 'Bearer a:b', X: 'y' } } }],
    ['a transport', ['add', '--transport', 'sse', 'a', 'https://x.test/sse', '--client-id', 'i', '--callback-port', '8080'], { verb: 'add', name: 'a', scope: 'local', value: { type: 'sse', url: 'https://x.test/sse', oauth: { clientId: 'i', callbackPort: 8080 } } }],
    ['JSON', ['add-json', 'a', '{"command":"x"}', '-s', 'user'], { verb: 'add', name: 'a', scope: 'user', value: { command: 'x' } }],
    ['list', ['list', '--json'], { verb: 'list', json: true }], ['get', ['get', 'a'], { verb: 'get', name: 'a', json: false }],
    ['remove', ['remove', 'a', '--scope', 'local'], { verb: 'remove', name: 'a', scope: 'local' }], ['test', ['test', 'a'], { verb: 'test', name: 'a' }],
    ['login', ['login', 'a'], { verb: 'login', name: 'a' }], ['approve', ['approve', 'a'], { verb: 'approve', name: 'a' }],
  ])('%s', (_, argv, request) => {
    expect(parse(...argv)).toEqual(request);
  });

  it.each([
    [['add', 'a', 'npx', '-y', 'pkg'], 'stands behind --'], [['add', 'a'], 'command-or-url'], [['add', 'a', '-e', 'novalue', '--', 'x'], 'KEY=value'], [['add', 'a', 'https://x', '-H', 'secret-without-colon'], 'Name: value'],
    [['add', 'a', 'https://x', '-e', 'A=b'], '-H'], [['add', 'a', '-H', 'A: b', '--', 'x'], '-e KEY=value'], [['add', 'a', 'https://x', 'more'], 'nothing follows'], [['add', 'a', '--scope', 'world', '--', 'x'], 'local, user, project'],
    [['add', '--client-id', 'x', 'a', '--', 'y'], 'servers with an address'], [['add-json', 'a', '{'], 'no JSON'], [['frobnicate'], "unknown command 'frobnicate'"], [['test'], 'name'], [['list', 'extra'], 'too many'],
  ])('%j as wrong', (argv, why) => {
    const error = thrown(...argv);
    expect(error).toBeInstanceOf(UsageError);
    expect(error.message).toContain(why);
    expect(error.message).not.toMatch(/\n|secret-without-colon/);
  });

  it.each([[[]], [['--help']], [['add', '--help']], [['test', '-h']]])('%j as a wish for help, within 80 columns', (argv) => {
    const error = thrown(...argv);
    expect(error).toBeInstanceOf(Answered);
    expect(error.message).toMatch(/^Usage: pinion mcp/);
    for (const line of error.message.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const narrow = thrownAt(40, argv).message.split('\n');
    // What is there to be copied stays on its line.
    expect(narrow.filter((line) => line.length > 40 && !/^(?:Usage: |  )pinion mcp /.test(line))).toEqual([]);
  });
});
