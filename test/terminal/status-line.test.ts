import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { width } from '#lib/terminal.ts';
import { type InTerminal, product, type Product } from '../support/product.ts';

/** A product that has been welcomed, with a status line of the user's. */
function withLine(command: string, files: Readonly<Record<string, string>> = {}): Product {
  const made = product(files);
  const claude = join(made.env['HOME'] ?? '', '.claude');
  mkdirSync(claude, { recursive: true });
  mkdirSync(made.home, { recursive: true });
  writeFileSync(join(made.home, 'welcomed'), '');
  if (command !== '') writeFileSync(join(claude, 'settings.json'), JSON.stringify({ statusLine: { type: 'command', command } }));
  return made;
}

const last = (terminal: InTerminal): readonly string[] => terminal.lines().filter((line) => line !== '').slice(-3);
/** Counts its runs, and shows what it was given in colours, with a link, in a line that is too long. */
const SCRIPT = `echo x >> "$HOME/runs"
name=$(sed 's/.*"display_name":"\\([^"]*\\)".*/\\1/')
printf '\\033[32mrun %d of %s\\033[0m \\033]8;;https://example.org\\033\\\\link\\033]8;;\\033\\\\ ${'long '.repeat(30)}\\nsecond\\n' "$(wc -l < "$HOME/runs")" "$name"
`;

describe('a status line of the person\'s own', () => {
  it.each([[80, 24], [40, 12]])('stands above ours, %i by %i, and follows what happens', async (columns, rows) => {
    const { open, env } = withLine('sh "$HOME/line.sh"');
    writeFileSync(join(env['HOME'] ?? '', 'line.sh'), SCRIPT);
    const terminal = open({ columns, rows });
    await terminal.waitFor(/^run 1 of Demo/m);
    if (columns === 80) expect(last(terminal).slice(1)).toEqual(['second', 'demo, not an AI · asks before it acts']);
    terminal.enter('hello');
    await terminal.waitFor(/^run 2 of Demo/m);
    terminal.type('\x1b[Z');
    await terminal.waitFor(/^run 3 of Demo/m);
    expect(last(terminal).at(-1)).toContain('edits');
    for (const line of terminal.lines()) expect(width(line)).toBeLessThanOrEqual(columns);
    terminal.enter('/exit');
    await terminal.expectLeft();
  });

  it('that fails is said once, and leaves ours', async () => {
    const { open } = withLine('echo "no jq here" >&2; exit 7');
    const terminal = open();
    await terminal.waitFor('failed (exit code 7, no jq here)');
    terminal.enter('hello');
    await terminal.waitFor(/^demo.* · cache /m);
    expect(terminal.lines().filter((line) => line.includes('exit code 7'))).toHaveLength(1);
    terminal.enter('/exit');
    await terminal.expectLeft();
  });

  it('is shown, set and taken away by /statusline', async () => {
    const { open, home } = withLine('');
    const terminal = open({ rows: 60 });
    await terminal.waitFor('> Ask, or /');
    terminal.enter('/statusline ');
    await terminal.waitFor('"display_name"');
    terminal.enter('/statusline echo mine it is');
    await terminal.waitFor(/^mine it is$/m);
    expect(JSON.parse(readFileSync(join(home, 'settings.json'), 'utf8'))).toEqual({ statusLine: { type: 'command', command: 'echo mine it is' } });
    terminal.enter('/statusline off ');
    await terminal.waitFor((screen) => !screen.includes('mine it is'));
    terminal.enter('/exit');
    await terminal.expectLeft();
  });
});

describe('a repository\'s status line', () => {
  const settings = (word: string): string => JSON.stringify({ statusLine: { type: 'command', command: `touch "$HOME/${word}"; echo "key=$ANTHROPIC_API_KEY ${word}"` } });

  it('runs only once it was agreed to, without our key, and asks anew when it has changed', async () => {
    const made = withLine('', { '.claude/settings.json': settings('first') });
    const ran = (word: string): boolean => existsSync(join(made.env['HOME'] ?? '', word));
    const refused = made.open({ columns: 100 });
    await refused.waitFor('Do you trust');
    expect(refused.lines().join('\n')).toContain('statusLine runs touch "$HOME/first"');
    refused.type('2');
    await refused.waitFor('> Ask, or /');
    refused.enter('/exit');
    await refused.expectLeft();
    expect(ran('first')).toBe(false);

    const agreed = made.open({ env: { ANTHROPIC_API_KEY: 'sk-ant-mine' } });
    await agreed.waitFor('Do you trust');
    agreed.type('1');
    await agreed.waitFor(/^key= first$/m);
    agreed.enter('/exit');
    await agreed.expectLeft();

    writeFileSync(join(made.cwd, '.claude/settings.json'), settings('second'));
    const changed = made.open();
    await changed.waitFor('Run its command?');
    expect(ran('second')).toBe(false);
    changed.type('1');
    await changed.waitFor(/^key= second$/m);
    changed.enter('/exit');
    await changed.expectLeft();

    const same = made.open();
    await same.waitFor(/^key= second$/m);
    same.enter('/exit');
    await same.expectLeft();
  });
});
