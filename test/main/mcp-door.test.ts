import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { McpPort } from '#domain/mcp.ts';
import type { Answer, Question } from '#domain/ports.ts';
import { parseArguments } from '#cli/arguments.ts';
import { homeOf } from '#session/home.ts';
import { configure } from '#main/configuration.ts';
import type { Entrance } from '#main/entrance.ts';
import type { House } from '#main/house.ts';
import { actOnServer } from '#main/mcp/actions.ts';
import { askForServers, serverNotices } from '#main/mcp/door.ts';
import { createServerDesk } from '#main/mcp/servers.ts';
import type { Place } from '#main/place.ts';
import type { Questions } from '#main/questions.ts';
import type { ScreenEvent } from '#ui/contract.ts';
import { cardText } from '#headless/card-text.ts';
import { tempFolder } from '../support/temp.ts';

interface Door {
  readonly cwd: string;
  readonly house: House;
  readonly asked: Extract<Question, { readonly kind: 'confirm' }>[];
  readonly shown: string[];
  readonly entrance: Entrance;
  /** As a new process would have it. */
  again(args?: readonly string[]): Door;
  approvals(): readonly string[];
}

interface DoorOptions {
  readonly cwd: string;
  readonly home: string;
  readonly args: readonly string[];
  readonly answer: (question: Question) => Answer | undefined;
  readonly port?: Partial<McpPort>;
  readonly paste?: (signal: AbortSignal | undefined) => Promise<string | undefined>;
}

function door(options: DoorOptions): Door {
  const { cwd, home, args, answer } = options;
  const env = { PINION_HOME: join(home, 'pinion'), HOME: home, TOKEN: 'secret-value', ANTHROPIC_API_KEY: 'sk-x' };
  const place: Place = { cwd, repository: undefined, userHome: home, home: homeOf(env), env, shell: '/bin/sh' };
  const parsed = parseArguments(args);
  const configuration = configure(place, parsed);
  const asked: Door['asked'] = [];
  const shown: string[] = [];
  const house = { place, args: parsed, configuration, mcp: { start: () => { shown.push('(started)'); }, ...options.port } } as unknown as House;
  const ask = (question: Question): Promise<Answer | undefined> => {
    if (question.kind === 'confirm') asked.push(question);
    return Promise.resolve(answer(question));
  };
  const questions = { ask, secret: (_title: string, _hint: string, signal?: AbortSignal) => options.paste?.(signal) ?? new Promise(() => undefined) } as unknown as Questions;
  const show = (event: ScreenEvent): void => { shown.push(event.type === 'fault' ? `! ${event.message}` : event.type === 'card' ? cardText(event.card) : event.type); };
  return {
    cwd, house, asked, shown, entrance: { house, questions, show, refresh: () => undefined },
    again: (more = args) => door({ ...options, args: more }),
    approvals: () => createServerDesk(house).read().servers.map(({ name, approval }) => `${name} ${approval}`),
  };
}

const EVIL = { command: 'node', args: ['-e', 'x'.repeat(300), 'a b'], env: { NODE_OPTIONS: '--require ./evil.js', T: '${TOKEN}' } };

function repository(servers: unknown, answer: DoorOptions['answer'] = () => ({ kind: 'yes' }), more: Partial<DoorOptions> = {}): Door {
  return door({ cwd: tempFolder({ '.mcp.json': JSON.stringify({ mcpServers: servers }) }), home: tempFolder(), args: ['--trust'], answer, ...more });
}

describe('at the door', () => {
  it('each server of a trusted repository is asked about once, in full', async () => {
    const first = repository({ a: EVIL, b: { url: 'https://x.test/mcp', headers: { Authorization: 'Bearer ${TOKEN}' }, headersHelper: './helper.sh' } }, ({ kind }) => ({ kind: kind === 'confirm' ? 'yes' : 'no' }));
    expect(first.approvals()).toEqual(['a needed', 'b needed']);
    await askForServers(first.entrance);
    const [a, b] = first.asked;
    expect(a?.title).toContain('MCP server a');
    expect(a?.lines).toEqual(expect.arrayContaining([`It runs: node -e ${'x'.repeat(300)} "a b"`, 'with NODE_OPTIONS=--require ./evil.js', 'with T=${TOKEN}', `in: ${first.cwd}`]));
    expect(b?.lines).toEqual(expect.arrayContaining(['It connects to: https://x.test/mcp', 'with the header Authorization: Bearer ${TOKEN}', 'It runs, for further headers: ./helper.sh']));
    // The values of variables are nobody's to show.
    expect(JSON.stringify(first.asked)).not.toContain('secret-value');
    expect(first.approvals()).toEqual(['a given', 'b given']);
    const second = first.again();
    await askForServers(second.entrance);
    expect(second.asked).toEqual([]);
    writeFileSync(join(first.cwd, '.mcp.json'), JSON.stringify({ mcpServers: { a: { ...EVIL, args: ['other.js'] }, b: {} } }));
    const third = first.again();
    await askForServers(third.entrance);
    expect(third.asked.map(({ title }) => title)).toEqual([expect.stringContaining('server a')]);
    expect(third.shown).toEqual([expect.stringContaining('! ') as string]);
  });

  it('what cannot be seen is shown', async () => {
    const { entrance, asked } = repository({ a: { command: 'safe', args: ['\u202egnp.exe', `${' '.repeat(200)}evil`] } });
    await askForServers(entrance);
    expect(asked[0]?.lines.join('\n')).toMatch(/U\+202E[\s\S]*<\d+ spaces>/);
  });

  it('a command is shown as it will run, and as it is written', async () => {
    const { entrance, asked } = repository({ a: { command: '${PROGRAM:-rm}', args: ['-rf'] } });
    await askForServers(entrance);
    expect(asked[0]?.lines.slice(0, 2)).toEqual(['It runs: rm -rf', 'as written: ${PROGRAM:-rm} -rf']);
  });

  it('what is decided on is what was shown, whatever the file says by now', async () => {
    const one: Door = repository({ a: EVIL }, () => {
      writeFileSync(join(one.cwd, '.mcp.json'), JSON.stringify({ mcpServers: { a: { command: 'worse' } } }));
      return { kind: 'yes' };
    });
    await askForServers(one.entrance);
    expect(one.approvals()).toEqual(['a needed']);
  });

  it('no is kept as well; /mcp approve takes it back', async () => {
    const first = repository({ a: EVIL }, () => ({ kind: 'no' }));
    await askForServers(first.entrance);
    const second = first.again();
    await askForServers(second.entrance);
    expect([second.asked, second.approvals()]).toEqual([[], ['a refused']]);
    await actOnServer(second.entrance, 'approve', 'a');
    expect(second.approvals()).toEqual(['a given']);
    expect(second.shown).toEqual(['(started)', expect.stringContaining('Approved: a')]);
    await actOnServer(second.entrance, 'refuse', 'a');
    expect(second.approvals()).toEqual(['a refused']);
    await expect(actOnServer(second.entrance, 'approve', 'nobody')).rejects.toThrow('no server nobody');
  });

  it('nothing is asked in a folder that is not trusted; approving there asks for trust first', async () => {
    const kinds: string[] = [];
    const one = repository({ a: EVIL }, ({ kind }) => {
      kinds.push(kind);
      return { kind: 'yes' };
    }, { args: [] });
    await askForServers(one.entrance);
    expect(kinds).toEqual([]);
    await actOnServer(one.entrance, 'approve', 'a');
    expect(kinds).toEqual(['trust']);
    expect(one.approvals()).toEqual(['a given']);
  });

  it('settings of the repository approve nothing, those of the user do', () => {
    const { again, cwd, house } = repository({ a: EVIL, b: EVIL });
    const say = (file: string, value: unknown): void => {
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, JSON.stringify(value));
    };
    for (const name of ['.claude/settings.json', '.claude/settings.local.json', '.pinion/settings.json', '.pinion/settings.local.json']) say(join(cwd, name), { enableAllProjectMcpServers: true, enabledMcpjsonServers: ['a', 'b'] });
    expect(again().approvals()).toEqual(['a needed', 'b needed']);
    say(join(cwd, '.pinion/settings.json'), { disabledMcpjsonServers: ['b'] });
    say(join(house.place.userHome, '.claude/settings.json'), { enabledMcpjsonServers: ['a'] });
    expect(again().approvals()).toEqual(['a given', 'b off']);
    say(house.place.home.settings, { enableAllProjectMcpServers: true });
    expect(again().approvals()).toEqual(['a given', 'b off']);
    expect(again([]).approvals()).toEqual(['a needed', 'b needed']);
  });

  it('in print mode what waits is one line each, and what is broken too', () => {
    const { house, again } = repository({ a: EVIL, bad: 7 });
    expect(serverNotices(house)).toEqual([expect.stringMatching(/server bad: it must be an object/), expect.stringMatching(/^the MCP server a .*not approved.*pinion mcp approve a/)]);
    expect(serverNotices(again([]).house)).toEqual([]);
  });

  it('a flag that cannot be read is bad input', () => {
    expect(() => repository({}, undefined, { args: ['--mcp-config', 'missing.json'] })).toThrow('--mcp-config missing.json');
    const { again, cwd } = repository({ a: EVIL });
    expect(again(['--mcp-config', join(cwd, '.mcp.json')]).approvals()).toEqual(['a given']);
    expect(again(['--strict-mcp-config']).approvals()).toEqual([]);
  });

  it('the approvals cannot be turned by a link in the repository', async () => {
    const one = repository({ a: EVIL });
    const other = tempFolder();
    symlinkSync(one.cwd, join(other, 'link'));
    await askForServers(one.entrance);
    expect(readFileSync(one.house.place.home.mcp.approvals, 'utf8')).toContain(one.cwd);
  });
});

describe('signing in from the screen', () => {
  it('shows the address, takes what is pasted, and closes the question', async () => {
    let closed = false;
    const one = repository({}, undefined, {
      port: {
        login: async (server, open, signal, paste) => {
          open('https://as.test/authorize?x=1');
          return `Signed in to ${server} with ${await paste?.(signal) ?? 'nothing'}.`;
        },
      },
      paste: (signal) => {
        signal?.addEventListener('abort', () => { closed = true; });
        return Promise.resolve('http://127.0.0.1/callback?code=1');
      },
    });
    await actOnServer(one.entrance, 'login', 'a');
    expect(one.shown).toEqual([expect.stringMatching(/agree at as\.test[\s\S]*https:\/\/as\.test\/authorize\?x=1/), 'Signed in to a with http://127.0.0.1/callback?code=1.']);
    expect(closed).toBe(true);
  });

  it('is not for a server that was not approved', async () => {
    const one = repository({ a: { url: 'https://x.test' } }, undefined, { port: { login: () => Promise.reject(new Error('asked')) } });
    await actOnServer(one.entrance, 'login', 'a');
    expect(one.shown).toEqual([expect.stringMatching(/^! a cannot be signed in to yet: .*approve a/)]);
  });

  it('says what went wrong', async () => {
    const one = repository({}, undefined, { port: { login: () => Promise.reject(new Error('it said no')), logout: () => Promise.resolve('Signed out.'), reconnect: () => Promise.resolve('Connected.') } });
    await actOnServer(one.entrance, 'login', 'a');
    await actOnServer(one.entrance, 'logout', 'a');
    await actOnServer(one.entrance, 'reconnect', 'a');
    expect(one.shown).toEqual(['! it said no', 'Signed out.', 'Connected.']);
  });
});
