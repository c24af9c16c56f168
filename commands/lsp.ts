import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import { bothEnds, count } from '#lib/text.ts';
import type { Card } from '#domain/card.ts';
import { defineCommand, type Effect } from '#domain/command.ts';
import type { LanguageServer } from '#domain/languages.ts';

/** Language servers. The model has the tool LSP for what they know. */
export default defineCommand({
  id: 'lsp',
  group: 'At work',
  summary: 'Language servers: which there are, and how they do; with a name: its log',
  usage: '[<server> | restart [<server>] | trust]',
  anytime: true,
  async complete(args, { languages }) {
    const names = [...new Set((await languages().servers().catch(() => [])).map(({ name }) => name))];
    if (/^\s*restart\s/.test(args)) return names;
    return /^\s*\S*$/.test(args) ? [...names, 'restart', 'trust'] : [];
  },
  async run(args, { languages }) {
    const [word = '', name, ...rest] = args.trim().split(/\s+/);
    const all = await languages().servers();
    if (rest.length > 0) return refuse('It is /lsp, /lsp <server>, /lsp restart [<server>] or /lsp trust.');
    if (word === '') return { type: 'show', card: listCard(all) };
    if (word === 'trust' && name === undefined) return { type: 'languages', what: 'trust' };
    const wanted = word === 'restart' ? name : word;
    const found = all.find((one) => one.name === wanted);
    if (wanted !== undefined && found === undefined) return refuse(missing(wanted, all));
    if (word === 'restart') return { type: 'languages', what: 'restart', ...(name !== undefined && { server: name }) };
    if (name !== undefined || found === undefined) return refuse('It is /lsp, /lsp <server>, /lsp restart [<server>] or /lsp trust.');
    return { type: 'show', card: serverCard(all.filter((one) => one.name === wanted), languages().log(found.name)) };
  },
});

function refuse(message: string): Effect {
  return { type: 'refuse', message };
}

function missing(name: string, all: readonly LanguageServer[]): string {
  const near = nearest(name, all.map((one) => one.name));
  return `There is no language server ${oneLine(name, 40)}. ${near === undefined ? (all.length === 0 ? 'None was found for this project.' : `There are ${[...new Set(all.map((one) => one.name))].join(', ')}.`) : `Did you mean ${near}?`}`;
}

const STATES: Readonly<Record<LanguageServer['state'], string>> = {
  off: 'switched off in the settings', untrusted: 'waits until you trust this folder (/lsp trust)', idle: 'starts when it is needed', starting: 'is starting', ready: 'at work', failed: 'failed',
};

function stateOf({ state, detail, files }: LanguageServer): string {
  return `${STATES[state]}${state === 'ready' ? `, ${count(files, 'open file')}` : ''}${detail === undefined ? '' : `: ${oneLine(detail, 200)}`}`;
}

function listCard(all: readonly LanguageServer[]): Card {
  if (all.length === 0) return { title: 'Language servers', detail: 'none was found', body: [{ type: 'text', text: 'A server of the project (node_modules/.bin) or one that is installed is found by itself; others are named in the settings (languageServers).' }] };
  const working = all.filter(({ state }) => state === 'ready' || state === 'starting').length;
  return {
    title: 'Language servers', detail: `${working} at work, ${all.length - working} not`,
    body: [{ type: 'list', items: all.map((one) => `${oneLine(one.name, 40)}${one.extensions.length === 0 ? '' : ` (${one.extensions.join(' ')})`}: ${stateOf(one)}`) }],
  };
}

const MOST_LOGGED = 20;

function serverCard(servers: readonly LanguageServer[], log: readonly string[]): Card {
  const [first] = servers;
  const facts = servers.flatMap((one) => [stateOf(one)]);
  return {
    title: `Language server ${oneLine(first?.name ?? '', 40)}`, ...(servers.some(({ state }) => state === 'failed') && { tone: 'bad' as const }), detail: facts[0] ?? '',
    body: [
      { type: 'list', items: [...(first === undefined || first.command === '' ? [] : [`Command: ${bothEnds(first.command, 300)}`, `From: ${FROM[first.from]}`, `Files: ${first.extensions.join(' ')}`]), ...facts.slice(1)] },
      ...(log.length === 0 ? [{ type: 'text' as const, text: 'Its log is empty.' }] : [{ type: 'code' as const, text: log.slice(-MOST_LOGGED).join('\n') }]),
    ],
  };
}

const FROM: Readonly<Record<LanguageServer['from'], string>> = { settings: 'the settings', project: 'the project\'s own programs', machine: 'this machine' };
