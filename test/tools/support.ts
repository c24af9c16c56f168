import { nobody } from './nobody.ts';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Entry, EntryBody, EntryId } from '#domain/entry.ts';
import type { ToolOutcome } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { CallId } from '#domain/tool.ts';
import { cwdOf } from '#domain/folds.ts';
import type { ScopedRule } from '#domain/settings.ts';
import type { Json } from '#lib/brand.ts';
import { createDocuments } from '#documents/load.ts';
import { createPaths } from '#gate/paths.ts';
import { createBlobs } from '#session/blobs.ts';
import type { ToolContext } from '#tools/define.ts';
import { createShellTasks, type ShellTasks } from '#tools/shell/tasks.ts';
import { findRipgrep } from '#tools/search/ripgrep.ts';
import { tools } from '#tools/kinds/list.ts';
import { createToolbox, type Toolbox } from '#tools/toolbox.ts';
import type { Web } from '#tools/web/web.ts';

export interface House {
  /** The workspace: a folder of its own, real path. */
  readonly root: string;
  readonly session: Session;
  readonly context: ToolContext;
  /** Commands in the background, where they may run there. */
  readonly shells: ShellTasks;
  readonly toolbox: Toolbox;
  /** Runs a call and keeps its result and entries in the session, as the loop does. */
  call(tool: string, input: Json, signal?: AbortSignal): Promise<ToolOutcome>;
  /** As `call`: the result's kind and its text. */
  say(tool: string, input: Json): Promise<{ readonly kind: string; readonly text: string }>;
}

export function textOf({ result }: ToolOutcome): string {
  return result.content.map((part) => (part.type === 'text' ? part.text : `[${part.mime} ${part.width}×${part.height}]`)).join('\n');
}

export function memorySession(): Session {
  const log: Entry[] = [];
  return {
    id: 'test',
    log,
    append(body: EntryBody) {
      const entry = { ...body, id: String(log.length).padStart(6, '0') as EntryId, at: '2026-01-01T00:00:00.000Z' };
      log.push(entry);
      return entry;
    },
  };
}

export interface HouseOptions {
  readonly deny?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly ripgrep?: boolean;
  readonly images?: boolean;
  readonly shell?: string;
  readonly web?: Web;
  /** Commands may run in the background, in a folder `tasks` beside the workspace. */
  readonly background?: boolean;
}

/** A workspace with real parts, removed when the test (or what `atEnd` stands for) is over. */
export function openHouse(options: HouseOptions = {}, atEnd: (clean: () => void) => void = onTestFinished): House {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'pinion-tools-')));
  atEnd(() => { rmSync(base, { recursive: true, force: true, maxRetries: 5 }); });
  const root = realpathSync(mkdtempSync(join(base, 'work-')));
  const denyRead = (options.deny ?? []).map((rule): ScopedRule => ({ rule, root, scope: 'user' }));
  const blobs = createBlobs(join(base, 'blobs'));
  const taken = options.images ?? true;
  const env = (): Readonly<Record<string, string>> => ({ PATH: process.env['PATH'] ?? '', HOME: base, LANG: 'C.UTF-8', ...options.env });
  const cwd = (session: Session): string => cwdOf(session.log) ?? root;
  const shells = createShellTasks({ folder: join(base, 'tasks'), shell: options.shell ?? '/bin/bash', env, cwd, tell: () => undefined });
  atEnd(() => { shells.close(); });
  const context: ToolContext = {
    roots: () => [root],
    cwd,
    paths: createPaths({ roots: () => [root], home: join(base, 'home'), denyRead: () => denyRead }),
    blobs,
    documents: createDocuments({ blobs, capabilities: () => ({ images: taken, pdf: taken }) }),
    env,
    shell: options.shell ?? '/bin/bash',
    ...nobody,
    loadable: () => toolbox.deferred(),
    ...(options.web !== undefined && { web: options.web }),
    ...(options.background === true && {
      shells,
      tasks: {
        list: (held: Session) => Promise.resolve(shells.list(held)), startShell: (command: string, title: string, held: Session) => shells.start(command, title, held),
        read: (id: string, held: Session) => shells.read(id, held), stop: (id: string, held: Session) => shells.stop(id, held),
      },
    }),
    ripgrep: async () => (options.ripgrep === false ? undefined : await findRipgrep({ PATH: process.env['PATH'] ?? '' })),
  };
  const session = memorySession();
  const toolbox = createToolbox({ tools, context });
  let calls = 0;
  const call: House['call'] = async (tool, input, signal = new AbortController().signal) => {
    calls += 1;
    const callId = `toolu_${calls}` as CallId;
    const outcome = await finish(toolbox.run({ id: callId, tool, input }, session, signal));
    session.append({ type: 'toolResult', callId, tool, result: outcome.result });
    for (const entry of outcome.entries ?? []) session.append(entry);
    return outcome;
  };
  return { root, session, context, shells, toolbox, call, say: async (tool, input) => { const outcome = await call(tool, input); return { kind: outcome.result.kind, text: textOf(outcome) }; } };
}

/** Lets a run go to its end. */
export async function finish(run: AsyncGenerator<string, ToolOutcome>, onProgress: (text: string) => void = () => undefined): Promise<ToolOutcome> {
  for (;;) {
    const step = await run.next();
    if (step.done === true) return step.value;
    onProgress(step.value);
  }
}
