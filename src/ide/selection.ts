import { readFile, stat } from 'node:fs/promises';
import type { PathPort } from '#domain/documents.ts';
import type { Selection } from '#domain/editor.ts';
import { decode } from '#lib/decode.ts';
import { fsPath } from '#lib/names.ts';
import type { EditorLink } from './link.ts';
import type { Marked } from './messages.ts';

/** Larger files are not compared: the editor is asked. */
const MOST_BYTES = 8n * 1024n * 1024n;
const ASK_MS = 500;

/**
 * What is marked now, as far as it is still true: so it stands on disk in these lines, or else the editor, asked again, says the
 * same. Nothing of files outside of the workspace or that a rule keeps from being read.
 */
export function createSelection(link: EditorLink, paths: PathPort, cwd: string): (signal: AbortSignal) => Promise<Selection | undefined> {
  const stands = createComparison();
  return async (signal) => {
    const marked = link.marked();
    const at = marked === undefined ? undefined : await readable(marked.path, paths, cwd);
    if (marked === undefined || at === undefined) return undefined;
    const name = { path: at.real, label: at.label };
    if (await stands(at.real, marked)) return { ...marked, ...name, saved: true };
    const again = await link.look(ASK_MS, signal);
    if (again === undefined || again.path !== marked.path) return undefined;
    return { ...again, ...name, saved: await stands(at.real, again) };
  };
}

/** Where a path of the editor's leads, if it is a file that may be read. */
export async function readable(path: string, paths: PathPort, cwd: string): Promise<{ readonly real: string; readonly label: string } | undefined> {
  const { real, label, kind, denied, outside } = await paths.lookUp(path, cwd);
  return kind === 'file' && !denied && !outside ? { real, label } : undefined;
}

/** Whether a file on disk holds the text in these lines. The last answer is kept while the file is not written: the status bar asks often. */
function createComparison(): (path: string, marked: Marked) => Promise<boolean> {
  let last: { readonly marked: Marked; readonly written: string; readonly stands: boolean } | undefined;
  return async (path, marked) => {
    try {
      const { size, mtimeNs, ino } = await stat(fsPath(path), { bigint: true });
      if (size > MOST_BYTES) return false;
      const written = `${ino} ${size} ${mtimeNs}`;
      if (last?.marked !== marked || last.written !== written) last = { marked, written, stands: await holds(path, marked) };
      return last.stands;
    } catch {
      return false;
    }
  };
}

async function holds(path: string, { text, fromLine, toLine }: Marked): Promise<boolean> {
  const decoded = decode(await readFile(fsPath(path)));
  if (decoded.kind !== 'text') return false;
  const lines = decoded.text.split(/\r\n|\n|\r/).slice(fromLine - 1, toLine);
  return `${lines.join('\n')}\n`.includes(text.replace(/\r\n?/g, '\n'));
}
