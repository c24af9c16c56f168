/** A document as it was shown: a file or a part of one, a listing, a command's output, a note. */
export interface Shown {
  /** As it is named to the model; a part of a file has its lines behind it (`src/a.ts#10-40`). */
  readonly name: string;
  readonly body: string;
  readonly kind: 'file' | 'part' | 'listing' | 'output' | 'note' | 'instructions';
  /** Number that the first line of `body` has in its file. */
  readonly first: number;
}

/** One thing that a reminder says. `text` is how it stands there. */
export type Told = { readonly text: string } & (
  | { readonly kind: 'shown'; readonly document: Shown }
  /** What is in view is another one now; without a patch it is told next, or not at all. */
  | { readonly kind: 'changed'; readonly label: string; readonly patch?: string }
  | { readonly kind: 'gone'; readonly label: string }
  /** Without a label: nothing is pinned any more. */
  | { readonly kind: 'unpinned'; readonly label?: string }
  | { readonly kind: 'todos'; readonly whole: boolean; readonly lines: readonly string[] }
  | { readonly kind: 'note' }
);

interface Found {
  readonly told: Told;
  /** Index of the line behind it. */
  readonly next: number;
}

const ENVELOPED = /^(?<what>File|Directory) "(?<name>(?:[^"\\]|\\.)*)": (?<facts>.*)$/;
const TAG = /^<(document-[a-z0-9-]+)>$/;
const LISTING = /^(?:Directory|Files that match) "(?<name>(?:[^"\\]|\\.)*)" \(\d+\):$/;
const OUTPUT = /^Output of "(?<name>(?:[^"\\]|\\.)*)":$/;
const MEMORY = /^Memory "(?<name>(?:[^"\\]|\\.)*)":$/;
const INSTRUCTIONS = /^(?<name>\S.*) \((?:the project's instructions|the user's own instructions(?: for this project)?)\)(?<how> changed| changed and now reads)?:$/;
const PINNED = /^Pinned (?<label>\S.*?) changed(?<whole> and now reads)?:$/;
const ON_DISK = /^(?<label>\S.*?) changed on disk(?: \(\+\d+ -\d+\))?(?<end>[:.])$/;
const GONE = /^(?:Pinned: (?<pin>\S.*?) \(.*\)|(?<label>\S.*?) (?:is no longer there|cannot be read any more)\b.*)$/;
const UNPINNED = /^No longer pinned: (?<label>.+)$/;
const TODOS = /^(?:Todo list, (?<how>shared|changed) by the user.*:|The todo list has not been written for a while\. Still on it:)$/;
const HEADS = [ENVELOPED, LISTING, OUTPUT, MEMORY, INSTRUCTIONS, PINNED, ON_DISK, GONE, UNPINNED, TODOS, /^(?:Nothing is pinned any more|The todo list is empty now)\.$/, /^Today is /, /^The date has changed/, /^Environment(?:, changed)?:$/, /^Plan mode /];

/** Takes a reminder apart. What is of no known kind is a note. */
export function toldIn(reminder: string): readonly Told[] {
  const lines = reminder.split('\n');
  const all: Told[] = [];
  for (let at = 0; at < lines.length;) {
    if (lines[at] === '') {
      at += 1;
      continue;
    }
    const { told, next } = enveloped(lines, at) ?? listed(lines, at) ?? changed(lines, at) ?? single(lines, at) ?? paragraph(lines, at);
    all.push(told);
    at = next;
  }
  return all;
}

function enveloped(lines: readonly string[], at: number): Found | undefined {
  const head = ENVELOPED.exec(lines[at] ?? '')?.groups;
  const tag = TAG.exec(lines[at + 1] ?? '')?.[1];
  const end = tag === undefined ? -1 : lines.indexOf(`</${tag}>`, at + 2);
  if (head === undefined || end === -1) return undefined;
  const { what, name = '', facts = '' } = head;
  const cut = lines[end + 1]?.startsWith('[shown: ') === true;
  const next = end + (cut ? 2 : 1);
  const [, first = '1', last = first] = /^lines? (\d+)(?:-(\d+))? of /.exec(facts) ?? [];
  const part = /^lines? \d/.test(facts);
  const kind = what === 'Directory' ? 'listing' : part ? 'part' : 'file';
  return {
    next,
    told: {
      kind: 'shown', text: lines.slice(at, next).join('\n'),
      document: { kind, name: part && !cut ? `${name}#${first}-${last}` : name, first: Number(first), body: lines.slice(at + 2, end).join('\n') },
    },
  };
}

/** Listings and outputs without an envelope: they end where the next known thing begins. */
function listed(lines: readonly string[], at: number): Found | undefined {
  const line = lines[at] ?? '';
  const listing = LISTING.exec(line)?.groups?.['name'];
  const output = OUTPUT.exec(line)?.groups?.['name'];
  const memory = MEMORY.exec(line)?.groups?.['name'];
  const instructions = INSTRUCTIONS.exec(line)?.groups;
  const name = listing ?? (output === undefined ? undefined : `!${output}`) ?? (memory === undefined ? undefined : `memory: ${memory}`) ?? (instructions?.['how'] === ' changed' ? undefined : instructions?.['name']);
  if (name === undefined) return undefined;
  const next = endOf(lines, at + 1, listing !== undefined);
  const kind = listing !== undefined ? 'listing' : output !== undefined ? 'output' : memory !== undefined ? 'note' : 'instructions';
  const body = lines.slice(at + 1, next).join('\n').trimEnd();
  return { next, told: { kind: 'shown', text: `${line}\n${body}`, document: { kind, name, first: 1, body } } };
}

function changed(lines: readonly string[], at: number): Found | undefined {
  const line = lines[at] ?? '';
  const groups = PINNED.exec(line)?.groups ?? ON_DISK.exec(line)?.groups ?? INSTRUCTIONS.exec(line)?.groups;
  const label = groups?.['label'] ?? groups?.['name'];
  if (groups === undefined || label === undefined) return undefined;
  let next = at + 1;
  // A patch is what follows as long as it can be one; an empty line of the file has its blank before it.
  if (groups['whole'] === undefined && groups['end'] !== '.' && lines[next]?.startsWith('@@ ') === true) while (/^[@ +\\-]/.test(lines[next] ?? '')) next += 1;
  const patch = lines.slice(at + 1, next).join('\n');
  return { next, told: { kind: 'changed', label, text: lines.slice(at, next).join('\n'), ...(patch !== '' && { patch }) } };
}

function single(lines: readonly string[], at: number): Found | undefined {
  const text = lines[at] ?? '';
  const gone = GONE.exec(text)?.groups;
  const label = gone?.['pin'] ?? gone?.['label'];
  if (label !== undefined) return { next: at + 1, told: { kind: 'gone', label, text } };
  const unpinned = UNPINNED.exec(text)?.groups?.['label'];
  if (unpinned !== undefined) return { next: at + 1, told: { kind: 'unpinned', label: unpinned, text } };
  if (text === 'Nothing is pinned any more.') return { next: at + 1, told: { kind: 'unpinned', text } };
  if (text === 'The todo list is empty now.') return { next: at + 1, told: { kind: 'todos', whole: true, lines: [], text } };
  const todos = TODOS.exec(text)?.groups;
  if (todos === undefined) return undefined;
  const next = endOf(lines, at + 1, true);
  return { next, told: { kind: 'todos', whole: todos['how'] === 'shared', lines: lines.slice(at + 1, next), text: lines.slice(at, next).join('\n') } };
}

function paragraph(lines: readonly string[], at: number): Found {
  const next = endOf(lines, at + 1, true);
  return { next, told: { kind: 'note', text: lines.slice(at, next).join('\n') } };
}

/** Where what began before `from` ends: at a blank line, unless blank lines may be part of it; then at one with a known head behind it. */
function endOf(lines: readonly string[], from: number, atBlank: boolean): number {
  for (let at = from; at < lines.length; at += 1) {
    if (lines[at] === '' && (atBlank || HEADS.some((head) => head.test(lines[at + 1] ?? '')))) return at;
  }
  return lines.length;
}
