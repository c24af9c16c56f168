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

/** Names that the project's programs define, as mentions of the lines where they stand; none while no server is at work. */
export async function completeSymbol(languages: Pick<LanguagePort, 'symbols'>, cwd: string, typed: string): Promise<readonly MentionCompletion[]> {
  if (!NAME.test(typed)) return [];
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<readonly Symbol[]>((resolve) => {
    timer = setTimeout(() => {
      resolve([]);
      late.abort(new Error('too late'));
    }, WAIT_MS);
  });
  const found = await Promise.race([languages.symbols(typed, late.signal).catch(() => []), passed]);
  clearTimeout(timer);
  return found.flatMap((symbol) => completionOf(symbol, cwd)).slice(0, MOST);
}

function completionOf({ name, kind, path, line, toLine, container }: Symbol, cwd: string): readonly MentionCompletion[] {
  const place = relative(cwd, path);
  const text = place.startsWith('..') ? undefined : mentionText(place);
  if (text === undefined) return [];
  const within = container === undefined ? '' : ` in ${onOneLine(container, 40)}`;
  return [{ insert: `${text}#${line}${toLine > line ? `-${toLine}` : ''}`, label: `${onOneLine(name, 60)}  ${kind}${within}  ${oneLine(place)}:${line}` }];
}
