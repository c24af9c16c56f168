import { describe, expect, it } from 'vitest';
import type { CommandContext } from '#domain/command.ts';
import { desk, drawn } from './support.ts';

const styles: CommandContext['styles'] = () => Promise.resolve({
  all: [{ name: 'default', description: 'As it is', body: '', from: 'built in' }, { name: 'Pirate', description: 'Arr '.repeat(30), body: 'Arr.', from: 'project' }], now: 'default',
});

describe('/plan', () => {
  const plan: CommandContext['plan'] = () => Promise.resolve({ file: '/p/lamp.md', text: '# Lamp\n\n1. Change it.', state: 'approved' });
  it('shows the plan, and opens it', async () => {
    const { run, shown } = desk({}, { plan });
    expect(await shown('plan show')).toBe('Plan (approved) (/p/lamp.md)\n\n# Lamp\n\n1. Change it.');
    expect(await run('plan edit')).toEqual({ type: 'edit', file: '/p/lamp.md' });
  });
  it('says that there is none yet', async () => {
    for (const word of ['show', 'edit']) expect(await desk().refused(`plan ${word}`)).toBe('There is no plan yet: the model makes one in plan mode (/plan on).');
  });
  it('says what it takes', async () => {
    expect(await desk().refused('plan maybe')).toBe('It is /plan, /plan on, /plan off, /plan show or /plan edit.');
    expect(await desk().complete('plan ')).toEqual(['on', 'off', 'show', 'edit']);
  });
});

describe('/output-style', () => {
  it('shows the styles and which is in effect, at any width', async () => {
    const { run } = desk({}, { styles });
    const effect = await run('output-style');
    if (effect.type !== 'show') throw new Error('no card');
    for (const columns of [80, 40]) {
      const lines = drawn(effect.card, columns);
      expect(lines.every((line) => line.length <= columns)).toBe(true);
      expect(lines.join('\n')).toMatch(/●.*default/);
      expect(lines.join('\n')).toContain('Pirate');
    }
  });
  it('sets one for the session, in any case; default takes it back', async () => {
    const { run } = desk({}, { styles });
    expect(await run('output-style pirate')).toMatchObject({ type: 'append', entries: [{ type: 'option', name: 'outputStyle', value: 'Pirate' }], card: { title: 'Output style: Pirate' } });
    expect(await run('output-style default')).toMatchObject({ entries: [{ value: 'default' }], card: { detail: 'as before' } });
  });
  it('knows no other', async () => {
    const { refused, complete } = desk({}, { styles });
    expect(await refused('output-style sailor')).toBe('There is no output style "sailor". There are default, Pirate.');
    expect(await complete('output-style ')).toEqual(['default', 'Pirate']);
  });
});
