import { describe, expect, it } from 'vitest';
import { call, say } from '../support/messages-server/reply.ts';
import { list, obj } from '../support/messages-server/shape.ts';
import { expectValid, only, product, serve, wordsOf } from '../support/product.ts';
import { streamIn, talk } from '../support/stream-lines.ts';

const SCHEMA = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: { name: { type: 'string' }, lines: { type: 'integer', minimum: 1 } }, required: ['name', 'lines'], additionalProperties: false };
const WANTED = ['--json-schema', JSON.stringify(SCHEMA)];
const JSON_OUT = ['--output-format', 'json'];
const give = (input: unknown) => ({ content: [call('StructuredOutput', input)] });
const FITS = { name: 'a.txt', lines: 2 };
const resultOf = (stdout: string) => obj(JSON.parse(stdout));

describe('a result of one shape', () => {
  it('is what the model gave by the tool, after work with others', async () => {
    const server = await serve([{ content: [call('Read', { file_path: 'a.txt' })] }, give(FITS), say('Done.')]);
    const { code, stdout, stderr } = await product({ 'a.txt': '1\n2\n' }, server).run(['-p', 'Describe a.txt', ...WANTED, ...JSON_OUT]);
    expect([code, stderr]).toEqual([0, '']);
    expect(resultOf(stdout)).toMatchObject({ subtype: 'success', is_error: false, structured_output: FITS, result: JSON.stringify(FITS), num_turns: 3 });
    const [first] = server.requests;
    const tool = list(first?.body['tools']).map(obj).find(({ name }) => name === 'StructuredOutput');
    const { $schema: _, ...sent } = SCHEMA;
    expect(tool?.['input_schema']).toEqual(sent);
    expect(wordsOf(only(server.requests.slice(0, 1)))).toContain('started by a program that reads its result as JSON');
    expectValid(server);
  });

  it('is the text that is printed, from a schema in a file, whatever the model says besides', async () => {
    const server = await serve([give(FITS), say('Here you are!')]);
    const place = product({ 'schema.json': JSON.stringify(SCHEMA) }, server);
    expect(await place.run(['-p', 'Go', '--json-schema', 'schema.json'])).toEqual({ code: 0, stdout: `${JSON.stringify(FITS)}\n`, stderr: '' });
  });

  it('is given anew where it does not fit, and where an answer came without it', async () => {
    const server = await serve([give({ name: 'a' }), say('Two lines.'), give({ ...FITS, more: null }), give(FITS), say('Done.')]);
    const { code, stdout } = await product({}, server).run(['-p', 'Go', ...WANTED, '--output-format', 'stream-json']);
    expect(code).toBe(0);
    const { lines, result } = streamIn(stdout);
    expect(result).toMatchObject({ subtype: 'success', structured_output: FITS });
    const told = lines.filter(({ type }) => type === 'user').map((line) => JSON.stringify(line['message']));
    expect(told[0]).toMatch(/must have required property 'lines' \(try 1 of 5\)/);
    expect(told[1]).toMatch(/must NOT have additional properties \(try 3 of 5\)/);
    expect(wordsOf(only(server.requests.slice(2, 3)))).toContain('An answer ended without a call of StructuredOutput');
    expectValid(server);
  });

  it('that never fits is an error after five tries', async () => {
    const server = await serve(({ body }) => (list(body['messages']).length > 30 ? say('?') : give({ name: list(body['messages']).length })));
    const { code, stdout, stderr } = await product({}, server).run(['-p', 'Go', ...WANTED, ...JSON_OUT]);
    expect(code).toBe(1);
    expect(resultOf(stdout)).toMatchObject({ subtype: 'error_max_structured_output_retries', is_error: true, errors: [expect.stringContaining('in 5 tries') as string], num_turns: 5 });
    expect(resultOf(stdout)).not.toHaveProperty('structured_output');
    expect(stderr).toBe('');
    expectValid(server);
  });

  it('that never comes is the same, with the last words of the model', async () => {
    const server = await serve(() => say('I will not.'));
    const { code, stdout, stderr } = await product({}, server).run(['-p', 'Go', ...WANTED]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe('pinion: the model gave no output that fits --json-schema in 5 tries; it said last: I will not.\n');
    expect(server.requests).toHaveLength(5);
  });

  it('comes with each result of a stream', async () => {
    const server = await serve([give(FITS), say('One.'), say('Two.'), give({ ...FITS, lines: 3 }), say('Done.')]);
    const user = talk(product({}, server), WANTED);
    user.say('First');
    expect(await user.result(1)).toMatchObject({ structured_output: FITS, num_turns: 2 });
    user.say('Second');
    expect(await user.result(2)).toMatchObject({ structured_output: { lines: 3 }, num_turns: 3 });
    user.end();
    expect((await user.ended).code).toBe(0);
    expectValid(server);
  });

  it('is not wanted of a slash command', async () => {
    const { code, stdout } = await product().run(['-p', '/cost', ...WANTED, ...JSON_OUT]);
    expect([code, resultOf(stdout)['subtype'], resultOf(stdout)['num_turns']]).toEqual([0, 'success', 0]);
  });
});

describe('the demo model', () => {
  it('fills in one field of text, and says that it can do no more', async () => {
    const { run } = product();
    const one = JSON.stringify({ type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] });
    expect(await run(['-p', 'Count to 2', '--json-schema', one])).toEqual({ code: 0, stdout: '{"answer":"1. line 1\\n2. line 2"}\n', stderr: '' });
    const { code, stderr } = await run(['-p', 'Count to 2', ...WANTED]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/in 5 tries; it said last: I am the demo model.*one field of text/);
  });
});

describe('a schema that cannot be used', () => {
  it.each([
    ['no JSON', '{"type":', /--json-schema: what follows it is no JSON/],
    ['no object', '[]', /must hold one JSON object/],
    ['no file', 'nope.json', /--json-schema nope\.json: there is no such file/],
    ['a top that is no object', '{"type":"array"}', /top of the schema must be \{"type": "object", …\}:/],
    ['a choice at its top', '{"type":"object","anyOf":[]}', /without anyOf/],
    ['a type that there is not', '{"type":"object","properties":{"a":{"type":"objekt"}}}', /objekt/],
    ['a dialect that is not known', '{"$schema":"http://example.com","type":"object"}', /unsupported dialect/],
  ])('has %s: one line and code 2', async (_, given, why) => {
    const { run, logs } = product();
    const { code, stdout, stderr } = await run(['-p', 'x', '--json-schema', given]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^pinion: [^\n]+\n$/);
    expect(stderr).toMatch(why);
    expect(logs()).toEqual([]);
  });

  it('goes with -p alone', async () => {
    expect(await product().run(['x', '--json-schema', '{}'])).toEqual({ code: 2, stdout: '', stderr: 'pinion: --json-schema goes with -p.\n' });
  });
});
