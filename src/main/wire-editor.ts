import { join, relative } from 'node:path';
import type { PathLookup } from '#domain/documents.ts';
import type { EditorList, EditorView } from '#domain/editor.ts';
import type { Asker, ToolPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Amendment, Call, CallId, ProposedFile } from '#domain/tool.ts';
import type { Json } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import { isWithin } from '#lib/within.ts';
import type { Arguments } from '#cli/arguments.ts';
import { VERSION } from '#cli/version.ts';
import type { Paths } from '#gate/paths.ts';
import type { Ide, IdeOptions } from '#ide/ide.ts';
import { mentionText } from '#mentions/quote.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';

export interface EditorOptions {
  readonly place: Place;
  readonly args: Arguments;
  readonly configuration: Configuration;
  readonly tools: () => { readonly paths: Paths; cwd(session: Session): string; propose(call: Call, session: Session): Promise<ProposedFile | undefined> };
  /** A mention that the editor wants put into the line that is being written; without it there is no such line. */
  readonly onMention?: (text: string) => void;
  readonly onNotice: (text: string) => void;
  /** One line that is good to know, and nothing is wrong. */
  readonly onHint: (text: string) => void;
  /** Another editor, selection or open file than before. */
  readonly onChange: () => void;
}

export interface EditorWing extends EditorView {
  /** Looks for an editor and connects, in the background. Never throws. */
  start(): void;
  /** Resolves when it is settled whether there is an editor. */
  ready(): Promise<void>;
  /** Shows changes that are asked about in the editor as well; whoever answers first decides. */
  asker(asker: Asker): Asker;
  /** Asks the editor what it says of a file before it is written. */
  tools(tools: ToolPort): ToolPort;
  /** A question about this call of this session is going to be asked. */
  concerns(call: Call, session: Session): void;
  /** What the user made of the call's change; given out once. */
  amended(call: Call): Amendment | undefined;
  list(): Promise<EditorList>;
  connect(port: number): ReturnType<Ide['connect']>;
  /** The name of the editor that was connected. */
  disconnect(): string | undefined;
  /** Shows a file in the editor. One line: what is wrong. */
  open(written: string, session: Session): Promise<string | undefined>;
  close(): void;
}

/** Calls that wait for an answer or to be run. */
const MOST_WAITING = 200;
const PATH_FIELDS: Readonly<Record<string, string>> = { Edit: 'file_path', Write: 'file_path', NotebookEdit: 'notebook_path' };

/** The editor that the user works in beside this program. Nothing of it is loaded before {@link EditorWing.start}. */
export function wireEditor(options: EditorOptions): EditorWing {
  const { args } = options;
  const askers = createMemory<Session>();
  const amendments = createMemory<Amendment>();
  const runs = createRuns();
  let ide: Ide | undefined;
  let loading: Promise<Ide | undefined> | undefined;
  let begun: Promise<void> = Promise.resolve();
  let closed = false;
  const load = (): Promise<Ide | undefined> => loading ??= import('#ide/ide.ts').then((wing) => {
    if (!closed) ide = wing.createIde(doorsOf(options, { askers, amendments, runs }));
    return ide;
  });
  return {
    name: () => ide?.name(),
    selection: async (signal) => ide?.selection(signal),
    openFile: async (signal) => ide?.openFile(signal),
    written: async (log, signal) => ide?.written(log, signal) ?? { diagnostics: [], answered: [] },
    start() {
      const { place: { env }, configuration } = options;
      const wish = wishOf({ env, asked: args.ide, auto: configuration.settings().autoConnectIde, composer: options.onMention !== undefined });
      if (wish !== undefined) begun = load().then((loaded) => loaded?.begin(wish)).catch(() => undefined);
    },
    ready: () => begun,
    asker: (asker) => ({ ask: (question, signal) => (ide === undefined || args.print ? asker : ide.asker(asker)).ask(question, signal) }),
    tools: (tools) => ({ ...tools, run: (call, session, signal) => measured(tools, () => ide, options, { call, session, signal, runs }) }),
    concerns: (call, session) => { askers.set(call.id, session); },
    amended: (call) => amendments.take(call.id),
    async list() {
      const loaded = await load();
      return await loaded?.list(new AbortController().signal) ?? { found: [], connected: undefined, selection: undefined, openFile: undefined, showsDiffs: false };
    },
    connect: async (port) => (await load())?.connect(port) ?? { problem: 'The program ends.' },
    disconnect: () => ide?.disconnect(),
    open: (written, session) => openIn(ide, written, session, options),
    close() {
      closed = true;
      ide?.close();
    },
  };
}

interface Calls {
  readonly askers: Memory<Session>;
  readonly amendments: Memory<Amendment>;
  readonly runs: Runs;
}

function doorsOf(options: EditorOptions, { askers, amendments, runs }: Calls): IdeOptions {
  const { place, configuration, tools } = options;
  return {
    folders: lockFolders(place), cwd: place.cwd, version: VERSION, paths: { lookUp: (written, cwd) => tools().paths.lookUp(written, cwd) },
    showsDiffs: () => configuration.settings().diffTool === 'auto',
    onChange: options.onChange, say: options.onHint,
    onMention: (path, lines) => { mention(options, path, lines); },
    async propose(call) {
      const session = askers.get(call.id);
      return session === undefined ? undefined : tools().propose(call, session);
    },
    ran: (call) => runs.ended(call.id),
    amend: (call, proposed, text) => { amendments.set(call.id, { proposed, text }); },
  };
}

interface Run {
  readonly call: Call;
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly runs: Runs;
}

/** A run of a tool that writes a file: what the editor says of it before is the measure for what it says afterwards. */
async function* measured(tools: ToolPort, ide: () => Ide | undefined, options: EditorOptions, { call, session, signal, runs }: Run): ReturnType<ToolPort['run']> {
  const path = ide()?.name() === undefined ? undefined : await writtenPath(call, session, options);
  if (path !== undefined) await ide()?.checks.before(path, signal);
  try {
    return yield* tools.run(call, session, signal);
  } finally {
    if (path !== undefined) ide()?.checks.after(path);
    runs.end(call.id);
  }
}

async function writtenPath({ tool, input }: Call, session: Session, options: EditorOptions): Promise<string | undefined> {
  const field = Object.hasOwn(PATH_FIELDS, tool) ? PATH_FIELDS[tool] : undefined;
  const written = field !== undefined && typeof input === 'object' && input !== null && field in input ? (input as Readonly<Record<string, Json>>)[field] : undefined;
  const { paths, cwd } = options.tools();
  return typeof written === 'string' && written !== '' ? (await paths.lookUp(written, cwd(session))).real : undefined;
}

async function openIn(ide: Ide | undefined, written: string, session: Session, options: EditorOptions): Promise<string | undefined> {
  const { paths, cwd } = options.tools();
  const { real, label, kind } = await paths.lookUp(written, cwd(session));
  if (kind !== 'file') return `${oneLine(label)}: there is no such file.`;
  const name = ide?.name();
  if (ide === undefined || name === undefined) return 'no editor is connected; /ide says which there are.';
  const problem = await ide.open(real, new AbortController().signal);
  return problem === undefined ? undefined : `${name} did not open ${oneLine(label)}: ${oneLine(problem)}.`;
}

/** Where editors of other shells lay their lock files, so that they need not know us. */
function lockFolders({ env, userHome }: Place): readonly string[] {
  const own = env['CLAUDE_CONFIG_DIR'];
  return [...(own === undefined || own === '' ? [] : [join(own, 'ide')]), join(userHome, '.claude', 'ide')];
}

/** Undefined where nobody is looked for: a run in which nobody writes lines has no use for an editor that it was not told of. */
export function wishOf({ env, asked, auto, composer }: { readonly env: Readonly<Record<string, string>>; readonly asked: boolean; readonly auto: boolean; /** Whether somebody writes lines. */ readonly composer: boolean }): Parameters<Ide['begin']>[0] | undefined {
  if (!composer && !asked) return undefined;
  const wanted = (env['ENABLE_IDE_INTEGRATION'] ?? '').toLowerCase();
  const port = /^\d{1,5}$/.exec(env['CLAUDE_CODE_SSE_PORT'] ?? '')?.[0];
  const off = ['0', 'false', 'no', 'off'].includes(wanted);
  return { asked, auto: auto || (wanted !== '' && !off), ...(port !== undefined && !off && { port: Number(port) }) };
}

function mention({ place, tools, onMention, onNotice }: EditorOptions, path: string, lines: Lines | undefined): void {
  const found = mentionFor(tools().paths.look(path, place.cwd), place.cwd, lines);
  if ('problem' in found) onNotice(found.problem);
  else onMention?.(found.text);
}

interface Lines {
  readonly from: number;
  readonly to: number;
}

/** What stands in the line for a place in a file that the editor mentions, or why nothing does (one line). */
export function mentionFor({ real, kind, denied }: PathLookup, cwd: string, lines: Lines | undefined): { readonly text: string } | { readonly problem: string } {
  const path = isWithin(cwd, real) ? relative(cwd, real) || '.' : real;
  const shown = kind === 'directory' && !path.endsWith('/') ? `${path}/` : path;
  if (denied) return { problem: `${oneLine(shown)} was mentioned in the editor; a deny rule keeps it from being read.` };
  const text = mentionText(shown);
  if (text === undefined) return { problem: `${oneLine(shown)} was mentioned in the editor; no line can name it.` };
  return { text: lines === undefined || kind === 'directory' ? text : `${text}#L${lines.from}${lines.to > lines.from ? `-${lines.to}` : ''}` };
}

type Runs = ReturnType<typeof createRuns>;

/** Milliseconds that one waits for a call which was allowed to have run. */
const RUN_MS = 3000;

function createRuns() {
  const waiting = createMemory<() => void>();
  return {
    end(id: CallId): void { waiting.take(id)?.(); },
    ended: (id: CallId): Promise<void> => new Promise((resolve) => {
      const timer = setTimeout(resolve, RUN_MS);
      timer.unref();
      waiting.set(id, () => {
        clearTimeout(timer);
        resolve();
      });
    }),
  };
}

type Memory<T> = ReturnType<typeof createMemory<T>>;

/** What is known of calls, by their ids; the oldest are forgotten. */
function createMemory<T>() {
  const known = new Map<CallId, T>();
  return {
    get: (id: CallId) => known.get(id),
    set(id: CallId, value: T): void {
      known.set(id, value);
      for (const old of known.keys()) if (known.size > MOST_WAITING) known.delete(old);
    },
    take(id: CallId): T | undefined {
      const value = known.get(id);
      known.delete(id);
      return value;
    },
  };
}
