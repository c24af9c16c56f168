import { oneLine } from '#lib/names.ts';
import { agentMention } from './agents.ts';
import type { Found } from './index-core.ts';
import { mentionText } from './quote.ts';

/** One line of the popup. `insert` takes the place of the word being typed, its `@` included. */
export interface MentionCompletion {
  readonly insert: string;
  readonly label: string;
  /** A directory: typing goes on behind it. */
  readonly more?: boolean;
}

const MOST = 50;
/** Agents stand before files only where few of them fit. */
const MOST_AGENTS = 5;

/** Agents whose name, or `agent-` and name, begins with what is typed behind an `@`. Nothing typed names none. */
export function completeAgent(names: readonly string[], typed: string): readonly MentionCompletion[] {
  const start = typed.toLowerCase();
  if (start === '' || start.startsWith('"')) return [];
  const fitting = names.filter((name) => `agent-${name.toLowerCase()}`.startsWith(start) || name.toLowerCase().startsWith(start));
  return fitting.slice(0, start.startsWith('agent-') ? MOST : MOST_AGENTS).map((name) => ({ insert: agentMention(name), label: oneLine(agentMention(name)) }));
}

/** Servers whose name begins with what is typed behind an `@`, and behind `server:` the resources that fit, those first that begin so. */
export function completeResource(resources: readonly { readonly server: string; readonly uri: string; readonly name: string }[], typed: string): readonly MentionCompletion[] {
  const start = (typed.startsWith('"') ? typed.slice(1) : typed).toLowerCase();
  if (start === '') return [];
  const names = [...new Set(resources.map(({ server }) => server))];
  const server = names.find((name) => start.startsWith(`${name.toLowerCase()}:`));
  if (server === undefined) return names.filter((name) => name.toLowerCase().startsWith(start)).slice(0, MOST_AGENTS).map((name) => ({ insert: `@${/\s/.test(name) ? '"' : ''}${name}:`, label: oneLine(`@${name}:`), more: true }));
  const wanted = start.slice(server.length + 1);
  const own = resources.filter((one) => one.server === server);
  const first = own.filter(({ uri }) => uri.toLowerCase().startsWith(wanted));
  const others = own.filter((one) => !first.includes(one) && `${one.uri} ${one.name}`.toLowerCase().includes(wanted));
  return [...first, ...others].slice(0, MOST).flatMap(({ uri, name }): readonly MentionCompletion[] => {
    const text = `${server}:${uri}`;
    if (/["\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) return [];
    return [{ insert: /[\s\\]/.test(text) ? `@"${text}"` : `@${text}`, label: oneLine(name === uri ? text : `${text} (${name})`) }];
  });
}

/**
 * Files and directories for what is typed behind an `@` (which may begin with a quote), best first. `more` tells that
 * there are further matches or that the index is still being made. Names that no typed text can mention are left out.
 */
export async function completeMention(index: { search(query: string, limit: number): Promise<Found> }, typed: string): Promise<{ readonly items: readonly MentionCompletion[]; readonly more: boolean }> {
  const quoted = typed.startsWith('"');
  const query = quoted ? typed.slice(1) : typed.replace(/\\([^\p{L}\p{N}])/gu, '$1');
  const { items, more } = await index.search(query, MOST);
  return { items: items.flatMap(({ path, directory }) => completion(path, directory)), more };
}

function completion(path: string, directory: boolean): readonly MentionCompletion[] {
  const shown = directory ? `${path}/` : path;
  const text = mentionText(shown);
  if (text === undefined) return [];
  return [directory ? { insert: text.replace(/"$/, ''), label: oneLine(shown), more: true } : { insert: text, label: oneLine(shown) }];
}
