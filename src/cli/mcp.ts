import { Command, CommanderError, Option } from 'commander';
import type { Json } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import { helpColumns, helpLook, helpProse, WIDEST } from './help.ts';
import { Answered, UsageError } from './arguments.ts';

export type WriteScope = 'local' | 'user' | 'project';

/** What `pinion mcp …` was asked for. */
export type McpRequest =
  /** `value`: an entry of `mcpServers`, not yet checked. */
  | { readonly verb: 'add'; readonly name: string; readonly scope: WriteScope; readonly value: Json }
  | { readonly verb: 'remove'; readonly name: string; readonly scope?: WriteScope }
  | { readonly verb: 'list'; readonly json: boolean }
  | { readonly verb: 'get'; readonly name: string; readonly json: boolean }
  | { readonly verb: 'test' | 'login' | 'logout' | 'approve' | 'refuse'; readonly name: string };

const SCOPES: readonly WriteScope[] = ['local', 'user', 'project'];

const EPILOGUE = [
  'Scopes: local (yours, this project; the default), user (yours, everywhere), project (.mcp.json, shared). Servers of .mcp.json start only in a folder that you trust, after you have approved each of them.',
  'Exit codes: 0 done, 1 it failed, 2 bad flags or input.',
  `Examples:
  pinion mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  pinion mcp add -e TOKEN=abc tracker -- node tracker.js --verbose
  pinion mcp add --scope user docs https://docs.example.com/mcp
  pinion mcp test files`,
];

/** Reads what follows `pinion mcp`. Throws `Answered` for help, `UsageError` (one line) for what is wrong. */
export function parseMcpArguments(argv: readonly string[], columns = helpColumns()): McpRequest {
  let written = '';
  let request: McpRequest | undefined;
  const command = program((text) => { written += text; }, columns, (asked) => { request = asked; });
  try {
    command.parse(argv.length === 0 ? ['--help'] : [...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) throw new Answered(written);
    const hint = error.code === 'commander.unknownOption' && argv[0] === 'add' ? 'What belongs to the command of the server stands behind --.' : 'See pinion mcp --help.';
    throw new UsageError(`${error.message.replace(/^error: /, '').replaceAll('\n', ' ').trim().replace(/[^.!?)]$/, '$&.')} ${hint}`);
  }
  if (request === undefined) throw new UsageError('say what is to be done. See pinion mcp --help.');
  return request;
}

/** Its definitions, for those who complete command lines. */
export function mcpCommand(): Command {
  return program(() => undefined, WIDEST, () => undefined);
}

const collect = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];
const scopeOption = (what: string): Option => new Option('-s, --scope <scope>', what).choices(SCOPES);

function program(write: (text: string) => void, columns: number, take: (request: McpRequest) => void): Command {
  const mcp = new Command('pinion mcp')
    .description('Servers of the Model Context Protocol: tools, resources and prompts of other programs.')
    .enablePositionalOptions()
    .helpCommand(false)
    .helpOption('-h, --help', 'print this help')
    .configureOutput({ writeOut: write, writeErr: () => undefined })
    .configureHelp({ ...helpLook(columns), subcommandTerm: (command) => command.name() })
    .exitOverride()
    .usage('<command>');
  mcp.addHelpText('after', helpProse(EPILOGUE, columns));
  mcp.command('add').description('write a server down: a command, or an address').argument('<name>', 'letters, digits, - and _').argument('<command-or-url>', 'a program, or an address that begins with https://').argument('[args...]', 'of the command; those that begin with - stand behind --')
    .addOption(scopeOption('where it is written down').default('local')).addOption(new Option('-t, --transport <transport>', 'how it is reached (default: stdio for a command, http for an address)').choices(['stdio', 'http', 'sse']))
    .option('-e, --env <KEY=value>', 'a variable of its environment (repeatable)', collect).option('-H, --header <header>', 'a header "Name: value" of each request (repeatable)', collect)
    .option('--client-id <id>', 'of a program that was registered by hand, for signing in').option('--callback-port <port>', 'the port that was registered with it')
    .action((name: string, target: string, args: readonly string[], options: AddOptions) => { take({ verb: 'add', name, scope: options.scope, value: entryOf(target, args, options) }); });
  mcp.command('add-json').description('write a server down as JSON, as it stands in mcpServers').argument('<name>').argument('<json>').addOption(scopeOption('where it is written down').default('local'))
    .action((name: string, json: string, { scope }: { readonly scope: WriteScope }) => { take({ verb: 'add', name, scope, value: jsonOf(json) }); });
  mcp.command('list').description('all servers with their state: each is connected to').option('--json', 'as JSON')
    .action(({ json = false }: { readonly json?: boolean }) => { take({ verb: 'list', json }); });
  mcp.command('get').description('one server: what it is and where it stands').argument('<name>').option('--json', 'as JSON')
    .action((name: string, { json = false }: { readonly json?: boolean }) => { take({ verb: 'get', name, json }); });
  mcp.command('remove').description('take a server away').argument('<name>').addOption(scopeOption('where it stands, if in several places'))
    .action((name: string, { scope }: { readonly scope?: WriteScope }) => { take({ verb: 'remove', name, ...(scope !== undefined && { scope }) }); });
  for (const [verb, what] of [
    ['test', 'connect to a server, see what it offers, and give a verdict'], ['login', 'sign in to a server with the browser'], ['logout', 'forget what signing in gave'],
    ['approve', 'let a server of .mcp.json start'], ['refuse', 'keep a server of .mcp.json from starting'],
  ] as const) mcp.command(verb).description(what).argument('<name>').action((name: string) => { take({ verb, name }); });
  return mcp;
}

interface AddOptions {
  readonly scope: WriteScope;
  readonly transport?: 'stdio' | 'http' | 'sse';
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly clientId?: string;
  readonly callbackPort?: string;
}

function entryOf(target: string, args: readonly string[], { transport, env = [], header = [], clientId, callbackPort }: AddOptions): Json {
  const type = transport ?? (/^https?:\/\//i.test(target) ? 'http' : 'stdio');
  if (type === 'stdio') {
    if (header.length > 0) throw new UsageError('--header is for servers with an address: a command takes -e KEY=value.');
    if (clientId !== undefined || callbackPort !== undefined) throw new UsageError('--client-id and --callback-port are for servers with an address.');
    return { command: target, args, ...(env.length > 0 && { env: pairs(env, /^([A-Za-z_]\w*)=([\s\S]*)$/, '-e', 'KEY=value') }) };
  }
  if (env.length > 0) throw new UsageError('-e is for servers that are commands: one with an address takes -H "Name: value".');
  if (args.length > 0) throw new UsageError(`behind the address nothing follows, here is ${oneLine(args.join(' '), 60)}.`);
  const port = callbackPort === undefined ? undefined : Number(callbackPort);
  const oauth = { ...(clientId !== undefined && { clientId }), ...(port !== undefined && { callbackPort: port }) };
  return { type, url: target, ...(header.length > 0 && { headers: pairs(header, /^\s*([^:\s]+)\s*:\s*([\s\S]*?)\s*$/, '-H', '"Name: value"') }), ...(Object.keys(oauth).length > 0 && { oauth }) };
}

function pairs(texts: readonly string[], form: RegExp, flag: string, wanted: string): Json {
  return Object.fromEntries(texts.map((text): [string, string] => {
    const [, name, value = ''] = form.exec(text) ?? [];
    // What stands there may be secret: it is not repeated.
    if (name === undefined) throw new UsageError(`${flag} takes ${wanted}.`);
    return [name, value];
  }));
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new UsageError('what is to be added is no JSON. It looks like \'{"command":"npx","args":["-y","pkg"]}\'.');
  }
}
