import { describe, expect, it } from 'vitest';
import { completeResource } from '#mentions/complete.ts';
import { mentionedResources } from '#mentions/resources.ts';

const INDEX = new Map([['s', new Set(['demo://one', 'demo://odd.', 'plain'])], ['my server', new Set(['a b'])], ['a:b', new Set<string>()]]);
const found = (text: string): readonly string[] => mentionedResources(text, INDEX).map(({ server, uri }) => `${server} ${uri}`);

describe('resources that a text mentions', () => {
  it.each([
    ['see @s:demo://one', ['s demo://one']], ['(@s:demo://one), @s:demo://one.', ['s demo://one']], ['@s:demo://odd.', ['s demo://odd.']], ['@s:demo://one。', ['s demo://one']],
    ['@s:other://not/listed?', ['s other://not/listed']], ['@s:plain and @s:nothing', ['s plain']], ['@other:demo://one', []], ['mail s@s:demo://one', []], ['`@s:demo://one`', []],
    ['@"my server:a b"', ['my server a b']], ['@a:b:x://y', ['a:b x://y']], ['@s:', []], ['@s', []],
  ])('%s', (text, expected) => { expect(found(text)).toEqual(expected); });
  it('are none where no server is connected, and of very many the first', () => {
    expect(mentionedResources('@s:demo://one', new Map())).toEqual([]);
    expect(found(Array.from({ length: 50 }, (_, at) => `@s:x://${at}`).join(' '))).toHaveLength(20);
  });
});

it('completion offers servers, then what they list; what a mention cannot hold is left out', () => {
  const resources = [['s', 'demo://one', 'One'], ['s', 'demo://two words', 'Two'], ['s', 'demo://"quoted"', 'Q'], ['s', 'x://last', 'the demo'], ['my server', 'a b', 'a b']].map(([server = '', uri = '', name = '']) => ({ server, uri, name }));
  const inserts = (typed: string): readonly string[] => completeResource(resources, typed).map(({ insert }) => insert);
  expect(inserts('')).toEqual([]);
  expect(inserts('S')).toEqual(['@s:']);
  expect(inserts('my')).toEqual(['@"my server:']);
  expect(inserts('s:')).toEqual(['@s:demo://one', '@"s:demo://two words"', '@s:x://last']);
  expect(inserts('s:demo')).toEqual(['@s:demo://one', '@"s:demo://two words"', '@s:x://last']);
  expect(inserts('"my server:a')).toEqual(['@"my server:a b"']);
});
