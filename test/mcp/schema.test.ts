import { describe, expect, it } from 'vitest';
import { repairSchema } from '#mcp/schema.ts';

const schemaOf = (given: unknown): unknown => {
  const repaired = repairSchema(given);
  if (!repaired.ok) throw new Error(repaired.why);
  return repaired.schema;
};
const whyNot = (given: unknown): string => {
  const repaired = repairSchema(given);
  if (repaired.ok) throw new Error('it was taken');
  return repaired.why;
};

describe('schemas that are mended', () => {
  it('leaves a good one as it is', () => {
    const good = { type: 'object', properties: { a: { type: 'string', description: 'x' }, b: { type: 'array', items: { $ref: '#/$defs/B' } } }, required: ['a'], additionalProperties: false, $defs: { B: { type: 'object', properties: { again: { $ref: '#/$defs/B' } } } } };
    expect(repairSchema(good)).toEqual({ ok: true, schema: good, changed: false });
  });
  it('makes an object of nothing and of what names no type', () => {
    expect(schemaOf(undefined)).toEqual({ type: 'object', properties: {} });
    expect(schemaOf({ properties: { a: {} } })).toEqual({ type: 'object', properties: { a: {} } });
    expect(schemaOf({ type: ['object', 'null'], $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x' })).toEqual({ type: 'object' });
  });
  it('takes unions and references at the top apart', () => {
    expect(schemaOf({ anyOf: [{ properties: { a: { type: 'string' }, c: {} }, required: ['a', 'c'] }, { type: 'object', properties: { b: { type: 'number' }, c: {} }, required: ['c'] }] }))
      .toEqual({ type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' }, c: {} }, required: ['c'] });
    expect(schemaOf({ allOf: [{ properties: { a: {} }, required: ['a'] }, { $ref: '#/$defs/B' }], $defs: { B: { properties: { b: {} }, required: ['b'] } } }))
      .toMatchObject({ type: 'object', properties: { a: {}, b: {} }, required: ['a', 'b'] });
    expect(schemaOf({ $ref: '#/definitions/In', definitions: { In: { type: 'object', properties: { x: {} } } } })).toMatchObject({ type: 'object', properties: { x: {} } });
  });
  it('lets references that lead nowhere, or round in a circle, stand for anything', () => {
    expect(schemaOf({ type: 'object', properties: { a: { $ref: '#/$defs/Gone' }, b: { $ref: 'https://example.com/x.json', description: 'kept' }, c: { $ref: '#/$defs/C' } }, $defs: { C: { $ref: '#/$defs/D' }, D: { $ref: '#/$defs/C' } } }))
      .toEqual({ type: 'object', properties: { a: {}, b: { description: 'kept' }, c: {} }, $defs: { C: {}, D: {} } });
  });
  it('puts keywords of older drafts right', () => {
    expect(schemaOf({ type: 'object', properties: {
      n: { type: 'number', minimum: 0, exclusiveMinimum: true }, t: { type: 'array', items: [{ type: 'string' }, { type: 'any' }] }, r: { type: 'string', required: true }, e: { enum: [] }, u: { type: ['string', 'file'] },
    }, required: ['n', 'n', 7] })).toEqual({ type: 'object', properties: { n: { type: 'number', exclusiveMinimum: 0 }, t: { type: 'array', prefixItems: [{ type: 'string' }, {}] }, r: { type: 'string' }, e: {}, u: { type: 'string' } }, required: ['n'] });
  });
  it('leaves a field out whose name cannot be sent, and explanations where all of it is too large', () => {
    expect(schemaOf({ type: 'object', properties: { 'a b': {}, ok: {} } })).toEqual({ type: 'object', properties: { ok: {} } });
    const large = { type: 'object', properties: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, { type: 'string', description: 'd'.repeat(1000) }])) };
    expect(JSON.stringify(schemaOf(large)).length).toBeLessThan(24 * 1024);
    expect(schemaOf({ type: 'object', properties: { description: { type: 'string' }, title: {} } })).toMatchObject({ properties: { description: { type: 'string' } } });
  });
});

describe('schemas that are given up, with why', () => {
  it.each([
    ['a text', 'x', 'no object'], ['an array at the top', { type: 'array' }, 'is for array'], ['a reference to itself', { $ref: '#' }, 'leads back to itself'],
    ['a reference to nothing', { $ref: '#/$defs/X' }, 'is not there'], ['a wanted field that cannot be sent', { properties: { 'a b': {} }, required: ['a b'] }, 'cannot be sent'],
    ['too large', { properties: Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`f${at}`, { type: 'string' }])) }, 'too large'],
    ['too deep', Array.from({ length: 60 }).reduce<object>((inner) => ({ type: 'object', properties: { a: inner } }), {}), 'too deep'],
  ])('%s', (_, given, why) => { expect(whyNot(given)).toContain(why); });
});
