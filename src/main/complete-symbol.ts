import { relative } from 'node:path';
import type { LanguagePort, Symbol } from '#domain/languages.ts';
import { onOneLine } from '#domain/task-words.ts';
import { oneLine } from '#lib/names.ts';
import type { MentionCompletion } from '#mentions/complete.ts';
import { mentionText } from '#mentions/quote.ts';

const MOST = 8;
/** Longer than this nothing that is typed waits for a server. */
const WAIT_MS = 50;
const NAME = /^[\p{L}_$][\p{L}\p{N}_$]+$/u;

type Symbols = Pick<LanguagePort, 'symbols'>;

interface Asked {
  readonly typed: string;
  readonly found: Promise<readonly Symbol[]>;
}

/** What was asked last: an answer that came too late is there when the same is asked again. */
const lately = new WeakMap<Symbols, Asked>();

/**
 * Names that the project's programs define, as mentions of the lines where they stand; none while no server is at work. `more`:
 * a server has not answered yet, ask again.
 */
export async function completeSymbol(languages: Symbols, cwd: string, typed: string): Promise<{ readonly items: readonly MentionCompletion[]; readonly more: boolean }> {
  if (!NAME.test(typed)) return { items: [], more: false };
  const last = lately.get(languages);
  const asked = last?.typed === typed ? last : { typed, found: languages.symbols(typed, new AbortController().signal).catch(() => []) };
  lately.set(languages, asked);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => { timer = setTimeout(() => { resolve(undefined); }, WAIT_MS); });
  const found = await Promise.race([asked.found, late]);
  clearTimeout(timer);
  // Once answered it is asked anew the next time: code changes.
  if (found !== undefined && lately.get(languages) === asked) lately.delete(languages);
  return { items: (found ?? []).flatMap((symbol) => completionOf(symbol, cwd)).slice(0, MOST), more: found === undefined };
}

function completionOf({ name, kind, path, line, toLine, container }: Symbol, cwd: string): readonly MentionCompletion[] {
  const place = relative(cwd, path);
  const text = place.startsWith('..') ? undefined : mentionText(place);
  if (text === undefined) return [];
  const within = container === undefined ? '' : ` in ${onOneLine(container, 40)}`;
  return [{ insert: `${text}#${line}${toLine > line ? `-${toLine}` : ''}`, label: `${onOneLine(name, 60)}  ${kind}${within}  ${oneLine(place)}:${line}` }];
}
