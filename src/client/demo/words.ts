import type { Done, Shown, View } from './view.ts';

/** A path as people write it in a request: quoted, mentioned, or a word with a dot or a slash in it. */
export const PATH = String.raw`@?(?:"([^"\n]+)"|'([^'\n]+)'|\`([^\`\n]+)\`|([^\s"'\`,;:?!]*[^\s"'\`,;:?!.)]))`;

/** The first of a match's groups from `from` on that took part. */
export function taken(match: RegExpExecArray, from: number, groups = 4): string {
  return match.slice(from, from + groups).find((group) => group !== undefined) ?? '';
}

export const looksLikePath = (word: string): boolean => /[./\\]/.test(word) || /^(README|LICENSE|Makefile|Dockerfile)$/.test(word);

/** The last call of a tool in this turn. */
export function lastOf(view: View, tool: string): Done | undefined {
  return view.done.findLast((done) => done.tool === tool);
}

/** What Read gave, without its line numbers and closing note. */
export function contentOf(read: string): string {
  return read.split('\n').filter((line) => /^\s*\d+\t/.test(line)).map((line) => line.replace(/^\s*\d+\t/, '')).join('\n');
}

/** What can be told of a file at a glance. */
export function glance({ name, body }: Shown): string {
  const lines = body.split('\n');
  const filled = lines.filter((line) => line.trim() !== '');
  const heading = filled.find((line) => /^#{1,3} /.test(line))?.replace(/^#+ /, '');
  const exported = [...body.matchAll(/^export (?:default )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm)].map(([, word = '']) => word);
  const facts = [
    `**${name}** has ${lines.length} ${lines.length === 1 ? 'line' : 'lines'}.`,
    heading === undefined ? '' : `Its first heading is "${heading}".`,
    exported.length === 0 ? '' : `It exports ${exported.slice(0, 8).map((word) => `\`${word}\``).join(', ')}${exported.length > 8 ? ' and more' : ''}.`,
    heading === undefined && exported.length === 0 && filled[0] !== undefined ? `It begins with \`${filled[0].trim().slice(0, 80)}\`.` : '',
  ];
  return facts.filter((fact) => fact !== '').join(' ');
}

/** The value that a file gives for a word: a JSON key, a `key: value` or `key = value` line; else the lines that hold it. */
export function lookUp({ name, body }: Shown, word: string): string {
  const key = word.trim().replace(/^(?:the|its|a|an)\s+/i, '').replace(/[?.!]+$/, '');
  const found = jsonValue(body, key) ?? new RegExp(String.raw`^\s*["']?${escape(key)}["']?\s*[:=]\s*(.+?),?\s*$`, 'im').exec(body)?.[1];
  if (found !== undefined) return `The ${key} in ${name} is **${found.replace(/^["'`]|["'`;]+$/g, '')}**.`;
  const lines = body.split('\n').filter((line) => line.toLowerCase().includes(key.toLowerCase()));
  if (lines.length === 0) return `${name} says nothing of "${key}".`;
  return [`In ${name} "${key}" stands here:`, '', '```', ...lines.slice(0, 10), '```'].join('\n');
}

function jsonValue(body: string, key: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== 'object' || value === null) return undefined;
    const entry = Object.entries(value).find(([name]) => name.toLowerCase() === key.toLowerCase());
    if (entry === undefined) return undefined;
    return typeof entry[1] === 'string' ? entry[1] : JSON.stringify(entry[1]);
  } catch {
    return undefined;
  }
}

export function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
