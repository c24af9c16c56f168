import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coversCommand, coversDomain, coversPath, commandText, globMatch, hostOf } from '#gate/match.ts';
import { createPlaces } from '#gate/places.ts';
import { readRules, ruleProblems, type RuleList } from '#gate/rules.ts';
import { ground, rule, ruleSet, type Ground } from './workspace.ts';

describe('reading rules', () => {
  it.each([
    ['Bash', 'Bash', undefined], ['Bash(*)', 'Bash', undefined], ['Bash(npm run build)', 'Bash', 'npm run build'],
    ['Read(./.env)', 'Read', './.env'], ['bash(ls)', 'Bash', 'ls'], ['Bash(echo (x))', 'Bash', 'echo (x)'],
    ['mcp__srv', 'mcp__srv', undefined], ['mcp__srv__*', 'mcp__srv__*', undefined], ['WebFetch(domain:*.example.com)', 'WebFetch', 'domain:*.example.com'],
  ])('reads %s', (text, tool, spec) => {
    expect(readRules([rule(text, '/w')], 'allow').rules).toMatchObject([{ tool, spec }]);
  });
  it.each(['Bash(', 'Bash()', 'Bash)', '(x)', '', 'Bash(:*)', 'Bash(git:* push)', 'Read(!x)', 'WebFetch(example.com)', 'TodoWrite(x)', 'Read(a', 'mcp__*', '1x'])('refuses %j', (text) => {
    const { rules, broken } = readRules([rule(text, '/w')], 'allow');
    expect(rules).toEqual([]);
    expect(broken).toHaveLength(1);
  });
  it('names file and rule in one line, and what it means until then', () => {
    const problems = ruleProblems({
      allow: [{ ...rule('Bash(:*)', '/w'), file: '/w/.pinion/settings.json' }], ask: [], deny: [rule('Read(\u202ex', '/w', 'project'), rule('', '/w', 'flag')],
    });
    expect(problems).toEqual([
      'settings of /w: the deny rule "Read(<U+202E>x" cannot be used: the bracket after the tool is not closed. Until it is mended, every Read call is asked about.',
      'command line: the deny rule "" cannot be used: it must begin with the name of a tool, as in Bash(npm test). Until it is mended, every call is asked about.',
      '/w/.pinion/settings.json: the allow rule "Bash(:*)" cannot be used: there is no command before :*. It grants nothing.',
    ]);
    expect(ruleProblems(ruleSet('/w', { allow: ['Bash(ls)'], deny: ['Bash(command:rm)', 'mcp__*', 'Agent(model:opus)'] }))).toEqual([]);
  });
});

describe('command patterns', () => {
  it.each<[string, readonly string[], boolean]>([
    ['npm run build', ['npm', 'run', 'build'], true], ['npm run build', ['npm', 'run', 'build', '-x'], false], ['npm run build', ['npm', 'run build'], false],
    ['git diff *', ['git', 'diff'], true], ['git diff:*', ['git', 'diff', 'a'], true], ['git diff:*', ['git', 'difftool'], false],
    ['ls*', ['lsof'], true], ['ls *', ['lsof'], false], ['* --force', ['git', 'push', '--force'], true], ['git * main', ['git', 'push', 'origin', 'main'], true],
    ['npm run test:*', ['npm', 'run', 'test:evil'], false], ['npm run test:unit', ['npm', 'run', 'test:unit'], true],
    ['git commit -m "a b"', ['git', 'commit', '-m', 'a b'], true], ['git commit -m "a b"', ['git', 'commit', '-m', 'a', 'b'], false],
    ['git commit -m:*', ['git', 'commit', '-m', 'any text; rm -rf /'], true], ['git commit -m:*', ['git commit', '-m', 'x'], false], ["echo it's", ['echo', "it's"], true],
  ])('%s against %j', (pattern, words, covers) => { expect(coversCommand(pattern, [commandText(words)])).toBe(covers); });
  it('matches many stars without blowing up', () => {
    expect(globMatch(`${'*a'.repeat(50)}b`, 'a'.repeat(5000))).toBe(false);
    expect(globMatch('a*c*', 'abcd')).toBe(true);
    expect(globMatch('', '')).toBe(true);
    expect(globMatch('a', 'ab')).toBe(false);
  });
});

describe('domains', () => {
  it.each([
    ['example.com', 'https://example.com/x', true], ['example.com', 'https://www.example.com', false], ['*.example.com', 'https://a.b.example.com', true],
    ['*.example.com', 'https://example.com', false], ['example.com', 'https://example.com.evil.com', false], ['example.com', 'https://example.com@evil.com', false],
    ['exam*.com', 'https://example.com', true], ['exam*.com', 'https://exam.evil.com', false], ['example.com', 'https://EXAMPLE.com.', true],
    ['example.com', 'file://example.com/x', false], ['example.com', 'nonsense', false], ['e.ample.com', 'https://example.com', false],
  ])('%s against %s', (pattern, url, covers) => { expect(coversDomain(pattern, url)).toBe(covers); });
  it('refuses hosts that are none', () => {
    expect(hostOf('https://evil.com\0.google.com/')).toBeUndefined();
    expect(hostOf('https://ex_ample.com')).toBeUndefined();
  });
});

describe('path patterns', () => {
  let at: Ground;
  beforeAll(() => {
    at = ground();
    for (const file of ['.env', 'src/a.ts', 'packages/x/.env', 'secrets/k', 'dir/sub/b.ts', 'other/dir/b.ts', '../../home/u/.ssh/id', '../second/s.ts']) at.write(file);
    at.link('../secrets/k', 'docs/link');
    at.link('/etc', 'out');
    at.link('src', 'alias');
  });
  afterAll(() => { at.remove(); });
  const covers = (list: RuleList, spec: string, path: string, root = at.app): boolean => {
    const places = createPlaces({ roots: () => [at.app, `${at.top}/work/second`], home: at.home });
    const [read] = readRules([rule(`Read(${spec})`, root)], list).rules;
    return read !== undefined && coversPath(read, list, places.look(path, at.app), places.anchors());
  };
  it.each<[RuleList, string, string, boolean]>([
    ['deny', './.env', '.env', true], ['deny', './.env', 'packages/x/.env', false], ['deny', '.env', 'packages/x/.env', true], ['deny', '**/.env', '~/.env', true],
    ['deny', 'secrets/**', 'secrets/k', true], ['deny', 'secrets/**', 'secrets', true], ['deny', 'dir/**', 'other/dir/b.ts', true], ['allow', 'dir/**', 'other/dir/b.ts', false],
    ['allow', 'dir/**', 'dir/sub/b.ts', true], ['allow', 'src/**', 'src/a.ts', true], ['allow', '*.ts', 'dir/sub/b.ts', true], ['allow', 'a.ts', 'src/a.ts', true],
    ['deny', '~/.ssh/**', '~/.ssh/id', true], ['deny', '~/.ssh/**', 'src/a.ts', false], ['deny', '/src/**', 'src/a.ts', true],
    ['deny', 'secrets/**', 'docs/link', true], ['allow', 'docs/**', 'docs/link', false], ['allow', 'src/**', 'alias/a.ts', false], ['allow', '*.ts', 'alias/a.ts', true],
    ['deny', '//etc/**', 'out/passwd', true], ['deny', '//etc/passwd', '/etc/passwd', true], ['deny', 's.ts', '../second/s.ts', true], ['deny', './s.ts', '../second/s.ts', true],
    ['allow', './s.ts', '../second/s.ts', false], ['allow', '../second/**', '../second/s.ts', true], ['deny', '#x', '#x', true], ['deny', 'a[', 'src/a.ts', false],
    ['deny', '.env', '.env/deeper', true], ['deny', '**', 'src/a.ts', true], ['allow', './**', '.', true], ['allow', './**', '/etc/passwd', false],
    ['deny', 'w\u00f6.ts', 'wo\u0308.ts', true], ['allow', 'w\u00f6.ts', 'wo\u0308.ts', false],
  ])('%s %s on %s', (list, spec, path, expected) => { expect(covers(list, spec, path)).toBe(expected); });
  it('measures a leading slash from where the rule stands', () => {
    expect(covers('deny', '/src/**', 'src/a.ts', `${at.app}/packages`)).toBe(false);
    expect(covers('deny', '/x/.env', 'packages/x/.env', `${at.app}/packages`)).toBe(true);
  });
  it('holds the file itself behind every way to write it', () => {
    for (const spelled of ['secrets/k', './secrets//k', 'src/../secrets/k', 'secrets/./k', 'docs/link', 'docs/../secrets/k', `${at.app}/secrets/k`, '../app/secrets/k', `/proc/self/root${at.app}/secrets/k`]) {
      expect(covers('deny', '**/secrets/**', spelled), spelled).toBe(true);
    }
  });
});
