/** An import in an instruction file. */
export interface Import {
  /** Counted from 0. */
  readonly line: number;
  /** Spellings of its path, the likeliest first. */
  readonly candidates: readonly string[];
  /** Whether a miss is worth a note: it cannot well be anything but a path. */
  readonly certain: boolean;
}

/** What was found for one: the spelling that was right, and the text. */
export interface Imported {
  readonly line: number;
  readonly path: string;
  readonly text: string;
}

/** At the start, after white space or an opening bracket or quote: not inside an address or a word. */
const MENTION = /(?:^|[\s([{'"])@(?:"(?<quoted>[^"\n]{1,500})"|(?<bare>(?:\\ |[^\s"'`<>|])+))/g;
/** A line that begins with a mention, behind a list mark at most. */
const ALONE = /^\s*(?:[-*+]\s+)?@(?<rest>[^\s@].*)$/;
const PATHLIKE = /^(?:\.{1,2}\/|~\/|\/)|\.[A-Za-z][A-Za-z0-9]{0,9}$/;
const TRAILING = /[.,;:!?)\]}'"]+$/;

/** `@path` in Markdown outside code. On a line that begins with one, the whole rest may be the path, blanks included. */
export function importsOf(text: string): readonly Import[] {
  const inCode = fences();
  return text.split('\n').flatMap((line, number) => (inCode(line) ? [] : importsOnLine(blankSpans(line), number)));
}

function importsOnLine(prose: string, line: number): readonly Import[] {
  const alone = ALONE.exec(prose)?.groups?.['rest']?.trim();
  return [...prose.matchAll(MENTION)].map((found, i): Import => {
    const path = found.groups?.['quoted'] ?? found.groups?.['bare']?.replaceAll('\\ ', ' ') ?? '';
    const rest = i === 0 && alone !== undefined && found.groups?.['quoted'] === undefined ? [alone] : [];
    const candidates = [...rest, path, path.replace(TRAILING, '')].filter((candidate, at, all) => candidate !== '' && all.indexOf(candidate) === at);
    return { line, candidates, certain: candidates.some((candidate) => PATHLIKE.test(candidate)) };
  });
}

/** Puts each import's text below the line that it stands on; a line that holds nothing else gives way to it. */
export function insertImports(text: string, imported: readonly Imported[]): string {
  if (imported.length === 0) return text;
  return text.split('\n').flatMap((line, number) => {
    const here = imported.filter((at) => at.line === number);
    const rest = ALONE.exec(line)?.groups?.['rest']?.trim().replace(/^"(.*)"$/, '$1').replaceAll('\\ ', ' ');
    const texts = here.map((at) => at.text);
    return here.length === 1 && here[0]?.path === rest ? texts : [line, ...texts];
  }).join('\n');
}

/** With code spans as blanks. */
function blankSpans(line: string): string {
  return line.replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, (span) => ' '.repeat(span.length));
}

/** Tells line by line whether it belongs to a fenced code block, the fences included. */
function fences(): (line: string) => boolean {
  let fence = '';
  return (line) => {
    const mark = /^ {0,3}(?<fence>`{3,}|~{3,})/.exec(line)?.groups?.['fence'] ?? '';
    if (fence === '') {
      fence = mark;
      return mark !== '';
    }
    if (mark.startsWith(fence) && line.trim() === mark) fence = '';
    return true;
  };
}

/** Without HTML comments that begin a line, outside fenced code: notes for people. One that is never closed stays. */
export function stripComments(text: string): string {
  const inCode = fences();
  const out: string[] = [];
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i] ?? '';
    const open = inCode(line) ? null : /^ {0,3}<!--/.exec(line);
    const end = open === null ? -1 : lines.findIndex((later, at) => (at === i ? later.includes('-->', open[0].length) : at > i && later.includes('-->')));
    if (open === null || end === -1) {
      out.push(line);
      continue;
    }
    const last = lines[end] ?? '';
    const rest = last.slice(last.indexOf('-->', end === i ? open[0].length : 0) + 3);
    if (rest.trim() !== '') out.push(rest);
    i = end;
  }
  return out.join('\n');
}

/** Characters that a reader of the file does not see and the model does: tags, bidirectional controls, zero-width spaces. */
const HIDDEN = /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff]/gu;

export function stripHidden(text: string): { readonly text: string; readonly removed: number } {
  let removed = 0;
  return { text: text.replace(HIDDEN, () => { removed += 1; return ''; }), removed };
}
