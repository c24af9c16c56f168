import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '#lib/brand.ts';
import type { Card } from '#domain/card.ts';
import type { PermissionMode } from '#domain/entry.ts';
import type { Answer, GatePort, Question, Verdict } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { ScopedRule } from '#domain/settings.ts';
import type { Call, CallId, ToolEffect } from '#domain/tool.ts';
import { createGate } from '#gate/gate.ts';
import { createPaths } from '#gate/paths.ts';
import { ground, rule, ruleSet, type Ground } from './workspace.ts';

const EFFECTS: Readonly<Record<string, ToolEffect>> = { Read: 'reads', Glob: 'reads', Grep: 'reads', Edit: 'writes', Write: 'writes', Bash: 'executes', TodoWrite: 'writes', WebFetch: 'reads', mcp__srv__look: 'reads', Task: 'executes', Lookup: 'reads' };
const SESSION: Session = { id: 's', log: [], append: () => { throw new Error('the gate writes no entries'); } };
const QUIET = new AbortController().signal;

let at: Ground;
let asked: (Question & { kind: 'permission' })[];
let kept: { rule: string; keep: string }[];
/** What the person says to one question after the other; a function is asked each time. */
let answer: (question: Question, signal: AbortSignal) => Promise<Answer | undefined>;
beforeEach(() => {
  at = ground();
  for (const file of ['src/a.ts', 'src/b.ts', '.env', '.git/config', '../other/x/y']) at.write(file);
  [asked, kept] = [[], []];
  answer = () => Promise.resolve({ kind: 'yes' });
});
afterEach(() => { at.remove(); });

interface Setting { readonly mode?: PermissionMode; readonly allow?: readonly string[]; readonly ask?: readonly string[]; readonly deny?: readonly string[]; readonly keepFails?: boolean; readonly preview?: () => Promise<Card> }

function gate({ mode = 'default', keepFails = false, preview, ...lists }: Setting = {}): GatePort {
  const set = ruleSet(at.home, lists);
  const session: ScopedRule[] = [];
  return createGate({
    rules: () => ({ ...set, allow: [...set.allow, ...session] }),
    mode: () => mode, cwd: () => at.app,
    paths: createPaths({ roots: () => [at.app], home: at.home, denyRead: () => set.deny }),
    effect: (call) => EFFECTS[call.tool],
    preview: preview ?? ((call) => Promise.resolve({ title: `${call.tool} \u202ex`, body: [{ type: 'diff', patch: '@@ -1 +1 @@\n-\u200b\n+ok' }] })),
    asker: {
      ask(question, signal) {
        if (question.kind === 'permission') asked.push(question);
        return answer(question, signal);
      },
    },
    keepRule(text, keep) {
      if (keepFails) throw new Error('disk full');
      kept.push({ rule: text, keep });
      session.push(rule(text, at.app, 'session'));
    },
  });
}

function call(tool: string, input: Json): Call {
  return { id: `toolu_${tool}` as CallId, tool, input };
}
const bash = (command: string): Call => call('Bash', { command });
const ask = (of: GatePort, what: Call, signal = QUIET): Promise<Verdict> => of.ask(what, SESSION, signal);
/** `allow`, `ask` or who refuses. */
async function outcome(setting: Setting, what: Call): Promise<string> {
  asked = [];
  const verdict = await ask(gate(setting), what);
  return asked.length > 0 ? 'ask' : verdict.kind === 'allow' ? 'allow' : verdict.by;
}

const MODES = ['default', 'acceptEdits', 'plan', 'bypassPermissions'] as const;

describe('modes', () => {
  it.each<[string, string, Json, readonly string[]]>([
    ['reads inside', 'Read', { file_path: 'src/a.ts' }, ['allow', 'allow', 'allow', 'allow']],
    ['reads outside', 'Read', { file_path: '/etc/passwd' }, ['ask', 'ask', 'ask', 'allow']],
    ['a listing inside', 'Glob', { pattern: '**/*.ts' }, ['allow', 'allow', 'allow', 'allow']],
    ['a listing outside', 'Glob', { pattern: '/etc/*' }, ['ask', 'ask', 'ask', 'allow']],
    ['a listing that climbs', 'Glob', { pattern: '*/../../*' }, ['ask', 'ask', 'ask', 'allow']],
    ['a listing that begins above', 'Glob', { pattern: '../*' }, ['ask', 'ask', 'ask', 'allow']],
    ['a search', 'Grep', { pattern: '/etc/*' }, ['allow', 'allow', 'allow', 'allow']],
    ['a search outside', 'Grep', { pattern: 'x', path: '..' }, ['ask', 'ask', 'ask', 'allow']],
    ['an edit', 'Edit', { file_path: 'src/a.ts' }, ['ask', 'allow', 'mode', 'allow']],
    ['a new file', 'Write', { file_path: 'src/new.ts' }, ['ask', 'allow', 'mode', 'allow']],
    ['an edit outside', 'Write', { file_path: '../x' }, ['ask', 'ask', 'mode', 'allow']],
    ['an edit of a protected file', 'Edit', { file_path: '.git/config' }, ['ask', 'ask', 'mode', 'ask']],
    ['one that is missing', 'Write', { file_path: '.claude/settings.json' }, ['ask', 'ask', 'mode', 'ask']],
    ['one behind an escape', 'Write', { file_path: '\\u{2E}git/config' }, ['ask', 'ask', 'mode', 'ask']],
    ['a command that looks', 'Bash', { command: 'git status && ls' }, ['allow', 'allow', 'allow', 'allow']],
    ['one that looks outside', 'Bash', { command: 'cat /etc/passwd' }, ['ask', 'ask', 'ask', 'allow']],
    ['one that is unknown', 'Bash', { command: 'make' }, ['ask', 'ask', 'mode', 'allow']],
    ['one that makes a file', 'Bash', { command: 'touch x' }, ['ask', 'allow', 'mode', 'allow']],
    ['one that writes to a protected file', 'Bash', { command: 'echo x > .git/config' }, ['ask', 'ask', 'mode', 'ask']],
    ['one that cannot be parsed', 'Bash', { command: 'ls "' }, ['ask', 'ask', 'mode', 'allow']],
    ['todos', 'TodoWrite', {}, ['allow', 'allow', 'allow', 'allow']],
    ['a page', 'WebFetch', { url: 'https://example.com' }, ['ask', 'ask', 'ask', 'allow']],
    ['a tool of a server', 'mcp__srv__look', {}, ['ask', 'ask', 'ask', 'allow']],
    ['another tool that looks', 'Lookup', {}, ['allow', 'allow', 'allow', 'allow']],
    ['another that runs', 'Task', {}, ['ask', 'ask', 'mode', 'allow']],
    ['a tool that does not exist', 'Nothing', {}, ['allow', 'allow', 'allow', 'allow']],
    ['an input that is none', 'Bash', 3, ['allow', 'allow', 'allow', 'allow']],
  ])('%s', async (_name, tool, input, expected) => {
    for (const [index, mode] of MODES.entries()) expect(await outcome({ mode }, call(tool, input)), mode).toBe(expected[index]);
  });
  it('tell the model why in plan mode', async () => {
    expect(await ask(gate({ mode: 'plan' }), call('Edit', { file_path: 'src/a.ts' }))).toMatchObject({ kind: 'refuse', by: 'mode', reason: expect.stringContaining('Plan mode is on') as string });
  });
  it('keep deny rules in all of them, for tools, paths and commands', async () => {
    const deny = ['Read(**/.env)', 'Bash(rm:*)', 'WebFetch(domain:evil.com)', 'mcp__srv', 'TodoWrite'];
    for (const mode of MODES) {
      for (const what of [call('Read', { file_path: '.env' }), call('Write', { file_path: '.env' }), call('Grep', { pattern: 'x', path: '.env' }), bash('timeout 3 rm x'), bash('cat .env'), call('WebFetch', { url: 'https://evil.com/x' }), call('mcp__srv__look', {}), call('TodoWrite', {})]) {
        expect(await outcome({ mode, deny }, what), `${mode} ${what.tool}`).toBe('rule');
      }
    }
  });
  it('hold what deny rules cannot see in bypass mode only if there are such rules', async () => {
    expect(await outcome({ mode: 'bypassPermissions', deny: ['Bash(rm:*)'] }, bash('$X y'))).toBe('ask');
    expect(await outcome({ mode: 'bypassPermissions', deny: ['Bash(rm:*)'] }, bash('ls "'))).toBe('ask');
    expect(await outcome({ mode: 'bypassPermissions', deny: ['Bash(rm:*)'] }, bash('make "$x"'))).toBe('allow');
    expect(await outcome({ mode: 'bypassPermissions', deny: ['Bash('] }, bash('ls'))).toBe('ask');
    expect(await outcome({ mode: 'bypassPermissions', ask: ['Bash(make:*)'] }, bash('make'))).toBe('ask');
  });
});

describe('rules', () => {
  it('spare the question', async () => {
    for (const [allow, what] of [['Bash(make:*)', bash('make x')], ['Bash', bash('make "$x" | sh')], ['Edit(src/**)', call('Edit', { file_path: 'src/a.ts' })], ['Edit(src/**)', call('Write', { file_path: 'src/new' })], ['Read(//etc/**)', call('Read', { file_path: '/etc/passwd' })],
      ['WebFetch(domain:*.example.com)', call('WebFetch', { url: 'https://a.example.com' })], ['mcp__srv__*', call('mcp__srv__look', {})], ['Agent(Explore)', call('Task', { subagent_type: 'Explore' })]] as const) {
      expect(await outcome({ allow: [allow] }, what), allow).toBe('allow');
      expect(await outcome({ allow: [allow], ask: [allow] }, what), allow).toBe('ask');
      expect(await outcome({ allow: [allow], deny: [allow] }, what), allow).toBe('rule');
    }
  });
  it('may speak of a parameter to ask or deny', async () => {
    const background = call('Bash', { command: 'ls', run_in_background: true });
    expect(await outcome({ deny: ['Bash(run_in_background:true)'] }, background)).toBe('rule');
    expect(await outcome({ deny: ['Bash(run_in_background:true)'] }, bash('ls'))).toBe('allow');
    expect(await outcome({ ask: ['Agent(model:opus)'], allow: ['Task'] }, call('Task', { model: 'opus' }))).toBe('ask');
  });
});

describe('the question', () => {
  it('shows the whole command with what is unseen, and why it asks', async () => {
    const command = `make\u00a0x${' '.repeat(100)}; curl evil \u202e${'z'.repeat(5000)}`;
    await ask(gate(), bash(command));
    expect(asked[0]?.card).toEqual({ title: 'Bash <U+202E>x', body: [{ type: 'code', language: 'bash', text: `make<U+00A0>x <100 spaces> ; curl evil <U+202E>${'z'.repeat(5000)}` }] });
    expect(asked[0]?.reason).toContain('cannot be seen');
    expect(asked[0]?.reason).not.toMatch(/[\n\u00a0\u202e]/);
    expect(asked[0]?.rules).toEqual([]);
  });
  it('shows the diff of an edit with what is unseen', async () => {
    await ask(gate(), call('Edit', { file_path: 'src/a.ts' }));
    expect(asked[0]).toMatchObject({ reason: 'it changes src/a.ts', card: { body: [{ type: 'diff', patch: '@@ -1 +1 @@\n-<U+200B>\n+ok' }] } });
  });
  it('still comes when there is no preview', async () => {
    await ask(gate({ preview: () => Promise.reject(new Error('broken')) }), bash('make'));
    expect(asked[0]?.card).toEqual({ title: 'Bash', body: [{ type: 'code', language: 'bash', text: 'make' }] });
  });
  it.each<[string, Json, readonly string[], string]>([
    ['Bash', { command: 'npm run build && cargo test' }, ['Bash(npm run build:*)', 'Bash(cargo test:*)'], 'local'],
    ['Bash', { command: 'cat /etc/passwd' }, [], 'local'],
    ['Bash', { command: 'make > out' }, [], 'local'],
    ['Bash', { command: 'make $x' }, [], 'local'],
    ['Edit', { file_path: 'src/a.ts' }, ['Edit(./**)'], 'session'],
    ['Edit', { file_path: '.git/config' }, [], 'session'],
    ['Read', { file_path: '/etc/passwd' }, ['Read(//etc/**)'], 'session'],
    ['Grep', { pattern: 'x', path: '/etc' }, ['Read(//etc)'], 'session'],
    ['Read', { file_path: '/x' }, [], 'session'],
    ['WebFetch', { url: 'https://Docs.Example.com/a' }, ['WebFetch(domain:docs.example.com)'], 'local'],
    ['mcp__srv__look', {}, ['mcp__srv__look'], 'local'],
  ])('offers for %s %j the rules %j', async (tool, input, rules, keep) => {
    answer = () => Promise.resolve({ kind: 'always' });
    const one = gate();
    expect(await ask(one, call(tool, input))).toEqual({ kind: 'allow' });
    expect(asked[0]).toMatchObject({ rules, keep });
    expect(kept).toEqual(rules.map((text) => ({ rule: text, keep })));
    await ask(one, call(tool, input));
    expect(asked).toHaveLength(rules.length > 0 ? 1 : 2);
  });
});

describe('the answer', () => {
  it('no, without a word, ends the turn; with words the turn goes on', async () => {
    answer = () => Promise.resolve({ kind: 'no' });
    expect(await ask(gate(), bash('make'))).toMatchObject({ kind: 'refuse', by: 'user', endTurn: true });
    answer = () => Promise.resolve({ kind: 'no', instead: '  ' });
    expect(await ask(gate(), bash('make'))).toMatchObject({ endTurn: true });
    answer = () => Promise.resolve({ kind: 'no', instead: 'use ninja' });
    expect(await ask(gate(), bash('make'))).toEqual({ kind: 'refuse', by: 'user', reason: 'use ninja' });
  });
  it('nobody there refuses with the reason, and the run goes on', async () => {
    answer = () => Promise.resolve(undefined);
    const verdict = await ask(gate(), bash('make'));
    expect(verdict).toMatchObject({ kind: 'refuse', by: 'unattended', reason: expect.stringContaining('no rule allows `make`') as string });
    expect(verdict).not.toHaveProperty('endTurn');
    answer = () => Promise.reject(new Error('screen gone'));
    expect(await ask(gate(), bash('make'))).toMatchObject({ by: 'unattended' });
  });
  it('always stands even where the rule cannot be kept, and says so', async () => {
    answer = () => Promise.resolve({ kind: 'always' });
    expect(await ask(gate({ keepFails: true }), bash('ninja'))).toEqual({ kind: 'allow', entries: [{ type: 'notice', level: 'warning', text: 'The rule Bash(ninja:*) could not be kept: disk full' }] });
  });
  it('to go on or not', async () => {
    for (const [said, on] of [[{ kind: 'yes' }, true], [{ kind: 'always' }, true], [{ kind: 'no' }, false], [undefined, false]] as const) {
      answer = (question) => {
        expect(question).toEqual({ kind: 'goOn', text: 'Bash three times' });
        return Promise.resolve(said);
      };
      expect(await gate().goOn('Bash three times', SESSION, QUIET)).toBe(on);
    }
    expect(await gate({ mode: 'auto' }).goOn('Bash three times', SESSION, QUIET)).toBe(false);
  });
});

describe('several calls at once', () => {
  it('are asked about one at a time, in order', async () => {
    let open = 0;
    answer = async () => {
      open += 1;
      expect(open).toBe(1);
      await new Promise((resolve) => { setTimeout(resolve, 5); });
      open -= 1;
      return { kind: 'yes' };
    };
    const one = gate();
    await Promise.all(['make a', 'make b', 'make c'].map((command) => ask(one, bash(command))));
    expect(asked.map(({ call: { input } }) => input)).toEqual([{ command: 'make a' }, { command: 'make b' }, { command: 'make c' }]);
  });
  it('are decided anew when their turn comes', async () => {
    answer = () => Promise.resolve({ kind: 'always' });
    const one = gate();
    const verdicts = await Promise.all(['ninja a', 'ninja b', 'ls'].map((command) => ask(one, bash(command))));
    expect(verdicts.map(({ kind }) => kind)).toEqual(['allow', 'allow', 'allow']);
    expect(asked).toHaveLength(1);
  });
  it('one that needs no question does not wait for one that does', async () => {
    answer = () => new Promise(() => undefined);
    const one = gate();
    const stop = new AbortController();
    const waiting = ask(one, bash('make'), stop.signal);
    expect(await ask(one, bash('ls'))).toEqual({ kind: 'allow' });
    stop.abort();
    await waiting;
  });
  it('end at once when aborted: the one that is asked about, those that wait, those that come later', async () => {
    let gone: AbortSignal | undefined;
    answer = (_question, signal) => {
      gone = signal;
      return new Promise(() => undefined);
    };
    const one = gate();
    const stop = new AbortController();
    const all = ['make a', 'make b'].map((command) => ask(one, bash(command), stop.signal));
    const later = one.goOn('x', SESSION, stop.signal);
    await new Promise((resolve) => { setTimeout(resolve, 5); });
    stop.abort();
    for (const verdict of await Promise.all(all)) expect(verdict).toMatchObject({ kind: 'refuse', by: 'user', endTurn: true });
    expect(await later).toBe(false);
    expect(gone?.aborted).toBe(true);
    expect(await ask(one, bash('ls'), stop.signal)).toMatchObject({ kind: 'refuse' });
    answer = () => Promise.resolve({ kind: 'yes' });
    expect(await ask(one, bash('make c'))).toEqual({ kind: 'allow' });
  });
});
