import type { Json } from '#lib/brand.ts';
import { markControls } from '#lib/marks.ts';
import { cutToLength, wellFormed } from '#lib/text.ts';

/** What the front matter of a skill or Markdown command says. Keys that mean nothing here are passed over. */
export interface Header {
  readonly description: string | undefined;
  readonly argumentHint: string | undefined;
  /** Names by which arguments are put in, in their order. */
  readonly argumentNames: readonly string[];
  readonly modelMayUse: boolean;
  readonly userMayUse: boolean;
  /** Globs of files that it is for; empty: for all. */
  readonly paths: readonly string[];
  /** Rules `Tool(spec)` that hold while it is being followed. */
  readonly allowedTools: readonly string[];
  /** As they stand there. */
  readonly hooks: Json | undefined;
}

/** Longest description, in UTF-16 units. */
export const LONGEST_DESCRIPTION = 1536;
const LONGEST_HINT = 120;
const MOST_PATTERNS = 50;
const LONGEST_PATTERN = 500;
const MOST_RULES = 100;

type Fields = Readonly<Record<string, Json>>;

export function headerOf(fields: Fields): Header {
  const described = [textOf(fields['description']), textOf(fields['when_to_use'] ?? fields['when-to-use'])].filter((text) => text !== undefined).join(' ');
  const hint = hintOf(fields['argument-hint']);
  return {
    description: described === '' ? undefined : prose(described, LONGEST_DESCRIPTION),
    argumentHint: hint === undefined || hint === '' ? undefined : prose(hint, LONGEST_HINT),
    argumentNames: listOf(fields['arguments'], /[\s,]+/).filter((name) => /^[A-Za-z_][\w-]*$/.test(name)),
    modelMayUse: yesNo(fields['disable-model-invocation']) !== true,
    userMayUse: yesNo(fields['user-invocable']) !== false,
    paths: listOf(fields['paths'], /,(?![^{]*\})|\n/).filter((pattern) => pattern.length <= LONGEST_PATTERN).slice(0, MOST_PATTERNS),
    allowedTools: rulesOf(fields['allowed-tools']).slice(0, MOST_RULES),
    hooks: fields['hooks'] ?? undefined,
  };
}

/** The first paragraph of a text, without the marks of a heading: what a file is about that does not say so itself. */
export function firstParagraph(body: string): string {
  const lines = body.slice(0, 4 * LONGEST_DESCRIPTION).split('\n');
  const from = lines.findIndex((line) => line.trim() !== '');
  if (from === -1) return '';
  const length = lines.slice(from).findIndex((line) => line.trim() === '');
  return prose(lines.slice(from, length === -1 ? undefined : from + length).join(' ').replace(/^#+\s*/, ''), LONGEST_DESCRIPTION);
}

/** Any text on one line, what is unseen in it marked, cut to so many UTF-16 units. */
export function prose(text: string, most: number): string {
  const line = markControls(wellFormed(text.slice(0, most * 4)).replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim());
  return line.length <= most ? line : `${cutToLength(line, most - 1)}…`;
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** People write `[issue] [priority]`, which YAML takes for a list where it is one word. */
function hintOf(value: Json | undefined): string | undefined {
  return Array.isArray(value) ? value.map((item) => `[${textOf(item) ?? ''}]`).join(' ') : textOf(value);
}

function yesNo(value: Json | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return ['true', 'yes', 'on'].includes(word) ? true : ['false', 'no', 'off'].includes(word) ? false : undefined;
}

function listOf(value: Json | undefined, between: RegExp): readonly string[] {
  const items = Array.isArray(value) ? value.map(textOf) : textOf(value)?.split(between) ?? [];
  return items.flatMap((item) => (item === undefined || item.trim() === '' ? [] : [item.trim()]));
}

/** `Bash(git add:*), Read Grep`: commas and blanks part rules, but not inside brackets. */
function rulesOf(value: Json | undefined): readonly string[] {
  const text = Array.isArray(value) ? value.map((item) => textOf(item) ?? '').join('\n') : textOf(value) ?? '';
  const rules: string[] = [];
  let rule = '';
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && /[\s,]/.test(character)) {
      rules.push(rule);
      rule = '';
    } else rule += character;
  }
  return [...rules, rule].filter((one) => one !== '');
}
