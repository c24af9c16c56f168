import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { product } from '../support/product.ts';
import { tempFolder } from '../support/temp.ts';

const RULE = '---\npaths: ["**/*.py"]\n---\nPython rules\n';

describe('memory in the built program', () => {
  it('lists where each line comes from, rules with their front matter, and what was left out', async () => {
    const outside = tempFolder({ 'team.md': 'TEAM' });
    const at = product({ 'AGENTS.md': `Be brief.\n@${outside}/team.md\n@docs/a.md\n`, 'docs/a.md': 'A', '.claude/rules/py.md': RULE });
    const { stdout, code } = await at.run(['-p', '/memory']);
    expect(code).toBe(0);
    for (const part of ['AGENTS.md imports docs/a.md', `@${outside}/team.md: not imported, it lies outside the project, not approved by the user`, 'project, waits for **/*.py', 'There are no kept notes yet.', '/memory edit project']) expect(stdout).toContain(part);
    expect((await at.run(['-p', '/memory edit'])).code).toBe(2);
    expect(readdirSync(at.home).includes('memory')).toBe(false);
  });
  it('says on standard error what an unattended run leaves out', async () => {
    const outside = tempFolder({ 'team.md': 'TEAM' });
    const at = product({ 'AGENTS.md': `@${outside}/team.md\n` });
    const { stderr, code } = await at.run(['-p', 'What do you see?']);
    expect(code).toBe(0);
    expect(stderr).toContain('not approved by the user');
    expect(existsSync(join(at.home, 'trust.json'))).toBe(false);
  });
  it('asks at the first prompt, on the screen, and goes on with what was said', async () => {
    const outside = tempFolder({ 'team.md': 'TEAM RULES' });
    const at = product({ 'AGENTS.md': `@${outside}/team.md\n` });
    mkdirSync(at.home, { recursive: true });
    writeFileSync(join(at.home, 'welcomed'), '');
    const terminal = at.open({ columns: 80, rows: 40 });
    await terminal.waitFor(/Ask, or/);
    expect(terminal.lines().join('\n')).not.toContain('from outside the project');
    terminal.enter('Count to 3');
    await terminal.waitFor(/from outside the project/);
    terminal.type('1');
    await terminal.waitFor(/3\. line 3/);
    expect(JSON.stringify(at.entries())).toContain('TEAM RULES');
    expect(readFileSync(join(at.home, 'trust.json'), 'utf8')).toContain(`"${outside}/team.md": true`);
    terminal.enter('/exit');
    await terminal.expectLeft();
  });
});
