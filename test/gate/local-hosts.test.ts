import { expect, it, onTestFinished } from 'vitest';
import type { PermissionMode } from '#domain/entry.ts';
import type { Answer, Question } from '#domain/ports.ts';
import type { ScopedRule } from '#domain/settings.ts';
import type { CallId } from '#domain/tool.ts';
import { createGate } from '#gate/gate.ts';
import { createPaths } from '#gate/paths.ts';
import { ground, rule, ruleSet } from './workspace.ts';

/** What the gate lets through, and for which local host that holds. */
async function judge(url: string, { allow = [], ask = [], scope = 'user', file, mode = 'default', answer = { kind: 'yes' } }: { readonly allow?: readonly string[]; readonly ask?: readonly string[]; readonly scope?: ScopedRule['scope']; readonly file?: string; readonly mode?: PermissionMode; readonly answer?: Answer }) {
  const at = ground();
  onTestFinished(() => { at.remove(); });
  const asked: Question[] = [];
  let judged: readonly string[] = [];
  const gate = createGate({
    rules: () => ({ ...ruleSet(at.home, { ask }), allow: allow.map((text) => ({ ...rule(text, at.app, scope), ...(file !== undefined && { file }) })) }),
    mode: () => mode, cwd: () => at.app, paths: createPaths({ roots: () => [at.app], home: at.home, denyRead: () => [] }),
    effect: () => 'reads', preview: () => Promise.resolve({ title: 'x', body: [] }), keepRule: () => undefined,
    asker: { ask: (question) => { asked.push(question); return Promise.resolve(answer); } },
    onJudged: (_, what) => { judged = what; },
  });
  const verdict = await gate.ask({ id: 'a' as CallId, tool: 'WebFetch', input: { url } }, { id: 's', log: [], append: () => { throw new Error('no'); } }, new AbortController().signal);
  const [question] = asked;
  return { verdict: verdict.kind, judged, reason: question?.kind === 'permission' ? question.reason : undefined, rules: question?.kind === 'permission' ? question.rules : [] };
}

it('a local host is asked about as one, and a yes names it', async () => {
  expect(await judge('http://localhost:3000/x', {})).toEqual({ verdict: 'allow', judged: ['localhost'], reason: 'it fetches from localhost, which is this machine or one of its network', rules: ['WebFetch(domain:localhost)'] });
  expect(await judge('http://LOCALHOST./x', {})).toMatchObject({ judged: ['localhost'] });
  expect(await judge('http://[::1]/', {})).toMatchObject({ judged: ['[::1]'] });
  expect(await judge('http://0x7f000001/', {})).toMatchObject({ judged: ['127.0.0.1'] });
  expect(await judge('http://localhost/', { ask: ['WebFetch'] })).toMatchObject({ judged: ['localhost'] });
  expect(await judge('http://localhost/', { answer: { kind: 'no' } })).toMatchObject({ verdict: 'refuse', judged: [] });
});

it('any other host is never named, whatever the user says: its name may lead inside', async () => {
  expect(await judge('https://example.com/', {})).toEqual({ verdict: 'allow', judged: [], reason: 'it fetches from example.com', rules: ['WebFetch(domain:example.com)'] });
  expect(await judge('https://example.com/', { allow: ['WebFetch(domain:example.com)'] })).toMatchObject({ verdict: 'allow', judged: [] });
});

it('a rule of the user\'s own names a local host; one for everything, a wildcard, or one of the repository does not', async () => {
  const url = 'http://localhost:3000/';
  for (const scope of ['user', 'local', 'session', 'flag'] as const) expect(await judge(url, { allow: ['WebFetch(domain:localhost)'], scope })).toMatchObject({ verdict: 'allow', judged: ['localhost'], reason: undefined });
  expect(await judge(url, { allow: ['WebFetch(domain:localhost)'], mode: 'bypassPermissions' })).toMatchObject({ judged: ['localhost'] });
  expect(await judge(url, { allow: ['WebFetch(domain:localhost)'], scope: 'project' })).toMatchObject({ verdict: 'allow', judged: [] });
  expect(await judge(url, { allow: ['WebFetch(domain:localhost)'], scope: 'session', file: '/w/.claude/skills/x/SKILL.md' })).toMatchObject({ verdict: 'allow', judged: [] });
  for (const wide of ['WebFetch', 'WebFetch(domain:*)']) expect(await judge(url, { allow: [wide] })).toMatchObject({ judged: [] });
  expect(await judge(url, { mode: 'bypassPermissions' })).toMatchObject({ verdict: 'allow', judged: [] });
});
