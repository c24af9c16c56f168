import { describe, expect, it } from 'vitest';
import { commands } from '#commands/list.ts';
import type { Card } from '#domain/card.ts';
import type { Effect } from '#domain/command.ts';
import { width } from '#lib/terminal.ts';
import { desk, drawn, summary } from '../commands/support.ts';

const ODD = ['', ' ', '--', '--all', '--nope', '0', '-1', '99', 'done', 'done x', 'edit 1', 'move 1 1 1', 'constructor', '__proto__', 'a\nb\u001b[2J\u0007', '"', '!', '!\n', '../..', '\u{1F468}\u{200D}\u{1F469}', 'x'.repeat(5000), 'note ', 'clear done extra', '/help', '%s ${x}'];
const EFFECTS: ReadonlySet<Effect['type']> = new Set(['show', 'append', 'submit', 'compact', 'clear', 'resume', 'model', 'mode', 'stopTask', 'takeBack', 'ide', 'login', 'logout', 'configure', 'import', 'hooks', 'exit', 'refuse']);

function cardOf(effect: Effect): Card | undefined {
  return effect.type === 'show' || effect.type === 'append' ? effect.card : undefined;
}

function checkCard(card: Card): void {
  expect(card.title.trim()).not.toBe('');
  for (const block of card.body) {
    if (block.type !== 'table') continue;
    for (const row of block.rows) expect(row).toHaveLength(block.head.length);
    if (block.align !== undefined) expect(block.align).toHaveLength(block.head.length);
  }
  for (const columns of [40, 80]) for (const line of drawn(card, columns)) expect(width(line)).toBeLessThanOrEqual(columns);
}

function checkEffect(effect: Effect): void {
  expect(EFFECTS).toContain(effect.type);
  if (effect.type === 'refuse') {
    expect(effect.message).toMatch(/^[^\p{Cc}]+$/u);
    expect(effect.message.length).toBeLessThan(400);
  }
  if (effect.type === 'append') expect(effect.entries.length).toBeGreaterThan(0);
  const card = cardOf(effect);
  if (card !== undefined) checkCard(card);
}

describe.each(commands.map((command) => [command.id, command] as const))('/%s', (id, command) => {
  it('says in one short line what it does', () => {
    expect(id).toMatch(/^[a-z][a-z-]*$/);
    expect(command.summary).toMatch(/^[A-Z][^\n]*[^.\s]$/);
    expect(command.summary.length).toBeLessThanOrEqual(80);
    expect(command.usage ?? '').not.toMatch(/\n/);
    expect(command.group).toBeDefined();
    // In the list of all, one line of 80 columns.
    expect(command.summary.split('; ')[0]?.length).toBeLessThanOrEqual(60);
  });

  it('is explained by /help', async () => {
    const help = await desk().shown(`help ${id}`);
    expect(help).toContain(`/${id}${command.usage === undefined ? '' : ` ${command.usage}`}`);
    expect(help).toContain(command.summary);
    for (const alias of command.aliases ?? []) expect(help).toContain(`/${alias}`);
    expect(await desk().shown('help')).toMatch(new RegExp(`^/${id} `, 'm'));
  });

  it.each(['screen', 'print'] as const)('takes whatever is written behind it (%s)', async (surface) => {
    const { context, session } = desk({ 'a.ts': 'x\n' }, { surface, sessions: () => Promise.resolve([summary('99'), summary('998')]) });
    session.append({ type: 'attach', by: 'user', attachment: { kind: 'todo', id: 'todo:list', items: [{ id: 1, text: 'x', state: 'open', by: 'model' }] } });
    session.append({ type: 'attach', by: 'user', attachment: { kind: 'memory', id: 'memory:m', slug: 'm', text: 'x' } });
    for (const args of ODD) checkEffect(await command.run(args, context));
    expect(session.log).toHaveLength(2);
  });

  it('completes whatever is written behind it', async () => {
    const { context } = desk({ 'a.ts': 'x\n' }, { sessions: () => Promise.reject(new Error('disk gone')) });
    for (const args of ODD) for (const word of await command.complete?.(args, context) ?? []) expect(word.trim()).not.toBe('');
  });
});

describe('the shelf', () => {
  it('has the commands of a group together', () => {
    const groups = commands.map(({ group }) => group).filter((group, i, all) => group !== all[i - 1]);
    expect(new Set(groups).size).toBe(groups.length);
  });

  it('has no name twice, aliases included', () => {
    const names = commands.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
  });
});
