import type { Json } from './brand.ts';
import { messageOf } from './errors.ts';
import { DEEPEST_JSON } from './json-depth.ts';

/** `problem`: one line, what could not be read; `fields` then holds the rest. `body` is what stands after the closing line. */
export interface FrontMatter {
  readonly fields: Readonly<Record<string, Json>>;
  readonly body: string;
  readonly problem?: string;
}

/** Nobody writes more by hand; a larger one is not read. */
const MOST_UNITS = 64 * 1024;
const OPENING = /^\ufeff?---[ \t]*\r?\n/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*\r?$/m;

/**
 * YAML between two lines of dashes at the beginning of a Markdown file. Real files are often no strict YAML
 * (`description: Use when: x`, `argument-hint: [a] [b]`, `model: *x`): a field that does not parse is taken as plain text.
 * Without front matter the whole text is the body. Never throws.
 */
export async function readFrontMatter(text: string): Promise<FrontMatter> {
  const opening = OPENING.exec(text);
  if (opening === null) return { fields: {}, body: text.replace(/^\ufeff/, '') };
  const rest = text.slice(opening[0].length);
  const closing = CLOSING.exec(rest);
  if (closing === null) return { fields: {}, body: text.replace(/^\ufeff/, ''), problem: 'the front matter has no closing line (---)' };
  const body = rest.slice(closing.index + closing[0].length).replace(/^\n/, '');
  if (closing.index > MOST_UNITS) return { fields: {}, body, problem: `the front matter is longer than ${MOST_UNITS} characters` };
  return { ...await fieldsOf(rest.slice(0, closing.index).replaceAll('\r\n', '\n')), body };
}

async function fieldsOf(yaml: string): Promise<Omit<FrontMatter, 'body'>> {
  // Bundled, a CommonJS module has its names on `default` only.
  const { parseDocument } = (await import('yaml')).default;
  const parse = (source: string): Json => {
    const document = parseDocument(source, { schema: 'core', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
    const [error] = document.errors;
    if (error !== undefined) throw error;
    // An alias can make much of little; who writes one means an asterisk.
    return asJson(document.toJS({ maxAliasCount: 0 }), 0);
  };
  try {
    const whole = parse(yaml);
    if (isRecord(whole)) return { fields: whole };
    if (whole === null) return { fields: {} };
    throw new Error('it is no list of fields');
  } catch (thrown) {
    return oneByOne(yaml, parse, messageOf(thrown));
  }
}

/** Each field by itself, so that one which is no YAML costs none of the others. */
function oneByOne(yaml: string, parse: (source: string) => Json, message: string): Omit<FrontMatter, 'body'> {
  const fields: [string, Json][] = [];
  let lost = 0;
  for (const piece of piecesOf(yaml)) {
    const [, name, value] = /^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+|(?=\n)|$)([^]*)$/.exec(piece) ?? [];
    if (name === undefined || value === undefined) {
      lost += 1;
      continue;
    }
    fields.push([name, valueOf(name, piece, value, parse)]);
  }
  return { fields: Object.fromEntries(fields), ...(lost > 0 && { problem: `the front matter cannot be read as a whole: ${message}` }) };
}

function valueOf(name: string, piece: string, value: string, parse: (source: string) => Json): Json {
  try {
    const parsed = parse(piece);
    if (isRecord(parsed) && name in parsed) return parsed[name] ?? null;
  } catch {
    // Plain text then.
  }
  return value.replace(/\s*\n\s*/g, ' ').trim();
}

/** A line that begins at the margin, with the indented, listed and blank lines that follow it. */
function piecesOf(yaml: string): readonly string[] {
  const pieces: string[] = [];
  for (const line of yaml.split('\n')) {
    const last = pieces.at(-1);
    if (/^(?:\s|-\s|$)/.test(line) && last !== undefined) pieces[pieces.length - 1] = `${last}\n${line}`;
    else if (line.trim() !== '' && !line.startsWith('#')) pieces.push(line);
  }
  return pieces;
}

function asJson(value: unknown, depth: number): Json {
  if (depth > DEEPEST_JSON) throw new Error('it is nested too deep');
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.map((item) => asJson(item, depth + 1));
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asJson(item, depth + 1)]));
  return null;
}

function isRecord(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
