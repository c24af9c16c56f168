import { nothing } from '../support/nothing.ts';
import { commands } from '#commands/list.ts';
import { createPins } from '#attachments/pins.ts';
import { factsOf, knownModels } from '#accounting/models.ts';
import { createDocuments } from '#documents/load.ts';
import type { Card } from '#domain/card.ts';
import type { CommandContext, Effect } from '#domain/command.ts';
import type { Session, SessionSummary } from '#domain/session.ts';
import { createPaths } from '#gate/paths.ts';
import { cardText } from '#headless/card-text.ts';
import { LogSession } from '#session/session.ts';
import { drawCard } from '#ui/card-lines.ts';
import { memoryBlobs } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';
import { plainPen } from '../ui/view/pens.ts';

export interface Desk {
  readonly session: Session;
  readonly context: CommandContext;
  /** Runs a command line without its slash, and keeps what it appends. */
  run(line: string): Promise<Effect>;
  /** Runs a line that must be refused, and gives the message. */
  refused(line: string): Promise<string>;
  /** Runs a line that must show a card, and gives the card as plain text. */
  shown(line: string): Promise<string>;
  complete(line: string): Promise<readonly string[]>;
}

export const summary = (id: string): SessionSummary => ({ id, file: `/s/${id}.jsonl`, cwd: '/w', firstWords: 'hello', modifiedMs: 0, bytes: 10 });

/** A real session over a real folder, and a context made by hand around it. */
export function desk(files: Readonly<Record<string, string>> = {}, more: Partial<CommandContext> = {}): Desk {
  const cwd = tempFolder(files);
  const session = new LogSession('0f000000-aaaa');
  const blobs = memoryBlobs();
  const pins = createPins({
    paths: createPaths({ roots: () => [cwd], home: '/nowhere', denyRead: () => [] }), documents: createDocuments({ blobs, capabilities: () => ({ images: true, pdf: true }) }),
    blobs, cwd, log: () => session.log, files: () => Promise.resolve(Object.keys(files)), run: () => Promise.resolve({ output: 'ran\n', exitCode: 0 }),
  });
  const context: CommandContext = {
    session, commands, surface: 'screen', cwd, model: factsOf('claude-opus-5-5'), mode: 'default', keys: [{ keys: 'Ctrl-C', what: 'interrupt' }],
    context: () => Promise.resolve({ rows: [], estimated: 0, measured: undefined, error: undefined, window: 1_000_000, limit: 200_000, model: 'claude-opus-5-5' }),
    cost: () => ({ usd: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, perModel: [] }),
    models: knownModels,
    sessions: () => Promise.resolve([]),
    lookUpPin: (text, options) => pins.lookUp(text, options),
    pins: async () => (await pins.views(new AbortController().signal)).map((view) => ({ ...view, tokens: Math.ceil((view.text ?? '').length / 4) })),
    skills: () => Promise.resolve([]), skillNotes: () => [], agents: () => Promise.resolve([]), team: () => ({ working: [], members: [], problems: [] }), tasks: () => Promise.resolve([]), waiting: () => [],
    memory: () => Promise.resolve({ files: [], nested: [], waiting: [], notes: [], places: [] }), styles: () => Promise.resolve({ all: [], now: undefined }), plan: () => Promise.resolve(undefined), mcp: () => ({ servers: () => [], log: () => [] }), hooks: () => Promise.resolve({ hooks: [], problems: [] }), languages: () => ({ servers: () => Promise.resolve([]), log: () => [] }), editors: () => Promise.resolve({ found: [], connected: undefined, selection: undefined, openFile: undefined, showsDiffs: true }),
    usage: nothing.usage,
    settings: () => ({ rows: [], files: { user: '/home/me/settings.json', project: '/w/.pinion/settings.json', local: '/w/.pinion/settings.local.json' }, change: () => ({ problem: 'there are no settings here.' }) }),
    statusLine: () => Promise.resolve({ setting: undefined, input: {} }), importers: () => [{ id: 'claude', label: 'Claude Code' }, { id: 'codex', label: 'Codex' }],
    ...more,
  };
  const parts = (line: string) => {
    const [, name = '', args = ''] = /^(\S*)\s?([\s\S]*)$/.exec(line) ?? [];
    const command = commands.find(({ id, aliases }) => id === name || aliases?.includes(name));
    if (command === undefined) throw new Error(`no command ${name}`);
    return { command, args };
  };
  const run = async (line: string): Promise<Effect> => {
    const { command, args } = parts(line);
    const effect = await command.run(args, context);
    if (effect.type === 'append') for (const entry of effect.entries) session.append(entry);
    return effect;
  };
  return {
    session, context, run,
    async refused(line) {
      const effect = await run(line);
      if (effect.type !== 'refuse') throw new Error(`not refused: ${JSON.stringify(effect)}`);
      return effect.message;
    },
    async shown(line) {
      const effect = await run(line);
      if (effect.type !== 'show' && effect.type !== 'append') throw new Error(`no card: ${JSON.stringify(effect)}`);
      return cardText(effect.card);
    },
    async complete(line) {
      const { command, args } = parts(line);
      return await command.complete?.(args, context) ?? [];
    },
  };
}

/** The card as the screen draws it, whole, without colours. */
export function drawn(card: Card, columns: number): readonly string[] {
  return drawCard(card, plainPen(columns)).map((line) => line.trimEnd());
}
