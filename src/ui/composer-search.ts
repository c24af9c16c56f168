import { deleteLeft, EMPTY, type Editor, insert } from './editor.ts';

/** A search through what was entered before, under way. */
export interface Search {
  readonly query: string;
  /** Index of the line that is shown; undefined when none fits the query. */
  readonly found: number | undefined;
  /** The draft as it was, for cancel. */
  readonly draft: Editor;
}

/** Text typed on. A query finds lines that hold it, in any case, newest first. */
export function typeQuery(search: Search, history: readonly string[], text: string): Search {
  const query = (search.query + text).replace(/\s+/g, ' ');
  return { ...search, query, found: find(history, query, search.found ?? history.length - 1, -1) };
}

/** The query's last character taken away: the newest line that fits then. */
export function shortenQuery(search: Search, history: readonly string[]): Search {
  const query = deleteLeft(insert(EMPTY, search.query)).text;
  return { ...search, query, found: find(history, query, history.length - 1, -1) };
}

/** The next other line that fits, older (-1) or newer (1); where there is none, the one that is shown stays. */
export function stepSearch(search: Search, history: readonly string[], step: 1 | -1): Search {
  const shown = search.found === undefined ? undefined : history[search.found];
  const from = (search.found ?? history.length) + step;
  return { ...search, found: find(history, search.query, from, step, shown) ?? search.found };
}

function find(history: readonly string[], query: string, from: number, step: 1 | -1, not?: string): number | undefined {
  const wanted = query.toLowerCase();
  for (let index = from; index >= 0 && index < history.length; index += step) {
    const line = history[index] ?? '';
    if (line !== not && line.toLowerCase().includes(wanted)) return index;
  }
  return undefined;
}
