import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Card } from '#domain/card.ts';
import { cardText } from '#headless/card-text.ts';
import { homeOf } from '#session/home.ts';
import type { Found } from '#session/import/found.ts';
import { importers } from '#session/import/list.ts';
import { shells } from '#session/import/shells.ts';
import { commandPatternRule, commandRule, pathPatternRule, toolRule } from '#session/import/rules.ts';
import { isSecret, withReferences } from '#session/import/secrets.ts';
import { configure } from '#main/configuration.ts';
import { runImport } from '#main/settings/import-run.ts';
import type { Place } from '#main/place.ts';
import { ARGUMENTS } from '../../support/household.ts';
import { tempFolder } from '../../support/temp.ts';

type Files = Readonly<Record<string, string>>;

async function found(id: string, files: Files, project?: Files): Promise<Found> {
  const userHome = tempFolder(files);
  const importer = importers.find((one) => one.id === id);
  const read = await importer?.read({ userHome, env: {}, project: project === undefined ? undefined : tempFolder(project), memory: '/m/AGENTS.md' });
  if (read === undefined) throw new Error(`${id} found nothing`);
  return read;
}

const said = (rules: Found['rules']): readonly string[] => rules.map(({ list, rule }) => `${list} ${rule}`);
const settings = ({ settings }: Found): Readonly<Record<string, unknown>> => Object.fromEntries(settings.map(({ key, value }) => [key, value]));
const servers = ({ servers }: Found): Readonly<Record<string, unknown>> => Object.fromEntries(servers.map(({ name, config }) => [name, config]));

describe('what is read from other shells', () => {
  it.each(importers.map((importer) => [importer.id, importer] as const))('%s: nothing where there is nothing', async (_, importer) => {
    expect(await importer.read({ userHome: tempFolder(), env: {}, project: undefined, memory: '/m' })).toBeUndefined();
    expect(await importer.read({ userHome: tempFolder(), env: {}, project: tempFolder(), memory: '/m' })).toBeUndefined();
  });

  it('claude: what means the same, and what is read as it stands', async () => {
    const read = await found('claude', {
      '.claude/settings.json': JSON.stringify({ model: 'opus', theme: 'light-daltonized', fallbackModel: ['claude-haiku-5-5', 'x'], permissions: { allow: ['Bash(ls)'] }, apiKeyHelper: 'give-key', spinnerTipsEnabled: false, hooks: {} }),
      '.claude.json': JSON.stringify({ mcpServers: { a: { command: 'x' } }, oauthAccount: { token: 'secret-token' } }), '.claude/commands/x.md': 'x',
    });
    expect(settings(read)).toEqual({ model: 'opus', theme: 'light', fallbackModel: ['claude-haiku-5-5', 'x'] });
    expect(read.servers).toEqual([]);
    expect(read.anyway.join('\n')).toMatch(/permissions, hooks of .*settings\.json\n.*the MCP servers of .*\.claude\.json\ncommands of /s);
    expect(read.left.join('\n')).toMatch(/^apiKeyHelper: .*\nspinnerTipsEnabled: there is nothing like it here/);
    expect(JSON.stringify(read)).not.toContain('secret-token');
  });

  it('codex: servers, prompts, effort; no secret', async () => {
    const read = await found('codex', {
      '.codex/config.toml': `model = "gpt-5"\nmodel_reasoning_effort = "minimal"\napproval_policy = "never"\n[mcp_servers.gh]\nurl = "https://x.example/mcp?api_key=abcdef1&v=2"\nbearer_token_env_var = "GH"\nhttp_headers = { "X-Team" = "blue", "X-Auth-Token" = "t0ps3cret" }\nenv_http_headers = { "X-Env" = "FROM_ENV" }\ntool_timeout_sec = 30\ndisabled_tools = ["rm"]\n[mcp_servers.local]\ncommand = "npx"\nargs = ["-y", "@scope/server-postgres-2024-edition", "--token=ghp_aaaaaaaaaaaaaaaa", "postgres://u:pw@h/db"]\nenv = { LOG = "debug", API_KEY = "k" }\nenv_vars = ["HOME_TOKEN"]\n[mcp_servers.off]\ncommand = "x"\nenabled = false\n[mcp_servers."bad name"]\ncommand = "x"\n`,
      '.codex/prompts/review.md': '---\ndescription: Reviews\n---\nReview $1, then $2 of $ARGUMENTS.\n', '.codex/prompts/named.md': 'Use $FILE\n', '.codex/AGENTS.md': 'x', '.codex/auth.json': '{"OPENAI_API_KEY":"sk-very-secret-key-1"}',
    });
    expect(settings(read)).toEqual({ effortLevel: 'low' });
    expect(said(read.rules)).toEqual(['deny mcp__gh__rm']);
    expect(servers(read)).toEqual({
      gh: { type: 'http', url: 'https://x.example/mcp?api_key=${GH_API_KEY}&v=2', headers: { 'X-Team': 'blue', 'X-Auth-Token': '${GH_X_AUTH_TOKEN}', 'X-Env': '${FROM_ENV}', Authorization: 'Bearer ${GH}' }, timeout: 30_000 },
      local: { type: 'stdio', command: 'npx', args: ['-y', '@scope/server-postgres-2024-edition', '--token=${LOCAL_TOKEN}', '${LOCAL_SECRET}'], env: { HOME_TOKEN: '${HOME_TOKEN}', LOG: 'debug', API_KEY: '${API_KEY}' } },
    });
    expect(read.documents.map(({ name, text }) => [name, text])).toEqual([['review.md', '---\ndescription: Reviews\n---\nReview $0, then $1 of $ARGUMENTS.\n']]);
    expect(read.left.join('\n')).toMatch(/gpt-5.*never.*server off: it is switched off.*server bad name: its name.*prompt named: it takes arguments by name.*AGENTS\.md is not read; .*keys: they are not copied/s);
    expect(read.left.some((line) => line.includes('line @') && line.includes('/m/AGENTS.md'))).toBe(true);
    for (const secret of ['ghp_', 'abcdef1', 't0ps3cret', 'pw@', 'very-secret']) expect(JSON.stringify(read)).not.toContain(secret);
  });

  it('gemini: rules that mean no more, commands in our words, comments in JSON', async () => {
    const read = await found('gemini', {
      '.gemini/settings.json': '{ /* c */ "tools": {"allowed": ["run_shell_command(git status)", "write_file", "read_file", "run_shell_command(a*b)", "mcp_x_y"], "exclude": ["run_shell_command(rm)", "web_fetch"]}, "general": {"defaultApprovalMode": "auto_edit"}, "ui": {"theme": "Google Light"}, "context": {"fileName": ["GEMINI.md", "AGENTS.md"]}, "mcp": {"excluded": ["no"]}, "mcpServers": {"no": {"command": "x"}, "yes": {"httpUrl": "https://h/m", "trust": true, "excludeTools": ["t"], "headers": {"Authorization": "Bearer $TOKEN"}}, "old": {"url": "https://h/s", "type": "sse"}}, }',
      '.gemini/commands/git/commit.toml': 'description = "Commit: all of it"\nprompt = """\nFor {{args}}\n!{git diff --staged}\n@{docs/style.md}\n"""\n',
      '.gemini/commands/bad.toml': 'prompt = "!{grep {{args}} x}"', '.gemini/commands/worse.toml': 'prompt = ', '.gemini/oauth_creds.json': '{"access_token":"ya29.aaaaaaaaaaaa"}',
    });
    expect(said(read.rules)).toEqual(['deny mcp__yes__t', 'allow Bash(git status:*)', 'allow Edit(./**)', 'deny Bash(rm*)', 'deny WebFetch']);
    expect(settings(read)).toEqual({ 'permissions.defaultMode': 'acceptEdits', theme: 'light' });
    expect(servers(read)).toEqual({ yes: { type: 'http', url: 'https://h/m', headers: { Authorization: 'Bearer ${TOKEN}' } }, old: { type: 'sse', url: 'https://h/s' } });
    expect(read.documents.map(({ name, text }) => [name, text])).toEqual([['git/commit.md', '---\ndescription: "Commit: all of it"\n---\nFor $ARGUMENTS\n!`git diff --staged`\n@docs/style.md\n']]);
    expect(read.left.join('\n')).toMatch(/server no: it is switched off.*trust of the server yes.*allow rule run_shell_command\(a\*b\).*allow rule mcp_x_y.*GEMINI\.md: they are not read.*bad: it puts arguments into a shell command.*worse cannot be read.*keys: they are not copied/s);
    expect(JSON.stringify(read)).not.toContain('ya29');
  });

  it('opencode: patterns, servers, commands and agents', async () => {
    const read = await found('opencode', {
      '.config/opencode/opencode.jsonc': '{"model":"anthropic/claude-opus-5-5", // mine\n"permission":{"bash":{"*":"deny","git *":"allow","git push *":"ask","rm -r?":"deny","x?":"allow"},"edit":{"src/*":"allow","*.lock":"deny","gen/*":"deny"},"webfetch":"deny","read":"allow","doom_loop":"allow"},"mcp":{"a":{"type":"local","command":["bun","run"],"environment":{"T":"{env:MY_T}"}},"b":{"type":"remote","url":"https://h/m","enabled":false}},"command":{"t":{"template":"Test $1 with `x`","description":"Tests"}},"agent":{"plan":{"mode":"primary","prompt":"x"},"doc":{"mode":"subagent","description":"Docs: all","prompt":"Write.","tools":{"bash":false,"edit":false},"model":"anthropic/claude-haiku-5-5"}},"provider":{"p":{"options":{"apiKey":"sk-aaaaaaaaaaaaaaaa"}}}}',
      '.config/opencode/agent/review.md': '---\ndescription: Reviews\nmode: subagent\npermission:\n  edit: deny\n---\nYou review.\n', '.config/opencode/command/go.md': '---\ndescription: Goes\nagent: build\n---\nGo $ARGUMENTS\n',
    });
    expect(settings(read)).toEqual({ model: 'claude-opus-5-5' });
    expect(said(read.rules)).toEqual(['allow Bash(git *)', 'ask Bash(git push *)', 'deny Bash(rm -r*)', 'allow Edit(src/*)', 'deny Edit(*.lock)', 'deny Edit(gen/**)', 'deny WebFetch']);
    expect(servers(read)).toEqual({ a: { type: 'stdio', command: 'bun', args: ['run'], env: { T: '${MY_T}' } } });
    expect(read.documents.map(({ kind, name, text }) => [kind, name, text])).toEqual([
      ['commands', 't.md', '---\ndescription: "Tests"\n---\nTest $0 with `x`\n'],
      ['agents', 'doc.md', '---\nname: "doc"\ndescription: "Docs: all"\ndisallowedTools: "Bash, Edit"\nmodel: "claude-haiku-5-5"\n---\nWrite.\n'],
      ['commands', 'go.md', '---\ndescription: "Goes"\n---\nGo $ARGUMENTS\n'],
      ['agents', 'review.md', '---\nname: "review"\ndescription: "Reviews"\ndisallowedTools: "Edit"\n---\nYou review.\n'],
    ]);
    expect(read.left.join('\n')).toMatch(/deny rule bash \*.*allow rule bash x\?.*doom_loop.*agent plan: it is one to talk to.*providers and their keys/s);
    expect(JSON.stringify(read)).not.toContain('sk-aaa');
  });

  it('crush and cursor', async () => {
    const crush = await found('crush', { '.config/crush/crush.json': JSON.stringify({ mcp: { a: { type: 'sse', url: 'https://h', timeout: 5, disabled_tools: ['t'] }, c: { type: 'stdio', command: 'x', env: { K: '$(pass show k)' } } }, permissions: { allowed_tools: ['view', 'edit', 'bash'] }, lsp: { go: { command: 'gopls' } } }), '.config/crush/crushrc': 'echo' });
    expect(said(crush.rules)).toEqual(['deny mcp__a__t', 'allow Edit(./**)', 'allow Bash']);
    expect(servers(crush)).toEqual({ a: { type: 'sse', url: 'https://h', timeout: 5000 }, c: { type: 'stdio', command: 'x', args: [], env: { K: '${K}' } } });
    expect(crush.left.join('\n')).toMatch(/language servers \(go\).*crushrc: it is a program/s);
    const cursor = await found('cursor', { '.cursor/mcp.json': '{"mcpServers":{"m":{"command":"x","args":["a"]}}}', '.cursor/cli-config.json': JSON.stringify({ version: 1, permissions: { allow: ['Shell(ls)', 'Write(src/**)'], deny: ['Shell(rm)', 'Read(.env*)'] } }) });
    expect(said(cursor.rules)).toEqual(['allow Bash(ls:*)', 'allow Edit(src/**)', 'deny Bash(rm*)', 'deny Read(.env*)']);
    expect(servers(cursor)).toEqual({ m: { type: 'stdio', command: 'x', args: ['a'] } });
  });

  it('says what it cannot read and goes on', async () => {
    const read = await found('codex', { '.codex/config.toml': 'a = = b', '.codex/prompts/ok.md': 'Fine.' });
    expect(read.left[0]).toMatch(/^\/.*config\.toml cannot be read: /);
    expect(read.documents).toHaveLength(1);
    const folder = tempFolder();
    mkdirSync(join(folder, '.gemini/settings.json'), { recursive: true });
    const odd = await importers.find(({ id }) => id === 'gemini')?.read({ userHome: folder, env: {}, project: undefined, memory: '/m' });
    expect(odd?.files ?? []).toEqual([]);
  });
});

describe('rules in other words', () => {
  it('allow the same or less', () => {
    expect(commandRule('npm test', 'allow')).toBe('Bash(npm test:*)');
    expect(commandRule('npm *', 'allow')).toBeUndefined();
    expect(commandRule('a\nb', 'allow')).toBeUndefined();
    expect(commandRule('', 'deny')).toBeUndefined();
    expect(commandPatternRule('a?', 'allow')).toBeUndefined();
    expect(commandPatternRule('a?', 'deny')).toBe('Bash(a*)');
    expect(pathPatternRule('Edit', '*', 'allow')).toBe('Edit(./**)');
    expect(pathPatternRule('Edit', '*.md', 'allow')).toBe('Edit(./*.md)');
    expect(pathPatternRule('Edit', '/etc/*', 'deny')).toBe('Edit(//etc/**)');
    expect(pathPatternRule('Edit', '!x', 'deny')).toBeUndefined();
    expect(toolRule('constructor', 'allow')).toBeUndefined();
    expect(toolRule('mcp_a_b_c', 'deny')).toBeUndefined();
  });

  it('know secrets by name and looks', () => {
    for (const [name, value] of [['API_KEY', 'x1y2'], ['githubToken', 'abc'], ['DB_PASSWORD', 'hunter2'], ['', 'sk-abcdefghijkl'], ['X', 'ghp_0123456789ab'], ['URL', 'postgres://a:b@c/d'], ['SOMETHING', 'a1b2c3d4e5f6a1b2c3d4e5f6'], ['Authorization', 'Basic YWJj']] as const) expect(isSecret(name, value), `${name}=${value}`).toBe(true);
    for (const [name, value] of [['LOG', 'debug'], ['', '@scope/server-postgres-2024-edition'], ['API_KEY', '${MY_KEY}'], ['Authorization', 'Bearer ${T}'], ['KEY_FILE_ENABLED', 'true'], ['PATH', '/usr/bin:/bin'], ['MONKEY', 'banana'], ['TOKEN', '']] as const) expect(isSecret(name, value), `${name}=${value}`).toBe(false);
    expect(withReferences('$A ${B} {env:C}')).toBe('${A} ${B} ${C}');
    expect(withReferences('$(x)')).toBeUndefined();
  });
});

describe('taking over', () => {
  const CODEX = '[mcp_servers.gh]\nurl = "https://h/mcp"\nhttp_headers = { Authorization = "Bearer abcdefgh12345678" }\n';
  const GEMINI = JSON.stringify({ tools: { allowed: ['run_shell_command(ls)'] }, ui: { theme: 'Light' }, mcpServers: { gh: { command: 'x' } } });

  function rig(home: Files, project: Files = {}, trust = false) {
    const userHome = tempFolder(home);
    const cwd = tempFolder(project);
    const env = { HOME: userHome, PINION_HOME: join(userHome, 'pinion') };
    const place: Place = { cwd, repository: undefined, userHome, home: homeOf(env), env, shell: '/bin/sh' };
    const configuration = configure(place, { ...ARGUMENTS, trust });
    const cards: Card[] = [];
    const asked: string[] = [];
    return {
      place, cwd, asked,
      read: (name: string): string => readFileSync(join(userHome, name), 'utf8'),
      has: (name: string): boolean => existsSync(join(userHome, name)),
      async run(from: string | undefined, more: { readonly yes?: boolean; readonly project?: boolean; readonly answer?: boolean } = {}): Promise<string> {
        cards.length = 0;
        await runImport({ place, configuration }, { type: 'import', project: more.project === true, yes: more.yes === true, ...(from !== undefined && { from }) }, {
          show: (card) => { cards.push(card); },
          ...(more.answer !== undefined && { ask: (title: string, lines: readonly string[]) => { asked.push([title, ...lines].join('\n')); return Promise.resolve(more.answer === true); } }),
        });
        return cards.map(cardText).join('\n---\n');
      },
    };
  }

  it('is shown first, and writes nothing', async () => {
    const { run, has } = rig({ '.codex/config.toml': CODEX, '.gemini/settings.json': GEMINI });
    expect(await run(undefined)).toMatch(/codex.*1 server[\s\S]*gemini.*1 setting, 1 rule, 1 server/);
    const looked = await run('codex');
    expect(looked).toContain('server gh: https://h/mcp');
    expect(looked).toContain('secrets of the server gh are not copied: set GH_AUTHORIZATION');
    expect(looked).toContain('/import codex --yes takes it over.');
    expect(has('pinion')).toBe(false);
  });

  it('writes into our own files once, keeps what is there, and makes a copy of the settings first', async () => {
    const { run, read, has } = rig({ '.codex/config.toml': CODEX, '.gemini/settings.json': GEMINI, '.gemini/commands/a/b.toml': 'prompt = "x"', 'pinion/settings.json': '{"theme":"dark","permissions":{"deny":["Bash(x)"]}}' });
    expect(await run('codex', { yes: true })).toMatch(/^Taken over from Codex: 1 server/);
    expect(JSON.parse(read('pinion/mcp.json'))).toEqual({ mcpServers: { gh: { type: 'http', url: 'https://h/mcp', headers: { Authorization: 'Bearer ${GH_AUTHORIZATION}' } } } });
    expect(has('pinion/settings.json.before-import')).toBe(false);
    const done = await run('gemini', { yes: true });
    expect(done).toContain('the settings as they were:');
    expect(JSON.parse(read('pinion/settings.json'))).toEqual({ theme: 'dark', permissions: { deny: ['Bash(x)'], allow: ['Bash(ls:*)'] } });
    expect(read('pinion/settings.json.before-import')).toBe('{"theme":"dark","permissions":{"deny":["Bash(x)"]}}');
    expect(JSON.parse(read('pinion/mcp.json'))).toMatchObject({ mcpServers: { gh: { type: 'http' } } });
    expect(read('pinion/commands/a/b.md')).toBe('x\n');
    const again = await run('gemini', { yes: true });
    expect(again).toMatch(/^Gemini CLI: nothing new to take over/);
    expect(again).toContain('theme is dark, not light: yours stays');
    expect(again).toContain('there is a server gh already');
    expect(again).toContain('one rule is there already');
  });

  it('asks where somebody is there to ask', async () => {
    const { run, has, asked } = rig({ '.codex/config.toml': CODEX });
    await run('codex', { answer: false });
    expect(asked).toEqual(['Take that over from Codex?\nserver gh: https://h/mcp, with the header Authorization: Bearer ${GH_AUTHORIZATION}']);
    expect(has('pinion/mcp.json')).toBe(false);
    await run('codex', { answer: true });
    expect(has('pinion/mcp.json')).toBe(true);
  });

  it('takes nothing of a folder that is not trusted, and of a trusted one only when asked to, into its own files', async () => {
    const files = { '.gemini/settings.json': GEMINI, '.gemini/commands/c.toml': 'prompt = "x"' };
    await expect(rig({}, files).run('gemini', { yes: true, project: true })).rejects.toThrow('this folder is not trusted');
    const { run, cwd, has, read } = rig({}, files, true);
    expect(await run(undefined)).toMatch(/^No other shell has left anything in your home/);
    await run('gemini', { yes: true, project: true });
    expect(JSON.parse(readFileSync(join(cwd, '.pinion/settings.json'), 'utf8'))).toEqual({ theme: 'light', permissions: { allow: ['Bash(ls:*)'] } });
    expect(readFileSync(join(cwd, '.pinion/commands/c.md'), 'utf8')).toBe('x\n');
    expect(has('pinion/settings.json')).toBe(false);
    expect(JSON.parse(read('pinion/mcp.json'))).toEqual({ projects: { [cwd]: { mcpServers: { gh: { type: 'stdio', command: 'x', args: [] } } } } });
  });

  it('writes through no link of the project, and not over a damaged file', async () => {
    const outside = tempFolder();
    const linked = rig({}, { '.gemini/commands/c.toml': 'prompt = "x"' }, true);
    mkdirSync(join(linked.cwd, '.pinion'));
    symlinkSync(outside, join(linked.cwd, '.pinion/commands'));
    expect(await linked.run('gemini', { yes: true, project: true })).toContain('is reached by a symbolic link');
    expect(existsSync(join(outside, 'c.md'))).toBe(false);
    const damaged = rig({ '.gemini/settings.json': GEMINI, 'pinion/settings.json': '{"a":' });
    expect(await damaged.run('gemini', { yes: true })).toContain('cannot be read as one JSON object');
    expect(damaged.read('pinion/settings.json')).toBe('{"a":');
  });

  it('shows names from outside as they are, on one line', async () => {
    const { run } = rig({ '.codex/config.toml': '[mcp_servers."a\\u001b[2J\\nb"]\ncommand = "x"\n' });
    expect(await run('codex')).not.toMatch(/\u001b/);
  });
});

it('the shells that are named without loading any of it are those that can be read', () => {
  expect(shells).toEqual(importers.map(({ id, label }) => ({ id, label })));
});
