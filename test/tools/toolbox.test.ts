import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { CallId } from '#domain/tool.ts';
import type { ToolOutcome } from '#domain/ports.ts';
import type { Json } from '#lib/brand.ts';
import { defineTool, type RunContext, type Tool } from '#tools/define.ts';
import { done } from '#tools/result.ts';
import { createToolbox } from '#tools/toolbox.ts';
import { finish, openHouse, textOf } from './support.ts';

function toolOf(run: (context: RunContext) => AsyncGenerator<string, ToolOutcome>): Tool {
  return defineTool({ id: 'Odd', description: 'An odd tool.', effect: 'executes', input: z.object({ n: z.number().optional() }), title: () => 'Odd one', run: (_, context) => run(context), preview: () => { throw new Error('no card'); } });
}

async function use(tool: Tool, input: Json = {}, signal = new AbortController().signal): Promise<ToolOutcome> {
  const house = openHouse();
  return await finish(createToolbox({ tools: [tool], context: house.context }).run({ id: 'toolu_1' as CallId, tool: 'Odd', input }, house.session, signal));
}

const call = (tool: string, input: Json): { readonly id: CallId; readonly tool: string; readonly input: Json } => ({ id: 'toolu_1' as CallId, tool, input });

describe('the toolbox', () => {
  test('a tool that throws is a failed result, before and after progress', async () => {
    for (const early of [true, false]) {
      const outcome = await use(toolOf(async function* fail() {
        if (!early) yield 'so far';
        throw new Error('something\nbroke');
      }));
      expect(outcome.result).toMatchObject({ kind: 'failed', card: { title: 'Odd one', tone: 'bad', detail: 'something broke' } });
    }
  });

  test('a tool that does not listen is left behind when the user interrupts', async () => {
    const stop = new AbortController();
    const running = use(toolOf(async function* deaf() {
      yield 'working';
      await pause(6000);
      return done('too late', { title: 'Odd one', body: [] });
    }), {}, stop.signal);
    await pause(50);
    const begin = Date.now();
    stop.abort();
    expect((await running).result.kind).toBe('interrupted');
    expect(Date.now() - begin).toBeLessThan(5000);
  });

  test('a tool that listens has the last word', async () => {
    const stop = new AbortController();
    const running = use(toolOf(async function* polite({ signal }) {
      yield 'working';
      await pause(10_000, undefined, { signal }).catch(() => undefined);
      return done('stopped half way', { title: 'Odd one', body: [] });
    }), {}, stop.signal);
    await pause(50);
    stop.abort();
    expect(textOf(await running)).toBe('stopped half way');
  });

  test('too much text is cut and said; text is well-formed; blank parts go', async () => {
    const outcome = await use(toolOf(async function* long() {
      return done([{ type: 'text', text: '' }, { type: 'text', text: `\ud800${'é'.repeat(100_000)}` }, { type: 'text', text: 'more' }], { title: 'a\nb', body: [{ type: 'code', text: 'x'.repeat(100_000) }] });
    }));
    const text = textOf(outcome);
    expect(text.isWellFormed()).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThan(121_000);
    expect(text).toMatch(/\[shown \d+ of 200003 bytes; ask for less at a time to see the rest\]/);
    expect(outcome.result.card.title).toBe('a b');
    expect(JSON.stringify(outcome.result.card).length).toBeLessThan(61_000);
  });

  test('an unknown tool, broken JSON, unknown fields', async () => {
    const house = openHouse();
    expect(await house.say('Reed', { file_path: 'x' })).toMatchObject({ kind: 'failed', text: expect.stringMatching(/^there is no tool "Reed"; there are (?:.+, )?Bash, .*Read, .*Write$/) as string });
    expect(house.toolbox.effect(call('Reed', {}))).toBeUndefined();
    expect(house.toolbox.effect(call('Bash', {}))).toBe('executes');
    const broken = await house.say('Write', { INVALID_JSON: '{"file_path":"a","content":"x' });
    expect(broken).toMatchObject({ kind: 'failed', text: expect.stringContaining('was not valid JSON') });
    expect(await house.say('Bash', { command: 'true', runs_where: true })).toMatchObject({ kind: 'failed', text: expect.stringContaining('runs_where') });
  });

  test('numbers and flags as text are taken', async () => {
    const house = openHouse();
    await house.call('Write', { file_path: 'a', content: 'x\nx\n' });
    expect((await house.say('Read', { file_path: 'a', offset: '2', limit: '1' })).text).toContain('     2\tx');
    expect((await house.say('Edit', { file_path: 'a', old_string: 'x', new_string: 'y', replace_all: 'true' })).text).toContain('2 places');
  });

  test('a card that cannot be made is a card that says so', async () => {
    const house = openHouse();
    const toolbox = createToolbox({ tools: [toolOf(async function* none() { return done('', { title: '', body: [] }); })], context: house.context });
    expect(await toolbox.preview(call('Odd', {}), house.session)).toEqual({ title: 'Odd', detail: 'no card', tone: 'bad', body: [] });
  });

  test('two tools of one name are a mistake of ours', () => {
    const tool = toolOf(async function* none() { return done('', { title: '', body: [] }); });
    expect(() => createToolbox({ tools: [tool, tool], context: openHouse().context })).toThrow('two things');
  });

  test('nothing is written once a call was interrupted', async () => {
    const house = openHouse();
    const stop = new AbortController();
    const running = house.call('Write', { file_path: 'a/b', content: 'x' }, stop.signal);
    stop.abort();
    expect((await running).result.kind).toBe('interrupted');
    for (let tries = 0; tries < 100 && readdirSync(house.root, { recursive: true }).some((name) => String(name) !== 'a'); tries += 1) await pause(50);
    expect(readdirSync(house.root, { recursive: true }).filter((name) => String(name) !== 'a')).toEqual([]);
  });
});
