import { describe, expect, it } from 'vitest';
import { exposedName, serverSlugs } from '#mcp/names.ts';

const slugs = (...names: readonly string[]): readonly (string | undefined)[] => names.map((name) => serverSlugs(names).get(name));

describe('names of servers in names of tools', () => {
  it('stay as they are where they can', () => { expect(slugs('github', 'my-server', 'a_b')).toEqual(['github', 'my-server', 'a_b']); });
  it('lose what a tool name cannot hold, and never hold two underscores or one at an end', () => {
    expect(slugs('my.server', 'a__b', '_x_', 'über server')).toEqual(['my_server', 'a_b', 'x', 'ber_server']);
  });
  it('are told apart by a hash where two would be one; the exact one keeps its name', () => {
    const [exact, dotted, spaced] = slugs('my_server', 'my.server', 'my server');
    expect(exact).toBe('my_server');
    expect(dotted).toMatch(/^my_server_[0-9a-f]{6}$/);
    expect(spaced).toMatch(/^my_server_[0-9a-f]{6}$/);
    expect(dotted).not.toBe(spaced);
  });
  it('are cut, and never empty', () => {
    const [long, none] = slugs('s'.repeat(80), '日本');
    expect(long?.length).toBeLessThanOrEqual(30);
    expect(none).toMatch(/^[0-9a-f]{6}$/);
  });
});

describe('names of tools', () => {
  const every = ['echo', 'admin.tools.list', 'admin_tools_list', 'admin/tools/list', 't'.repeat(70), `${'t'.repeat(70)}x`, '', '日本語', 'a b'];
  it('are what the API takes, each of its own, and the same each time', () => {
    const names = every.map((name) => exposedName('server', name));
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(new Set(names).size).toBe(every.length);
    expect(every.map((name) => exposedName('server', name))).toEqual(names);
  });
  it('stay as they are where they can', () => { expect(exposedName('github', 'create_issue')).toBe('mcp__github__create_issue'); });
});
