import { basename, isAbsolute } from 'node:path';
import type { Json } from '#lib/brand.ts';
import type { EntryBody } from '#domain/entry.ts';
import type { HookSaid } from '#domain/hooks.ts';
import type { Session } from '#domain/session.ts';
import type { Call, ToolResult } from '#domain/tool.ts';
import { textOf } from '#hooks/answer.ts';
import { reasonLine, type Verdicts } from '#hooks/combine.ts';
import { type FileWatch, watchFiles } from '#hooks/watch.ts';
import { type HookDesk, watchedNames } from './desk.ts';
import { responseOf } from './fields.ts';
import type { EndedBy, Opening, StartedBy } from './wing.ts';

const NEVER = new AbortController().signal;
/** A person does not wait longer for the hooks of a session's start; what they say later is told later. */
const START_MS = 10_000;

/** What happens to a session as a whole. */
export function createSessionHooks(desk: HookDesk) {
  const openings = new WeakMap<Session, { readonly waiting: Promise<void>; late: EntryBody[]; firstPrompt?: string }>();
  const watching = createWatching(desk);
  const started = async (how: StartedBy, session: Session, signal: AbortSignal): Promise<Verdicts> => {
    const said = await desk.hear('SessionStart', session, { names: [how], fields: { source: how, ...(how !== 'clear' && { model: desk.options.desk.id() }) } }, signal);
    watching.follow(session, said);
    return said;
  };
  return {
    begin(how: StartedBy, session: Session): void {
      if (how !== 'compact') watching.follow(session, undefined);
      const opening: { waiting: Promise<void>; late: EntryBody[]; firstPrompt?: string } = { waiting: Promise.resolve(), late: [] };
      opening.waiting = started(how, session, NEVER).then((said) => {
        opening.late.push(...desk.deliver(session, said.entries));
        const first = said.answers.map(({ more }) => textOf(more['initialUserMessage'])).find((text) => text !== undefined);
        if (first !== undefined && desk.options.args.print) opening.firstPrompt = first;
      });
      openings.set(session, opening);
    },
    async ready(session: Session, signal: AbortSignal): Promise<Opening> {
      const opening = openings.get(session);
      if (opening === undefined) return { entries: [] };
      await atMost(opening.waiting, desk.options.args.print ? undefined : START_MS, signal);
      const { late, firstPrompt } = opening;
      opening.late = [];
      delete opening.firstPrompt;
      return { entries: late, ...(firstPrompt !== undefined && { firstPrompt }) };
    },
    async end(reason: EndedBy, session: Session): Promise<void> {
      const said = await desk.hear('SessionEnd', session, { names: [reason], fields: { reason } }, NEVER);
      for (const body of said.entries) if (body.type === 'notice') desk.options.onNotice(body.text);
    },
    async beforeCompact(trigger: 'manual' | 'auto', keep: string, session: Session, signal: AbortSignal): Promise<HookSaid> {
      const said = await desk.hear('PreCompact', session, { names: [trigger], fields: { trigger, custom_instructions: keep } }, signal);
      const stop = said.stop ?? (said.blocks.length > 0 ? `The conversation is not compacted: ${reasonLine(said)}` : undefined);
      return { entries: said.entries, ...(stop !== undefined && { stop }) };
    },
    async afterCompact(trigger: 'manual' | 'auto', summary: string, session: Session, signal: AbortSignal): Promise<HookSaid> {
      const after = await desk.hear('PostCompact', session, { names: [trigger], fields: { trigger, compact_summary: summary } }, signal);
      const anew = await started('compact', session, signal);
      return { entries: [...after.entries, ...anew.entries] };
    },
    async afterCalls(calls: readonly { readonly call: Call; readonly result: ToolResult }[], session: Session, signal: AbortSignal): Promise<HookSaid> {
      const said = await desk.hear('PostToolBatch', session, { fields: { tool_calls: calls.map(({ call, result }) => ({
        tool_name: call.tool, tool_input: call.input, tool_use_id: call.id, tool_response: batchText(call, result),
      })) } }, signal);
      const stop = said.stop ?? (said.blocks.length > 0 ? reasonLine(said) : undefined);
      return { entries: said.entries, ...(stop !== undefined && { stop }) };
    },
    /** Files that are looked after, after an event that may name others. */
    follow: watching.follow,
    close: () => { watching.close(); },
  };
}

function batchText(call: Call, result: ToolResult): Json {
  const response = responseOf(call, result);
  return call.tool.startsWith('mcp__') ? response : result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** Waits no longer than so many milliseconds, and not after an abort. */
async function atMost(waiting: Promise<void>, ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const enough = new Promise<void>((resolve) => {
    stop = resolve;
    if (ms !== undefined) timer = setTimeout(resolve, ms);
  });
  signal.addEventListener('abort', stop, { once: true });
  await Promise.race([waiting, enough]);
  signal.removeEventListener('abort', stop);
  clearTimeout(timer);
}

/** Looks after the files that matchers of `FileChanged` name, and those that hooks name themselves. */
function createWatching(desk: HookDesk) {
  let watch: Promise<FileWatch> | undefined;
  let named: readonly string[] = [];
  let closed = false;
  const changed = async (session: Session, path: string, event: string): Promise<void> => {
    if (closed) return;
    const said = await desk.hear('FileChanged', session, { names: [basename(path)], fields: { file_path: path, event } }, NEVER);
    follow(session, said);
    desk.deliver(session, said.entries);
  };
  const follow = (session: Session, said: Verdicts | undefined): void => {
    if (closed) return;
    const lists = said?.answers.map(({ more }) => more['watchPaths']).filter((list) => Array.isArray(list)) ?? [];
    if (lists.length > 0) named = lists.flat().filter((path): path is string => typeof path === 'string' && isAbsolute(path));
    if (!desk.listens('FileChanged', session)) return;
    const paths = [...new Set([...watchedNames(desk.all(session), desk.options.tools().cwd(session)), ...named])];
    watch ??= watchFiles((path, event) => { void changed(session, path, event); }, desk.options.onNotice);
    void watch.then((one) => { one.follow(paths); });
  };
  return {
    follow,
    close(): void {
      closed = true;
      void watch?.then((one) => one.close());
    },
  };
}
