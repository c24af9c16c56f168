import { defuse } from '#lib/defuse.ts';
import { sha256 } from '#lib/hash.ts';
import { nameToBytes, oneLine } from '#lib/names.ts';
import { count, wellFormed } from '#lib/text.ts';

const LONGEST_SLUG = 80;
const HASH_DIGITS = 8;

/**
 * Text in a tag made of the document's name and MIME type, such as `<document-report-md-text-markdown>`. The tag is the
 * same each time, so that prompt caches hold, and can therefore be guessed: the body's own spellings of it are defused.
 */
export function textEnvelope(name: string, mime: string, body: string): string {
  const tag = `document-${slugOf(name, mime)}`;
  return `<${tag}>\n${defuse(wellFormed(body), tag)}\n</${tag}>`;
}

/** ASCII letters and digits with single hyphens between. Ends in a short hash of the name when the slug was cut or the name has other letters. */
function slugOf(name: string, mime: string): string {
  const slug = trimHyphens(`${name}-${mime}`.toLowerCase().replace(/[^a-z0-9]+/g, '-'));
  const lost = /[^\0-\x7f]/.test(name);
  if (slug.length <= LONGEST_SLUG && !lost) return slug === '' ? 'doc' : slug;
  const hash = sha256(nameToBytes(name) ?? name).slice(0, HASH_DIGITS);
  return [trimHyphens(slug.slice(0, LONGEST_SLUG - HASH_DIGITS - 1)), hash].filter((part) => part !== '').join('-');
}

function trimHyphens(slug: string): string {
  return slug.replace(/^-|-$/g, '');
}

/** A text file, or the part of it that is shown. `lines` and `bytes` are those of the whole file; undefined when it was not read to its end. */
export interface TextDocument {
  readonly label: string;
  readonly mime: string;
  readonly text: string;
  readonly lines: number | undefined;
  readonly bytes: number;
  /** First and last line of `text`, unless it is the whole file. `cutInLine`: the last line is not whole. `more`: it was cut by a limit. */
  readonly shown?: { readonly from: number; readonly to: number; readonly cutInLine: boolean; readonly more: boolean };
  /** Said when it is not plain UTF-8. */
  readonly encoding?: string;
}

/** One header line (escaped name, lines, bytes), the envelope, and a line on what was left out and how to read on. */
export function documentText(document: TextDocument): string {
  const { label, mime, text, lines, bytes, shown, encoding } = document;
  const facts = [lines === undefined ? undefined : count(lines, 'line'), count(bytes, 'byte'), encoding].filter((fact) => fact !== undefined);
  const range = shown === undefined ? '' : `${linesOf(shown)} of `;
  const header = `File "${oneLine(label)}": ${range}${facts.join(', ')}`;
  const rest = shown?.more === true ? [`[${cutNote(document)}]`] : [];
  return [header, textEnvelope(label, mime, text), ...rest].join('\n');
}

/** What a cut left out, in one line. */
export function cutNote({ text, lines, bytes, shown }: TextDocument): string {
  if (shown === undefined) return '';
  const all = lines === undefined ? '' : ` of ${lines}`;
  const seen = `shown: ${linesOf(shown)}${all} (${Buffer.byteLength(text)} of ${count(bytes, 'byte')})`;
  return shown.cutInLine ? `${seen}; line ${shown.to} is too long and was cut` : `${seen}; read on with Read from line ${shown.to + 1}`;
}

function linesOf({ from, to }: { readonly from: number; readonly to: number }): string {
  return from === to ? `line ${from}` : `lines ${from}-${to}`;
}
