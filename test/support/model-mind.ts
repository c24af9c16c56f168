import { applyPatch } from 'diff';
import { restore } from '#lib/defuse.ts';
import { blocksOf, list, obj, type Obj, text } from './messages-server/shape.ts';

/** What a model that believes all that it was told knows of a file: its text, or `gone`, or that it `changed` and no more. */
export type Knowledge = string;

const REMINDER = /^<system-reminder>\n([\s\S]*)\n<\/system-reminder>$/;
const DOCUMENT = /File "([^"]+)": (?:lines? (?<part>[\d-]+) of )?[^\n]*\n<(document-[a-z0-9-]+)>\n([\s\S]*?)\n<\/\3>/y;
const PATCH = /(?:Pinned (\S+) changed|(\S+) changed on disk(?: while your command ran)? \(\+\d+ -\d+\)):\n((?:@@ [^\n]*\n(?:[-+ ][^\n]*(?:\n|$)|\\[^\n]*(?:\n|$))*)+)/y;
/** An instruction file or kept note, told whole: to the next blank line. Those of the histories hold none. */
const INSTRUCTIONS = /(?:(?<file>\/\S+) \((?:the project's instructions|the user's own instructions(?: for this project)?)\)(?: changed and now reads)?:|Note (?<note>\/[^\s,]+)(?:, last changed [\d-]+)?:)\n(?:\[for [^\n]*\]\n)?(?<text>(?:(?!\n\n)[\s\S])*)/y;
const INSTRUCTIONS_PATCH = /(\/\S+) \((?:the project's instructions|the user's own instructions(?: for this project)?)\) changed:\n()((?:@@ [^\n]*\n(?:[-+ ][^\n]*(?:\n|$)|\\[^\n]*(?:\n|$))*)+)/y;
const INSTRUCTIONS_GONE = /(?<lost>\/\S+) is no longer there, or empty: its instructions no longer hold\.(?=\n|$)/y;
const NESTED_GONE = /(?<nested>The instruction files below the start directory are no longer there), or empty: what they said no longer holds\.(?=\n|$)/y;
const LINE = /(?:(?<gone>\S+) is no longer there\.|Pinned: (?<missing>\S+) \(no such file\)|Pinned: (?<short>\S+) \(has only [^)]*\)|Pinned: (?<elsewhere>\S+) \(in view as an instruction file\)|(?<changed>\S+) changed on disk[^\n]*\.|(?:File "(?<empty>[^"]+)"|(?<blank>\S+)) is empty\.?)(?=\n|$)/y;

const LEFT_OUT = '(taken out of the conversation by the user)';

/**
 * Goes through a request as a model reads it, and gives what it then knows of every file, by the name that it was told; paths below
 * `root` as they are measured from there. Faults are what it cannot make sense of.
 */
export function mindOf(body: Obj, root = '/nowhere'): { readonly files: ReadonlyMap<string, Knowledge>; readonly faults: readonly string[] } {
  const files = new Map<string, Knowledge>();
  const faults: string[] = [];
  const calls = new Map<string, { readonly name: string; readonly input: Obj }>();
  for (const message of list(body['messages']).map(obj)) {
    for (const block of blocksOf(message['content'])) {
      if (block['type'] === 'tool_use') calls.set(text(block['id']), { name: text(block['name']), input: obj(block['input']) });
      if (block['type'] === 'text' && message['role'] === 'user') hear(text(block['text']), { files, faults, root });
      if (block['type'] !== 'tool_result') continue;
      const call = calls.get(text(block['tool_use_id']));
      const parts = blocksOf(block['content']).map((part) => text(part['text']));
      if (call !== undefined) seeResult(call, parts[0] ?? '', block['is_error'] === true, files);
      // What a skill mentions stands in its result as it is.
      for (const part of parts) hear(call?.name === 'Skill' && !REMINDER.test(part) ? `<system-reminder>\n${part}\n</system-reminder>` : part, { files, faults, root });
    }
  }
  return { files, faults };
}

const numberedText = (result: string): string => restore(result.split('\n').filter((line) => /^ *\d+\t/.test(line)).map((line) => `${line.replace(/^ *\d+\t/, '')}\n`).join(''));

function seeResult({ name, input }: { readonly name: string; readonly input: Obj }, result: string, failed: boolean, files: Map<string, Knowledge>): void {
  const path = text(input['file_path']);
  if (result === LEFT_OUT && name === 'Read') return;
  const [, shown] = result.split('The file as it is now:\n');
  if (failed) {
    if (shown === undefined) return;
    files.set(path, numberedText(shown));
  } else if (name === 'Write') files.set(path, text(input['content']));
  else if (name === 'Read') files.set(path, numberedText(result));
  else if (name === 'Edit') seeEdit(path, input, result, files);
  // Pinned lines of a file that it has read or written itself it can tell from that.
  const whole = files.get(path) ?? 'changed';
  for (const known of files.keys()) {
    const [, of, from, to] = /^(.+)#(\d+)-(\d+)$/.exec(known) ?? [];
    if (of === path) files.set(known, whole === 'changed' ? whole : whole.split('\n').slice(Number(from) - 1, Number(to)).join('\n'));
  }
}

function seeEdit(path: string, input: Obj, result: string, files: Map<string, Knowledge>): void {
  const others = /The file has other changes since you last saw it:\n((?:[-+ @\\][^\n\t]*\n)*)/.exec(result)?.[1];
  if (result.includes('The file has other changes')) files.set(path, others === undefined ? 'changed' : applied(files.get(path) ?? '', others) || 'changed');
  const known = files.get(path);
  if (known === undefined) files.set(path, 'changed');
  else if (known !== 'changed') files.set(path, known.replace(text(input['old_string']), () => text(input['new_string'])));
}

function applied(before: Knowledge, patch: string): string | false {
  const whole = `--- a\n+++ b\n${restore(patch).replace(/\n*$/, '\n')}`;
  // How a text was shown does not always tell whether its last line ends.
  const text = before.replace(/\n$/, '');
  const after = applyPatch(`${text}\n`, whole);
  return after === false ? applyPatch(text, whole) : after;
}

interface Mind {
  readonly files: Map<string, Knowledge>;
  readonly faults: string[];
  readonly root: string;
}

function hear(words: string, mind: Mind): void {
  const body = REMINDER.exec(words)?.[1];
  if (body === undefined) return;
  for (let at = 0; at < body.length;) {
    const found = firstAt(body, at);
    if (found === undefined) {
      at = body.indexOf('\n', at) + 1 || body.length;
      continue;
    }
    at += found[0].length;
    if (found.groups?.['text'] === undefined && found.groups?.['lost'] === undefined && found.groups?.['nested'] === undefined && !found[0].startsWith('/')) learn(found, mind);
    else instruct(found, mind);
  }
}

function firstAt(body: string, at: number): RegExpExecArray | undefined {
  for (const pattern of [DOCUMENT, INSTRUCTIONS, INSTRUCTIONS_PATCH, INSTRUCTIONS_GONE, NESTED_GONE, PATCH, LINE]) {
    pattern.lastIndex = at;
    const found = pattern.exec(body);
    if (found !== null) return found;
  }
  return undefined;
}

/** Instruction files are told by their whole paths, without the blank ends of their texts. */
function instruct({ 0: words, 1: changed, 3: patch, groups = {} }: RegExpExecArray, { files, faults, root }: Mind): void {
  const { file, note, text: whole, lost, nested } = groups;
  if (nested !== undefined) for (const known of files.keys()) if (known.includes('/') && /(?:^|\/)(?:AGENTS|CLAUDE)\.md(?:#|$)/.test(known)) files.set(known, 'gone');
  if (nested !== undefined) return;
  const path = (file ?? note ?? lost ?? changed ?? '').replace(`${root}/`, '');
  if (lost !== undefined) lose(path, { files, faults, root });
  else if (whole !== undefined) files.set(path, `${restore(whole)}\n`);
  else {
    const after = applied(files.get(path) ?? '', patch ?? '');
    if (after === false) faults.push(`a change of the instructions ${path} does not fit what was known of them: ${words}`);
    else files.set(path, after);
  }
}

function lose(path: string, { files, faults }: Mind): void {
  if (files.get(path) === 'gone') faults.push(`it is told twice that ${path} is gone`);
  for (const known of files.keys()) if (known.startsWith(`${path}#`)) files.set(known, 'gone');
  files.set(path, 'gone');
}

function learn(found: RegExpExecArray, mind: Mind): void {
  const { files, faults } = mind;
  const { gone, missing, changed, empty, blank, short, elsewhere } = found.groups ?? {};
  if (elsewhere !== undefined) {
    if (elsewhere.includes('#')) files.delete(elsewhere);
    return;
  }
  const emptied = empty ?? blank ?? short;
  if (emptied !== undefined) {
    const whole = emptied.replace(/#\d+-\d+$/, '');
    if (whole !== emptied && files.has(whole)) files.set(whole, 'changed');
    for (const known of [emptied, ...[...files.keys()].filter((path) => path.startsWith(`${emptied}#`))]) files.set(known, '');
    return;
  }
  if (gone !== undefined || missing !== undefined || changed !== undefined) {
    if (gone !== undefined) lose(gone, mind);
    // That what was pinned just now is not there is said of the pin.
    if (missing !== undefined) files.set(missing, 'gone');
    if (changed !== undefined) files.set(changed, 'changed');
    return;
  }
  if (found[0].startsWith('File "')) {
    const part = found[2];
    const [name = '', shown] = [found[1], restore(found[4] ?? '')];
    files.set(part === undefined ? name : `${name}#${part}`, shown);
    // Of a file that became too short less is shown than was pinned.
    if (part !== undefined) for (const known of files.keys()) if (known.startsWith(`${name}#${part.split('-')[0]}-`)) files.set(known, shown);
    if (part !== undefined && files.get(name)?.includes(shown) === false) files.set(name, 'changed');
    return;
  }
  if (!found[0].includes('\n')) return;
  const path = found[1] ?? found[2] ?? '';
  // Told of some lines, as they stand at their place: what that means for the rest is not reckoned here.
  const rest = path.replace(/#\d+-\d+$/, '');
  if (rest !== path && files.has(rest)) files.set(rest, 'changed');
  const before = files.get(path) ?? '';
  if (before === 'changed') return;
  const after = applied(before, found[3] ?? '');
  if (after === false) faults.push(`a change of ${path} does not fit what was known of it: ${found[3] ?? ''}`);
  else files.set(path, after);
}
