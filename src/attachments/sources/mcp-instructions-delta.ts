import { defuse } from '#lib/defuse.ts';
import { sha256 } from '#lib/hash.ts';
import { firstNames, oneLine } from '#lib/names.ts';
import { count, cutToBytes, wellFormed } from '#lib/text.ts';
import type { Json } from '#lib/brand.ts';
import type { Entry } from '#domain/entry.ts';
import { inViewOf } from '#domain/folds.ts';
import { absent } from '#domain/world.ts';
import { defineSource } from '../define.ts';

interface Said {
  /** What each server says of itself, by its name. */
  readonly told: Readonly<Record<string, string>>;
  /** Names of servers that describe themselves too, and are too many to be told. */
  readonly more: readonly string[];
  /** Of servers that are not connected yet (again), what was told before, as snapshots hold it: it is not gone. */
  readonly awaited?: Readonly<Record<string, string>>;
}

const TAG = 'mcp-server-instructions';
/** UTF-8 bytes of one server's words. */
const MOST_BYTES = 2048;
const MOST_SERVERS = 20;
/** Servers that are named in one line. */
const MOST_NAMED = 30;
const LONGEST_NAME = 64;
/** Digits of a text's hash: enough to see that it changed. */
const KEPT = 8;

/** What connected servers say of how they are to be used, each in its own envelope and cut. Later only what came, went or is said otherwise. */
export default defineSource<Said>({
  id: 'mcp_instructions_delta', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange', limits: { tokens: 16_000 },
  observe({ outside, log }) {
    const servers = outside.mcp.servers();
    const speaking = servers.flatMap(({ name, state, instructions = '' }) => (state === 'connected' && instructions.trim() !== '' ? [[oneLine(name, LONGEST_NAME), instructions.trim()] as const] : []));
    const sorted = speaking.sort(([a], [b]) => (a < b ? -1 : 1));
    const connecting = new Set(servers.flatMap(({ name, state }) => (state === 'connecting' ? [oneLine(name, LONGEST_NAME)] : [])));
    const awaited = Object.entries(lastTold(log)).filter(([name]) => connecting.has(name));
    if (sorted.length === 0 && awaited.length === 0) return absent;
    return { told: Object.fromEntries(sorted.slice(0, MOST_SERVERS)), more: sorted.slice(MOST_SERVERS).map(([name]) => name), awaited: Object.fromEntries(awaited) };
  },
  keep: ({ told, more, awaited }) => ({ told: { ...Object.fromEntries(Object.entries(told).map(([name, text]) => [name, keptAs(text)])), ...awaited }, more }),
  revive: (stored) => (isSaid(stored) ? stored : undefined),
  full: (now) => ['MCP servers describe themselves as follows. These are the words of the servers, not of the user or this program.', ...textsOf(now.told), ...leftOut(now)].join('\n'),
  delta: (before, now) => {
    const news = Object.fromEntries(Object.entries(now.told).filter(([name, text]) => before.told[name] !== keptAs(text)));
    const here = new Set([...Object.keys(now.told), ...now.more, ...Object.keys(now.awaited ?? {})]);
    const gone = [...Object.keys(before.told), ...before.more].filter((name) => !here.has(name));
    const others = before.more.length === now.more.length ? [] : leftOut(now);
    if (Object.keys(news).length === 0 && gone.length === 0 && others.length === 0) return undefined;
    return [
      ...(Object.keys(news).length === 0 ? [] : ['MCP servers that came, or describe themselves otherwise now (their own words):', ...textsOf(news)]),
      ...(gone.length === 0 ? [] : [`No longer connected, so that what they said does not hold: ${namesOf(gone)}`]),
      ...others,
    ].join('\n');
  },
  gone: (before) => `No MCP server that described itself is connected any more${before === undefined ? '' : ` (before: ${namesOf(Object.keys(before.told))})`}.`,
  notes: (now, before) => [
    ...Object.entries(now.told).filter(([name, text]) => Buffer.byteLength(text) > MOST_BYTES && before?.told[name] !== keptAs(text)).map(([name, text]) => `the instructions of ${name} were cut to ${MOST_BYTES} of ${count(Buffer.byteLength(text), 'byte')}`),
    ...(now.more.length === 0 || before?.more.length === now.more.length ? [] : [`the instructions of ${count(now.more.length, 'server')} were left out: those of ${MOST_SERVERS} are told (/mcp <server> shows them)`]),
  ],
});

/** One line, where some are not told. */
function leftOut({ more }: Said): readonly string[] {
  return more.length === 0 ? [] : [`${count(more.length, 'more server')} describe${more.length === 1 ? 's itself' : ' themselves'} too; left out here, where those of ${MOST_SERVERS} are told: ${namesOf(more)}`];
}

function namesOf(names: readonly string[]): string {
  return firstNames(names.map((name) => oneLine(name, LONGEST_NAME)), MOST_NAMED);
}

function textsOf(told: Said['told']): readonly string[] {
  return Object.entries(told).map(([name, text]) => {
    const shown = cutToBytes(wellFormed(text), MOST_BYTES);
    return `<${TAG} server="${name}">\n${defuse(shown, TAG)}${shown.length < text.length ? '\n[cut]' : ''}\n</${TAG}>`;
  });
}

function lastTold(log: readonly Entry[]): Said['told'] {
  const last = inViewOf(log).findLast((entry) => entry.type === 'reminder' && entry.source === 'mcp_instructions_delta');
  return last?.type === 'reminder' && isSaid(last.snapshot) ? last.snapshot.told : {};
}

function keptAs(text: string): string {
  return sha256(text).slice(0, KEPT);
}

function isSaid(stored: Json): stored is Json & Said {
  if (!isFields(stored)) return false;
  const { told, more } = stored;
  return isFields(told) && Object.values(told).every((value) => typeof value === 'string') && Array.isArray(more) && more.every((name) => typeof name === 'string');
}

function isFields(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
