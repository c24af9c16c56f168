import { describe, expect, it } from 'vitest';
import deferredTools from '#attachments/sources/deferred-tools-delta.ts';
import instructions from '#attachments/sources/mcp-instructions-delta.ts';
import { ledgerOf } from '#attachments/ledger.ts';
import type { McpServer } from '#domain/mcp.ts';
import type { World } from '#domain/world.ts';
import { memorySession } from '../support/logs.ts';
import { nothing } from '../support/nothing.ts';
import { ask, textOf, world } from './world.ts';

const numbered = (n: number, from = 0): readonly string[] => Array.from({ length: n }, (_, at) => String(from + at).padStart(4, '0'));

const toolsOf = (names: readonly string[], summary = 's'.repeat(200)): Pick<World, 'tools'> => ({ tools: { has: () => true, deferred: () => names.map((name) => ({ name, summary: `${name} ${summary}` })) } });
const nameOf = (at: string): string => `mcp__server__tool_${at}`;

describe('tools on demand', () => {
  it('few of them are named with what they do', async () => {
    const text = textOf(await ask(deferredTools, memorySession(), toolsOf(numbered(20).map(nameOf), 'does it'))) ?? '';
    expect(text.split('\n')).toHaveLength(21);
    expect(text).not.toContain('by name only');
  });
  it('three hundred are all named, the first with what they do; the user knows how many without', async () => {
    const session = memorySession();
    const spoken = await deferredTools.speak(world(session, toolsOf(numbered(300).map(nameOf))), { kind: 'never' }, new AbortController().signal);
    const text = textOf(spoken?.reminder) ?? '';
    for (const at of numbered(300)) expect(text).toContain(nameOf(at));
    expect(Buffer.byteLength(text)).toBeLessThan(17_000);
    const told = text.split('\n').filter((line) => line.startsWith('- ')).length;
    expect(told).toBeGreaterThan(20);
    expect(text).toContain('And, by name only (ToolSearch tells what they do): ');
    expect(text).not.toContain('more that are not named');
    expect(spoken?.notes).toEqual([`${300 - told} tools that can be loaded on demand were named to the model without a summary`]);
  });
  it('of thousands, as many as fit are named, and the rest is a number with how to find it', async () => {
    const spoken = await deferredTools.speak(world(memorySession(), toolsOf(numbered(3000).map(nameOf))), { kind: 'never' }, new AbortController().signal);
    const text = textOf(spoken?.reminder) ?? '';
    const named = text.match(/mcp__server__tool_\d{4}/g)?.length ?? 0;
    expect(text).toMatch(new RegExp(`and ${3000 - named} more that are not named here; ToolSearch finds them by words$`));
    expect(spoken?.notes).toHaveLength(2);
    expect(spoken?.notes[1]).toBe(`${3000 - named} tools that can be loaded on demand were not named to the model, which can search for them`);
  });
  it('that come or go by the hundreds are told within the same bounds', async () => {
    const session = memorySession();
    await ask(deferredTools, session, toolsOf(numbered(300).map(nameOf)));
    const text = textOf(await ask(deferredTools, session, toolsOf(numbered(400, 1000).map(nameOf)))) ?? '';
    for (const at of numbered(400, 1000)) expect(text).toContain(nameOf(at));
    expect(text).toMatch(/No longer available: .* and \d+ more that are not named here/);
    expect(Buffer.byteLength(text)).toBeLessThan(18_000);
  });
});

const serversOf = (names: readonly string[], words = (name: string): string => `Words of ${name}.`): Pick<World, 'outside'> => ({
  outside: { ...nothing.outside, mcp: { ...nothing.outside.mcp, servers: () => names.map((name): McpServer => ({ name, scope: 'user', transport: 'stdio', state: 'connected', instructions: words(name), tools: [], resources: [], prompts: [], notes: [] })) } },
});

describe('what servers say of themselves', () => {
  const many = numbered(23).map((at) => `s${at}`);

  it('is told of twenty; how many were left out, and which, is one line, to the user too', async () => {
    const spoken = await instructions.speak(world(memorySession(), serversOf(many)), { kind: 'never' }, new AbortController().signal);
    const text = textOf(spoken?.reminder) ?? '';
    expect(text).toContain('Words of s0019.');
    expect(text).not.toContain('Words of s0020.');
    expect(text.split('\n').at(-1)).toBe('3 more servers describe themselves too; left out here, where those of 20 are told: s0020, s0021, s0022');
    expect(spoken?.notes).toEqual(['the instructions of 3 servers were left out: those of 20 are told (/mcp <server> shows them)']);
  });
  it('nothing is said again where nothing changed, and one that gave way to another is not called gone', async () => {
    const session = memorySession();
    await ask(instructions, session, serversOf(many));
    expect(await ask(instructions, session, serversOf(many))).toBeUndefined();
    const text = textOf(await ask(instructions, session, serversOf(['a', ...many]))) ?? '';
    expect(text).toContain('Words of a.');
    expect(text).toContain('4 more servers describe themselves too');
    expect(text).not.toContain('No longer connected');
    const gone = textOf(await ask(instructions, session, serversOf(many.slice(0, 19)))) ?? '';
    expect(gone).toContain('No longer connected, so that what they said does not hold: a, s0019, s0020, s0021, s0022');
    expect(ledgerOf(session.log).get(instructions.id)).toMatchObject({ kind: 'sent', snapshot: { more: [] } });
  });
});
