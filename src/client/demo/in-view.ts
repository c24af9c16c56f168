import { applyPatch } from 'diff';
import type { Shown, Told } from './told.ts';

/** A call with what came back. */
export interface Done {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly failed: boolean;
}

/** A document that is in view, as it is now as far as was told. */
export interface Document extends Shown {
  /** Mentioned by the user, not pinned. */
  readonly mentioned: boolean;
  /** It changed, and how was not told. */
  readonly stale: boolean;
}

export interface Todo {
  readonly id: number;
  readonly content: string;
  readonly status: string;
  readonly by: 'user' | 'model';
}

/** What the conversation keeps in view: a fold over reminders and calls, in order. */
export interface InView {
  readonly documents: ReadonlyMap<string, Document>;
  readonly todos: readonly Todo[];
}

export const NOTHING: InView = { documents: new Map(), todos: [] };

/** `asks` are the user's words beside which the reminder stands: what they mention is not pinned. */
export function afterTold(now: InView, told: Told, asks: readonly string[]): InView {
  switch (told.kind) {
    case 'shown': return withDocument(now, { ...told.document, stale: false, mentioned: mentions(asks, told.document.name) });
    case 'changed': return afterChange(now, told.label, told.patch);
    case 'gone': return without(now, told.label);
    case 'unpinned': return told.label === undefined ? { ...now, documents: new Map([...now.documents].filter(([, { mentioned, kind }]) => mentioned || kind === 'instructions')) } : without(now, told.label);
    case 'todos': return { ...now, todos: todosAfter(told.whole ? [] : now.todos, told.lines) };
    case 'note': return now;
  }
}

/** What our own calls did to files in view is told by no reminder. */
export function afterCall(now: InView, { tool, input, text, failed }: Done): InView {
  if (failed) return now;
  if (tool === 'TodoWrite') return { ...now, todos: todosAfter([], text.split('\n')) };
  const path = stringOf(input['file_path']);
  const document = path === '' || (tool !== 'Write' && tool !== 'Edit') ? undefined : documentOf(now, path);
  if (document === undefined) return now;
  if (document.kind === 'file' && tool === 'Write') return withDocument(now, { ...document, body: stringOf(input['content']), stale: false });
  const [old, fresh] = [stringOf(input['old_string']), stringOf(input['new_string'])];
  if (tool !== 'Edit' || !document.body.includes(old)) return withDocument(now, { ...document, stale: document.stale || tool === 'Write' });
  const body = input['replace_all'] === true ? document.body.replaceAll(old, () => fresh) : document.body.replace(old, () => fresh);
  return withDocument(now, { ...document, body });
}

/** A document by the path or label that somebody wrote. */
export function documentOf({ documents }: InView, written: string): Document | undefined {
  const name = written.replace(/^\.\//, '').replace(/\/$/, '');
  const all = [...documents.values()];
  return all.find((one) => one.name === name || one.name === `${name}/` || `${one.name}/` === `${name}/`)
    ?? all.find((one) => name.endsWith(`/${one.name}`) || (one.kind === 'part' && one.name.startsWith(`${name}#`)));
}

function mentions(asks: readonly string[], name: string): boolean {
  const path = name.replace(/#\d+-\d+$/, '');
  return asks.some((ask) => ask.includes(`@${path}`) || ask.includes(`@"${path}`) || ask.includes(`@./${path}`));
}

function withDocument(now: InView, document: Document): InView {
  const before = now.documents.get(document.name);
  return { ...now, documents: new Map([...now.documents, [document.name, before === undefined ? document : { ...document, mentioned: document.mentioned && before.mentioned }]]) };
}

function without(now: InView, label: string): InView {
  const gone = documentOf(now, label);
  return gone === undefined ? now : { ...now, documents: new Map([...now.documents].filter(([name]) => name !== gone.name)) };
}

function afterChange(now: InView, label: string, patch: string | undefined): InView {
  const document = documentOf(now, label) ?? documentOf(now, label.replace(/#\d+-\d+$/, ''));
  if (document === undefined) return now;
  const body = patch === undefined ? undefined : patched(document, patch);
  return withDocument(now, { ...document, ...(body !== undefined && { body }), stale: body === undefined });
}

/** The body with a diff applied whose numbers are those of the file. */
function patched({ body, first }: Shown, patch: string): string | undefined {
  const own = patch.replace(/^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@/gm, (_, old: string, many = '', fresh: string, more = '') => `@@ -${shifted(old, first)}${many} +${shifted(fresh, first)}${more} @@`);
  for (const end of ['', '\n']) {
    const result = tryPatch(`${body}${end}`, own);
    if (result !== undefined) return end !== '' && result.endsWith(end) ? result.slice(0, -1) : result;
  }
  return undefined;
}

const shifted = (line: string, first: number): number => Math.max(0, Number(line) - first + 1);

function tryPatch(text: string, patch: string): string | undefined {
  try {
    const result = applyPatch(text, patch);
    return result === false ? undefined : result;
  } catch {
    return undefined;
  }
}

const STATES: Readonly<Record<string, string>> = { ' ': 'pending', '~': 'in_progress', 'x': 'completed' };
const ITEM = /^(?<how>added: |now: |removed: )?(?<id>\d+)\. \[(?<mark>[ ~x])\] (?<words>.*?)(?<by> \((?:the )?user's\))?(?: \(was under way before .*\))?$/;

/** Items as reminders and TodoWrite print them, one a line. */
function todosAfter(before: readonly Todo[], lines: readonly string[]): readonly Todo[] {
  const items = new Map(before.map((item) => [item.id, item]));
  let order: readonly number[] = [];
  for (const line of lines) {
    if (line.startsWith('order: ')) order = line.slice(7).split(', ').map(Number);
    const groups = ITEM.exec(line)?.groups;
    if (groups === undefined) continue;
    const id = Number(groups['id']);
    if (groups['how'] === 'removed: ') items.delete(id);
    else items.set(id, { id, content: groups['words'] ?? '', status: STATES[groups['mark'] ?? ' '] ?? 'pending', by: groups['by'] === undefined ? 'model' : 'user' });
  }
  const rank = (id: number): number => (order.includes(id) ? order.indexOf(id) : order.length);
  return order.length === 0 ? [...items.values()] : [...items.values()].sort((a, b) => rank(a.id) - rank(b.id));
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
