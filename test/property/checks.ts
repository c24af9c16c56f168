import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { TODO_LIST_ID } from '#domain/attachment.ts';
import type { Entry, EntryOf } from '#domain/entry.ts';
import { attachmentsOf, conversationOf, todosOf, undeliveredOf } from '#domain/folds.ts';
import { knownNow } from '#attachments/known.ts';
import { ledgerOf } from '#attachments/ledger.ts';
import { sources } from '#attachments/sources/list.ts';
import { project } from '#loop/project.ts';
import { BREAKS } from '../support/logs.ts';
import { historyFaults, prefixFaults } from '../support/messages-server/history.ts';
import type { Recorded } from '../support/messages-server/server.ts';
import { blocksOf, list, obj, type Obj, text } from '../support/messages-server/shape.ts';
import { mindOf } from '../support/model-mind.ts';
import { wordsOf } from '../support/product.ts';
import { NAMES } from './acts.ts';
import { isSub, isSummary, type Life } from './life.ts';

const REMINDER = /^<system-reminder>\n[\s\S]*\n<\/system-reminder>$/;
/** Notes of the loop, which are no reminders of a moment. */
const NOTE = /The user interrupted your reply before it was finished\.|The beginning of the conversation is not shown\./;

/** Of each moment there is one block of reminders at most, and none is empty. */
export function blockFaults(body: Obj): readonly string[] {
  return list(body['messages']).map(obj).flatMap((message, at) => {
    if (message['role'] !== 'user') return [];
    const blocks = blocksOf(message['content']);
    const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => blocksOf(block['content']).map((part) => text(part['text'])).filter((words) => REMINDER.test(words)));
    const beside = blocks.map((block) => text(block['text'])).map((words) => (REMINDER.test(words) && !NOTE.test(words) ? 'reminder' : 'other'));
    const all = [...results.flat(), ...blocks.map((block) => text(block['text']))];
    return [
      ...(results.flat().length > 1 ? [`messages.${at}: ${results.flat().length} blocks of reminders in results`] : []),
      ...(beside.some((kind, i) => kind === 'reminder' && beside[i - 1] === 'reminder') ? [`messages.${at}: blocks of reminders side by side`] : []),
      ...(all.some((words) => words.replace(/<\/?system-reminder>/g, '').trim() === '' && words !== '') ? [`messages.${at}: an empty block of reminders`] : []),
    ];
  });
}

type Reminder = EntryOf<'reminder'>;

/** Sources that say a state once. What the model does itself in between may bring an old state back, and with it the same words. */
const ONCE = new Set(sources.filter(({ cadence }) => cadence === 'once' || cadence === 'onChange').map(({ id }) => id));

/** Reminders of the conversation that say again what the same source said last, though nothing else was said or done meanwhile. */
export function twiceTold(log: readonly Entry[]): readonly string[] {
  const last = new Map<string, string>();
  const faults: string[] = [];
  const excluded = new Set(log.flatMap((entry) => (entry.type === 'exclude' ? [entry.target] : [])));
  for (const entry of conversationOf(log)) {
    if (isDeed(entry)) last.clear();
    if (entry.type !== 'reminder' || !ONCE.has(entry.source) || excluded.has(entry.id)) continue;
    const words = wordsIn(entry);
    if (words !== '' && last.get(entry.source) === words) faults.push(`${entry.source} says again: ${words}`);
    last.set(entry.source, entry.form === 'gone' ? '' : words);
  }
  return faults;
}

function isDeed(entry: Entry): boolean {
  if (entry.type === 'attach') return entry.by === 'model' && entry.attachment.id === TODO_LIST_ID;
  return entry.type === 'toolResult' && (entry.result.files ?? []).length > 0;
}

function wordsIn({ parts }: Reminder): string {
  return parts.map((part) => (part.type === 'text' ? part.text : part.name)).join('\n');
}

/** Where two requests in a row came from one log, and nothing between them may change what was sent. */
function pairs({ sent, server }: Life): readonly (readonly [Recorded, Recorded])[] {
  const ofLead = sent.slice(1).flatMap((now, at) => {
    const last = sent[at];
    if (last === undefined || now.length < last.length || isSummary(last.request)) return [];
    return now.log.slice(last.length, now.length).some(({ type }) => BREAKS.has(type)) ? [] : [[last.request, now.request] as const];
  });
  const subs = server.requests.filter((request) => isSub(request) && !isSummary(request));
  const jobOf = (request: Recorded): string => /job \d+/.exec(wordsOf(request))?.[0] ?? '';
  const ofSubs = [...new Set(subs.map(jobOf))].map((job) => subs.filter((request) => jobOf(request) === job));
  return [...ofLead, ...ofSubs.flatMap((all) => all.slice(1).map((now, at) => [all[at] ?? now, now] as const))];
}

/** What holds at the end of every history. */
export function check(life: Life): void {
  const { server, dweller, home } = life;
  expect(server.all.flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
  expect(server.requests.flatMap(({ body }) => [...historyFaults(body), ...blockFaults(body)])).toEqual([]);
  for (const [last, now] of pairs(life)) {
    expect(prefixFaults(last.body, now.body)).toEqual([]);
    const cached = (last.usage?.cache_read_input_tokens ?? 0) + (last.usage?.cache_creation_input_tokens ?? 0);
    expect(now.usage?.cache_read_input_tokens).toBeGreaterThanOrEqual(cached);
  }
  const { log } = dweller;
  expect(log.filter(({ type }) => type === 'head')).toHaveLength(1);
  expect(undeliveredOf(log)).toEqual([]);
  const again = JSON.parse(JSON.stringify(log)) as Entry[];
  expect(project(again, dweller.house.blobs)).toEqual(project(log, dweller.house.blobs));
  expect(ledgerOf(again)).toEqual(ledgerOf(log));
  expect(knownNow(again)).toEqual(knownNow(log));
  expect(twiceTold(log)).toEqual([]);
  for (const [id, words] of life.userTodos) expect(todosOf(log).find((item) => item.id === id)).toMatchObject({ text: words, by: 'user' });
  expect(dweller.faults().filter((fault) => /no answer|not be looked|reminders/.test(fault))).toEqual([]);
  if (hasGaps(log)) return;
  for (const { body } of server.requests) expect(mindOf(body, home.cwd).faults).toEqual([]);
  expectTrue(life);
}

/** Whether the user left something out of the conversation: what was told on top of it hangs in the air. */
export function hasGaps(log: readonly Entry[]): boolean {
  return log.some(({ type }) => type === 'exclude');
}

/** What the model knows of files by the last request is how they are on disk, and it knows what is pinned and what was mentioned. */
export function expectTrue(life: Life): void {
  const { dweller: { log }, home } = life;
  const mind = mindOf(life.sent.at(-1)?.request.body ?? {}, home.cwd);
  expect(forgotten(life, mind.files)).toEqual([]);
  expect(pinned(life).filter((name) => !mind.files.has(name))).toEqual([]);
  for (const [path, knowledge] of mind.files) {
    const [, name = '', from, to] = /^([^#]+)(?:#(\d+)-(\d+))?$/.exec(path) ?? [];
    const file = join(home.cwd, name);
    if (knowledge === 'changed' || !NAMES.some((one) => one === name) || !stillTold(path, log)) continue;
    const now = existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : 'gone';
    // Of an instruction file that says nothing any more is told that it is gone or empty.
    if (now === '' && knowledge === 'gone' && name.endsWith('AGENTS.md')) continue;
    const part = from === undefined || now === 'gone' ? now : now.split('\n').slice(Number(from) - 1, Number(to)).join('\n');
    expect([path, knowledge.trimEnd()]).toEqual([path, part]);
  }
}

/** Names of the files that are pinned as a whole. */
function pinned({ dweller: { log }, home }: Life): readonly string[] {
  return attachmentsOf(log).flatMap((at) => (at.kind === 'file' && at.target.type === 'file' && at.target.lines === undefined ? [at.target.path.replace(`${home.cwd}/`, '')] : []));
}

/** Files that a prompt of the conversation mentions, and that the model was neither given nor told why not. */
function forgotten(life: Life, known: ReadonlyMap<string, unknown>): readonly string[] {
  const words = wordsOf(life.sent.at(-1)?.request ?? { method: '', path: '', headers: {}, raw: '', body: {} });
  const mentioned = conversationOf(life.dweller.log).flatMap((entry) => (entry.type === 'prompt' && entry.skill === undefined ? [...entry.text.matchAll(/@([\w/.]+)/g)].map(([, name = '']) => name) : []));
  return mentioned.filter((name) => NAMES.some((one) => one === name) && !known.has(name) && !words.includes(`${name}: `));
}

/** Of lines that are no longer pinned nothing is told any more. */
function stillTold(path: string, log: readonly Entry[]): boolean {
  return !path.includes('#') || attachmentsOf(log).some(({ id }) => id === `file:${path}`);
}
