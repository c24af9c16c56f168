import { readFile } from 'node:fs/promises';
import type { PathLookup } from '#domain/documents.ts';
import type { ToolPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Call, ToolResult } from '#domain/tool.ts';
import { decode } from '#lib/decode.ts';
import { defuse } from '#lib/defuse.ts';
import { lineDiff } from '#lib/line-diff.ts';
import { REMINDER_TAG } from '#domain/reminder.ts';

/** The text that an editor holds of a file (absolute, real path), saved or not; undefined when it holds none or says nothing. Never throws. */
export type Buffers = (path: string, signal: AbortSignal) => Promise<string | undefined>;

interface Doors {
  readonly buffers: Buffers;
  readonly lookUp: (written: string, session: Session) => Promise<PathLookup>;
}

const MOST_PATCH = 8000;
/** Files beyond it are not compared. */
const MOST_BYTES = 2 * 1024 * 1024;

/**
 * Tools beside an editor that may hold text nobody saved. The disk stays the truth that tools work on: a Read of such a file says
 * what is different in the editor, and it is not written over, which would leave the user with two versions of their work.
 */
export function besideBuffers(tools: ToolPort, doors: Doors): ToolPort {
  return {
    ...tools,
    async *run(call, session, signal) {
      const unsaved = WRITES.has(call.tool) ? await unsavedOf(call, doors, session, signal) : undefined;
      if (unsaved !== undefined) return { result: refusal(call, unsaved.label) };
      const outcome = yield* tools.run(call, session, signal);
      if (call.tool !== 'Read' || outcome.result.kind !== 'ok') return outcome;
      const held = await unsavedOf(call, doors, session, signal);
      if (held === undefined) return outcome;
      return { ...outcome, result: { ...outcome.result, content: [...outcome.result.content, { type: 'text', text: defuse(saidOf(held), REMINDER_TAG) }] } };
    },
  };
}

const WRITES: ReadonlySet<string> = new Set(['Write', 'Edit', 'NotebookEdit']);

interface Unsaved {
  readonly label: string;
  /** Hunks from the disk to the editor; undefined where that is too much. */
  readonly patch: string | undefined;
}

async function unsavedOf(call: Call, { buffers, lookUp }: Doors, session: Session, signal: AbortSignal): Promise<Unsaved | undefined> {
  const written = pathIn(call);
  if (written === undefined || signal.aborted) return undefined;
  try {
    const { real, label, kind, denied } = await lookUp(written, session);
    if (kind !== 'file' || denied) return undefined;
    const held = await buffers(real, signal);
    if (held === undefined) return undefined;
    const bytes = await readFile(real);
    const disk = bytes.length > MOST_BYTES ? undefined : decode(bytes);
    if (disk?.kind !== 'text' || alike(disk.text) === alike(held)) return undefined;
    return { label, patch: lineDiff(alike(disk.text), alike(held))?.patch };
  } catch {
    return undefined;
  }
}

/** Line ends and the mark at the beginning are the editor's own business. */
function alike(text: string): string {
  return text.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n');
}

function pathIn({ input }: Call): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  const found = Object.entries(input).find(([name]) => name === 'file_path' || name === 'notebook_path')?.[1];
  return typeof found === 'string' && found !== '' ? found : undefined;
}

function saidOf({ patch }: Unsaved): string {
  if (patch === undefined || patch.length > MOST_PATCH) return '[The user\'s editor holds changes to this file that are not saved; they are too many to show. Above is what is on disk.]';
  return `[The user's editor holds changes to this file that are not saved. Above is what is on disk; from there to the editor's text:]\n${patch}`;
}

function refusal(call: Call, label: string): ToolResult {
  const why = `${label} has changes in the user's editor that are not saved. It was not written: the user saves or drops them first.`;
  return { kind: 'failed', content: [{ type: 'text', text: why }], card: { title: `${call.tool} ${label}`, detail: 'not saved in the editor: save it first', tone: 'bad', body: [] } };
}
