import { basename } from 'node:path';
import type { PinView } from '#domain/world.ts';
import type { Entry } from '#domain/entry.ts';
import { attachmentsOf, tasksOf } from '#domain/folds.ts';
import { DEMO_MODEL } from '#domain/model.ts';
import type { Session } from '#domain/session.ts';
import { inViewAsInstructions } from '#attachments/words.ts';
import { cacheShareOf, costOf } from '#accounting/cost.ts';
import { project } from '#loop/project.ts';
import type { Status } from '#ui/contract.ts';
import type { Conversation } from './conversation.ts';
import type { House } from './house.ts';
import { branchNow } from './place.ts';
import { nextRequest } from './wire-model.ts';

/** What the status bar shows now, out of the one account of the request. */
export async function statusOf(house: House, conversation: Conversation): Promise<Status> {
  const { desk, place } = house;
  const { session } = conversation;
  const request = nextRequest(session.log, house.head(), house.blobs);
  // The tokenizer is large: it is loaded when something wants its numbers, and from then on all screens show them.
  const { tokens, estimated } = desk.counted() ? await desk.meter.estimate(request, session.log) : desk.meter.glance(request, session.log);
  const views = await pinsOf(house, session);
  const weights = views.length === 0 ? [] : await desk.meter.weigh(views.map(({ text }) => text ?? ''));
  return {
    model: desk.id() === DEMO_MODEL ? 'demo' : desk.facts().label, demo: desk.id() === DEMO_MODEL, mode: conversation.mode(),
    branch: branchNow(place), directory: place.cwd.replace(place.userHome, '~'),
    used: tokens, limit: desk.meter.limit(), estimated,
    pins: views.length, pinTokens: weights.reduce((sum, weight) => sum + weight, 0),
    ...await editorOf(house),
    cacheShare: cacheShareOf(session.log), usd: costOf(session.log).usd, budgetUsd: house.purses.budgetUsd(session), tasks: tasksOf(session.log).filter(({ state }) => state === 'running').length, unsaved: conversation.unsaved(),
  };
}

/** Milliseconds that the bar waits for an editor. */
const EDITOR_MS = 700;

/** What goes along from the editor with the next prompt: nothing of a kind that is switched off. */
async function editorOf({ editor, configuration }: House): Promise<Pick<Status, 'editor'>> {
  const name = editor.name();
  if (name === undefined) return {};
  const off = configuration.settings().remindersOff;
  const signal = AbortSignal.timeout(EDITOR_MS);
  const selection = off.includes('ide_selection') ? undefined : await editor.selection(signal).catch(() => undefined);
  if (selection !== undefined) return { editor: { name, lines: selection.toLine - selection.fromLine + 1, file: basename(selection.path) } };
  const open = off.includes('ide_opened_file') ? undefined : await editor.openFile(signal).catch(() => undefined);
  return { editor: { name, ...(open !== undefined && { file: basename(open.path) }) } };
}

async function pinsOf(house: House, session: Session): Promise<readonly PinView[]> {
  const some = attachmentsOf(session.log).some(({ kind }) => kind !== 'todo');
  return some ? house.reminders.pins(session).views(new AbortController().signal) : [];
}

/**
 * What a compaction kept, byte for byte: sources are asked what they will say with the next prompt, and each pin's text is
 * looked for in it. Nothing is written.
 */
export async function afterCompaction(house: House, session: Session, signal: AbortSignal) {
  const views = await pinsOf(house, session);
  const { reminders } = await house.reminders.reminders.collect('prompt', session, signal);
  const said = reminders.flatMap(({ parts }) => parts).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const kept = views.filter(({ text, media, label }) => (text === undefined ? media.length > 0 : said.includes(text) || said.includes(inViewAsInstructions(label)))).length;
  const next = [...session.log, ...reminders.map((body, i) => ({ ...body, id: `next-${i}`, at: '' }) as unknown as Entry)];
  const { tokens } = await house.desk.meter.estimate(project(next, house.blobs), next);
  return { kept, of: views.length, tokensAfter: tokens };
}
