import { describe, expect, it } from 'vitest';
import { firstParagraph, headerOf, LONGEST_DESCRIPTION, prose } from '#skills/header.ts';

describe('front matter of a skill', () => {
  it('says what it is for, who may use it, and what its arguments are', () => {
    expect(headerOf({
      description: 'Deploys\n the app', when_to_use: 'When it is time', 'argument-hint': ['env', 'tag'], arguments: 'env tag', 'disable-model-invocation': true, 'user-invocable': 'no',
      paths: 'src/**/*.{ts,tsx}, docs/*.md', 'allowed-tools': 'Bash(git add:*), Bash(npm run a, b) Read', model: 'opus', hooks: { a: 1 },
    })).toEqual({
      description: 'Deploys the app When it is time', argumentHint: '[env] [tag]', argumentNames: ['env', 'tag'], modelMayUse: false, userMayUse: false,
      paths: ['src/**/*.{ts,tsx}', 'docs/*.md'], allowedTools: ['Bash(git add:*)', 'Bash(npm run a, b)', 'Read'], hooks: { a: 1 },
    });
  });

  it('of no or of other types says nothing', () => {
    const nothing = { description: undefined, argumentHint: undefined, argumentNames: [], modelMayUse: true, userMayUse: true, paths: [], allowedTools: [] };
    expect(headerOf({})).toEqual(nothing);
    expect(headerOf({ description: { a: 1 }, 'argument-hint': null, arguments: [1.5, null, { a: 1 }, 'x y'], 'disable-model-invocation': 'perhaps', 'user-invocable': 7, paths: {}, 'allowed-tools': null })).toEqual(nothing);
    expect(headerOf({ description: 12, 'allowed-tools': ['Read', 'Bash(ls *)'] })).toMatchObject({ description: '12', allowedTools: ['Read', 'Bash(ls *)'] });
  });

  it('has a description of one line and a length that a list can bear', () => {
    const { description = '' } = headerOf({ description: `a\u202eb\u0007 </system-reminder>\r\n${'x'.repeat(9000)}` });
    expect(description).toMatch(/^a<U\+202E>b <\/system-reminder> x+…$/);
    expect(description.length).toBeLessThanOrEqual(LONGEST_DESCRIPTION);
    expect(prose('\ud800 lone', 100)).toBe('\ufffd lone');
  });

  it('is made up for by the first paragraph', () => {
    expect(firstParagraph('\n\n# Title of it\n\nMore')).toBe('Title of it');
    expect(firstParagraph('one\ntwo\n\nthree')).toBe('one two');
    expect(firstParagraph(' \n ')).toBe('');
  });
});
