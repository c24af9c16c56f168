import { resolve } from 'node:path';
import type { PathPort } from '#domain/documents.ts';
import type { EditorList, EditorView, FoundEditor } from '#domain/editor.ts';
import type { Asker } from '#domain/ports.ts';
import { messageOf } from '#lib/errors.ts';
import { type Checks, createChecks } from './checks.ts';
import { type DiffDoors, inBothPlaces } from './diffs.ts';
import { EditorLink, type Wish } from './link.ts';
import { createSelection, readable } from './selection.ts';

export interface IdeOptions extends Omit<DiffDoors, 'link'> {
  /** Folders in which editors lay their lock files. */
  readonly folders: readonly string[];
  /** Where the session began: absolute, real. */
  readonly cwd: string;
  readonly version: string;
  readonly paths: PathPort;
  /** Whether changes that are asked about are shown in the editor too. */
  showsDiffs(): boolean;
  /** Connection, selection or open file are others now. */
  onChange(): void;
  /** `path`: absolute, as the editor named it. Lines count from 1, both included. */
  onMention(path: string, lines: { readonly from: number; readonly to: number } | undefined): void;
}

/** The user's editor, whichever is connected. Nothing throws. */
export interface Ide extends EditorView {
  readonly checks: Checks;
  begin(wish: Wish): Promise<void>;
  list(signal: AbortSignal): Promise<EditorList>;
  /** One line: what came of it. */
  connect(port: number): Promise<{ readonly done: string } | { readonly problem: string }>;
  disconnect(): string | undefined;
  /** Shows a file (absolute) in the editor. One line: what is wrong. */
  open(path: string, signal: AbortSignal): Promise<string | undefined>;
  asker(asker: Asker): Asker;
  close(): void;
}

const OPEN_MS = 3000;

export function createIde(options: IdeOptions): Ide {
  const { folders, cwd, version, paths } = options;
  const link = new EditorLink({
    folders, cwd, version, say: (text) => { options.say(text); },
    onChange() {
      if (link.lock() === undefined) checks.forget();
      options.onChange();
    },
    onMention: ({ path, lines }, folder) => { options.onMention(resolve(folder ?? cwd, path), lines); },
    onDiagnostics: (list) => { checks.checked(list); },
  });
  const checks = createChecks(link, paths, cwd);
  const view: EditorView = {
    name: () => link.lock()?.name,
    selection: createSelection(link, paths, cwd),
    async openFile() {
      const path = link.path();
      const at = path === undefined ? undefined : await readable(path, paths, cwd);
      return at === undefined ? undefined : { path: at.real, label: at.label };
    },
    written: (log, signal) => checks.now(log, signal),
  };
  return {
    ...view, checks,
    begin: (wish) => link.begin(wish),
    async list(signal) {
      const connected = link.lock();
      const problem = link.problem();
      return {
        found: link.find().map(shown), connected: connected === undefined ? undefined : shown(connected), ...(problem !== undefined && { problem }),
        selection: await view.selection(signal), openFile: (await view.openFile(signal))?.label, showsDiffs: options.showsDiffs(),
      };
    },
    async connect(port) {
      const problem = await link.connect(port);
      const lock = link.lock();
      return problem === undefined && lock?.port === port ? { done: `Connected to ${lock.name}.` } : { problem: problem ?? 'It was given up.' };
    },
    disconnect() {
      const name = link.lock()?.name;
      link.disconnect();
      return name;
    },
    async open(path, signal) {
      try {
        const { texts, failed } = await link.call('openFile', { filePath: path, preview: false, startText: '', endText: '', selectToEndOfLine: false, makeFrontmost: true }, AbortSignal.any([signal, AbortSignal.timeout(OPEN_MS)]));
        return failed ? texts[0] ?? 'it refused' : undefined;
      } catch (error) {
        return messageOf(error);
      }
    },
    asker: (asker) => inBothPlaces(asker, {
      ...options, link: () => (link.lock() !== undefined && options.showsDiffs() ? link : undefined),
    }),
    close: () => { link.close(); },
  };
}

/** Without its token. */
function shown({ name, port, folders, fits }: FoundEditor): FoundEditor {
  return { name, port, folders, fits };
}
