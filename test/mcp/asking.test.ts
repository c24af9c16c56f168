import { describe, expect, it } from 'vitest';
import type { Answer, Question } from '#domain/ports.ts';
import type { SampleRequest } from '#mcp/sample.ts';
import { bench, hostile, textIn, tool } from './fixtures.ts';

const form = (properties: object, required: readonly string[] = []) => ({ message: 'Who are you?', requestedSchema: { type: 'object', properties, required } });
const FIELDS = {
  name: { type: 'string', title: 'Your name', minLength: 2 }, age: { type: 'integer', minimum: 18 }, mail: { type: 'string', format: 'email', default: 'a@b.c' },
  sure: { type: 'boolean' }, colour: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] }, some: { type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }, { const: 'y', title: 'Y' }] } },
};

async function elicit(params: object, ...answers: readonly (Answer | undefined)[]) {
  const left = [...answers];
  const { call, asked, notices } = await bench([hostile('s', { tools: [tool('elicit')] })], { answer: () => left.shift() });
  return { result: JSON.parse(textIn((await call('elicit', params as never)).end)) as object, asked, notices };
}
const chosen = (...answers: readonly (readonly string[])[]): Answer => ({ kind: 'chosen', answers });

describe('a server that asks the person', () => {
  it('is given what was filled in, by the types of its form', async () => {
    const { result, asked } = await elicit(form(FIELDS, ['name', 'age']), chosen(['Ann'], ['30'], ['a@b.c'], ['yes'], ['Green'], ['X', 'Y']));
    expect(result).toEqual({ action: 'accept', content: { name: 'Ann', age: 30, mail: 'a@b.c', sure: true, colour: 'g', some: ['x', 'y'] } });
    const [question] = asked;
    expect(question).toMatchObject({ kind: 'choices', who: 'The MCP server s' });
    expect(question?.kind === 'choices' && question.questions[0]).toMatchObject({ header: 'Your name', question: 'Who are you?\nYour name', options: [] });
    expect(question?.kind === 'choices' && question.questions[4]?.options.map(({ label }) => label)).toEqual(['Red', 'Green', 'leave it out']);
  });
  it('asks once more for what does not fit, and leaves out what need not be given', async () => {
    const { result, asked } = await elicit(form({ name: FIELDS.name, age: FIELDS.age, mail: FIELDS.mail }, ['name', 'age']), chosen(['A'], ['12'], ['leave it out']), chosen(['Ann'], ['18']));
    expect(result).toEqual({ action: 'accept', content: { name: 'Ann', age: 18 } });
    expect(asked[1]?.kind === 'choices' && asked[1].questions.map(({ question }) => question)).toEqual(['Who are you?\nYour name\n(at least 2 characters)', 'age\n(at least 18)']);
  });
  it('is declined where nobody is there or the person does not want it, and never asks without end', async () => {
    expect((await elicit(form(FIELDS))).result).toEqual({ action: 'decline' });
    expect((await elicit(form(FIELDS), { kind: 'no' })).result).toEqual({ action: 'decline' });
    const wrong = chosen(['A']);
    expect((await elicit(form({ name: FIELDS.name }, ['name']), wrong, wrong, wrong, wrong)).result).toEqual({ action: 'cancel' });
  });
  it('may show an address, which is opened by the person and by nobody else', async () => {
    const { result, asked, notices } = await elicit({ mode: 'url', message: 'Pay here', elicitationId: 'e', url: 'https://pay.example.com/a?b=1' }, { kind: 'yes' });
    expect(result).toEqual({ action: 'accept' });
    expect(asked[0]).toMatchObject({ kind: 'confirm', title: expect.stringContaining('pay.example.com'), lines: ['It says: Pay here', 'https://pay.example.com/a?b=1'] });
    expect(notices[0]).toContain('https://pay.example.com/a?b=1');
  });
  it.each(['javascript:alert(1)', 'http://example.com/', 'https://user:secret@example.com/', 'file:///etc/passwd'])('is declined for the address %s without a question', async (url) => {
    const { result, asked } = await elicit({ mode: 'url', message: 'x', elicitationId: 'e', url }, { kind: 'yes' });
    expect([result, asked]).toEqual([{ action: 'decline' }, []]);
  });
  it('has the time that the person takes', async () => {
    const { call } = await bench([hostile('s', { tools: [tool('elicit')] }, { timeoutMs: 300 })], { doors: { ask: async () => {
      await new Promise((resolve) => { setTimeout(resolve, 600); });
      return { kind: 'no' };
    } } });
    expect(JSON.parse(textIn((await call('elicit', form(FIELDS) as never)).end))).toEqual({ action: 'decline' });
  });
});

describe('a server that asks the model', () => {
  const request = { messages: [{ role: 'user', content: { type: 'text', text: 'What is 1 + 1?' } }], systemPrompt: 'Be short.', maxTokens: 1_000_000 };
  const sampling = async (answer: (question: Question) => Answer | undefined) => {
    const seen: SampleRequest[] = [];
    const made = await bench([hostile('s', { tools: [tool('sample')] })], { answer, doors: { sample: (asked) => {
      seen.push(asked);
      return Promise.resolve({ text: '2', model: 'small', stop: 'endTurn' });
    } } });
    return { ...made, seen };
  };

  it('does so once the user agreed, who is asked once and told what would be sent', async () => {
    const { call, asked, seen } = await sampling(() => ({ kind: 'yes' }));
    expect(JSON.parse(textIn((await call('sample', request)).end))).toMatchObject({ role: 'assistant', model: 'small', content: { type: 'text', text: '2' }, stopReason: 'endTurn' });
    await call('sample', request);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ kind: 'confirm', title: 'The MCP server s wants to ask the model, at your cost. May it, until pinion ends?', lines: expect.arrayContaining(['It would send: What is 1 + 1?']) });
    expect(seen).toHaveLength(2);
    expect(seen[0]).toEqual({ server: 's', system: 'Be short.', messages: [{ role: 'user', text: 'What is 1 + 1?' }], maxTokens: 4096 });
  });
  it('is refused where nobody is there, where the user said no, and after twenty times', async () => {
    const alone = await sampling(() => undefined);
    expect(textIn((await alone.call('sample', request)).end)).toContain('nobody is there');
    const against = await sampling(() => ({ kind: 'no' }));
    await against.call('sample', request);
    expect(textIn((await against.call('sample', request)).end)).toContain('does not let this server');
    expect([against.asked.length, against.seen.length, alone.seen.length]).toEqual([1, 0, 0]);
    const often = await sampling(() => ({ kind: 'yes' }));
    for (let at = 0; at < 21; at += 1) await often.call('sample', request);
    expect(often.seen).toHaveLength(20);
  });
});
