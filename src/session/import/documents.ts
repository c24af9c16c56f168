import type { Finding } from './found.ts';

/** Names of commands and agents as files: folders and letters that can be typed. */
const NAME = /^(?:[\p{L}\p{N}][\p{L}\p{N}_.-]{0,60}\/){0,3}[\p{L}\p{N}][\p{L}\p{N}_.-]{0,60}$/u;

/** A file's name below our own folder; undefined (and said) where it is none that can be typed. */
export function documentName(name: string, from: string, into: Finding): string | undefined {
  if (NAME.test(name) && !name.split('/').includes('..')) return `${name}.md`;
  into.left.push(`${from}: its name cannot be typed as a command`);
  return undefined;
}

/** One line of front matter, in quotes where YAML wants them. */
function field(key: string, value: string): string {
  const line = value.replace(/\s+/g, ' ').trim();
  return `${key}: ${JSON.stringify(line)}`;
}

/** A Markdown file with front matter of these fields; those without a value are left out. */
export function withFrontMatter(fields: Readonly<Record<string, string | undefined>>, body: string): string {
  const lines = Object.entries(fields).flatMap(([key, value]) => (value === undefined || value.trim() === '' ? [] : [field(key, value)]));
  return `${lines.length === 0 ? '' : `---\n${lines.join('\n')}\n---\n`}${body.trim()}\n`;
}

/** Elsewhere the first argument is `$1`, here `$0`. */
export function firstPlaceIsZero(text: string): string {
  return text.replaceAll(/\$([1-9])(?!\d)/g, (_, digit: string) => `$${Number(digit) - 1}`);
}

/** A command that has its front matter already; only an end of line at its end is added. */
export function commandText(text: string): string {
  return `${text.trimEnd()}\n`;
}
