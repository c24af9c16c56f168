import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Arguments } from '#cli/arguments.ts';
import type { Answer, Question } from '#domain/ports.ts';
import { type Dweller, type Household, household } from '../support/household.ts';
import { historyFaults, prefixFaults } from '../support/messages-server/history.ts';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import { type MessagesServer, type Recorded, startServer } from '../support/messages-server/server.ts';
import { list, obj, text } from '../support/messages-server/shape.ts';
import { hostileCommand, type Hostile } from './fixtures.ts';

export interface At {
  readonly server: MessagesServer;
  readonly home: Household;
  readonly dweller: Dweller;
  readonly cwd: string;
  readonly config: string;
}

export interface Options {
  readonly script?: readonly ScriptedReply[] | ((request: Recorded) => ScriptedReply | undefined);
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: Partial<Arguments>;
  readonly modeless?: boolean;
  readonly answer?: (question: Question) => Answer | undefined;
  /** The servers do not start by themselves. */
  readonly later?: boolean;
  readonly fields?: Readonly<Record<string, object>>;
}

/** A house with these servers, all of them connected. */
export async function at(servers: Readonly<Record<string, Hostile>>, { script = [], files = {}, env = {}, args = {}, modeless = false, answer, later = false, fields = {} }: Options = {}): Promise<At> {
  const answers = typeof script === 'function' ? [] : [...script];
  const next = typeof script === 'function' ? script : () => answers.shift();
  const server = await startServer({ now: () => 0, script: (request) => next(request) ?? say('Done.') });
  onTestFinished(() => server.close());
  const home = household(files, server, env);
  const config = join(home.cwd, '..', `${home.cwd.split('/').at(-1) ?? ''}-mcp.json`);
  writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(Object.entries(servers).map(([name, options]) => [name, { ...hostileCommand(options), ...fields[name] }])) }));
  const dweller = await home.open({ args: { mcpConfig: [config], ...args }, modeless, ...(answer !== undefined && { answer }) });
  if (!later) await connect(dweller);
  return { server, home, dweller, cwd: home.cwd, config };
}

export async function connect({ house: { mcp } }: Dweller): Promise<void> {
  mcp.start();
  await mcp.settled(10_000);
}

/** No request was refused, and each began as the one before. */
export function sound({ requests }: MessagesServer): void {
  expect(requests.flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
  for (const { body } of requests) expect(historyFaults(body)).toEqual([]);
  for (const [i, now] of requests.entries()) {
    const last = requests[i - 1];
    if (last !== undefined) expect(prefixFaults(last.body, now.body)).toEqual([]);
  }
}

export const bodyOf = ({ requests }: MessagesServer, at: number): string => JSON.stringify(requests.at(at)?.body['messages']);
export const toolNames = ({ requests }: MessagesServer, at: number): readonly string[] => list(requests.at(at)?.body['tools']).map((one) => text(obj(one)['name']));
export const headsIn = ({ log }: Dweller): number => log.filter(({ type }) => type === 'head').length;
export const resultsIn = ({ log }: Dweller): readonly string[] => log.flatMap((entry) => (entry.type === 'toolResult' ? [entry.result.content.map((part) => (part.type === 'text' ? part.text : part.name)).join('\n')] : []));
export const load = (name: string): ScriptedReply => ({ content: [call('ToolSearch', { query: `select:${name}` })] });
export const use = (name: string, input: object = {}): ScriptedReply => ({ content: [call(name, input)] });
export const ECHO = 'mcp__s__echo';
