import type { EditorDiagnostics } from '#domain/editor.ts';
import { absent, type World } from '#domain/world.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import { count } from '#lib/text.ts';
import { defineSource } from '../define.ts';
import { EDITOR, fileKey, toldByEditor, toldByServers, toldKey } from '../diagnosed.ts';
import { pathLine } from '../words.ts';

const MOST_TOLD = 20;
const LONGEST_MESSAGE = 300;
/** UTF-16 units of a message by which it is told from others. */
const COMPARED = 2000;
/** Milliseconds that a look takes at most, and that it waits for what the language servers have checked. */
const LOOK_MS = 2500;
const SERVERS_MS = 2000;

type Problem = EditorDiagnostics['diagnostics'][number] & { readonly key: string };

interface News {
  readonly editor: string;
  readonly fresh: readonly Problem[];
  /** Those that there was no room for; they are told at the next moment. */
  readonly left: number;
  /** Keys of what was told and is not there any more, with the files that they were in. */
  readonly gone: ReadonlyMap<string, string>;
}

const RANK = { error: 0, warning: 1, info: 2, hint: 3 } as const;

/** What the user's editor says of files that our tools wrote and that was not there before, each once; and what of it is gone. */
export default defineSource<News>({
  id: EDITOR, on: ['prompt', 'step'], threads: 'main', cadence: 'always', limits: { ms: LOOK_MS, tokens: 2000 },
  async observe(world, signal) {
    const { editor } = world.outside;
    const name = editor.name();
    if (name === undefined) return absent;
    const [now, checked] = await Promise.all([editor.written(world.log, signal), checkedByServers(world, signal)]);
    const told = toldByEditor(world.log);
    const mine = new Set(told.values());
    const all = withKeys([...now.diagnostics, ...now.before ?? []]);
    const known = all.slice(0, now.diagnostics.length).filter(({ path, severity }) => (mine.has(fileKey(path)) || !checked.has(path)) && severity !== 'hint');
    const fresh = known.filter(({ key }) => !told.has(key)).sort((a, b) => RANK[a.severity] - RANK[b.severity]);
    const here = new Set(all.map(({ key }) => key));
    const answered = new Set(now.answered.map((path) => fileKey(path)));
    const gone = new Map([...told].filter(([key, file]) => answered.has(file) && !here.has(key)));
    return fresh.length === 0 && gone.size === 0 ? absent : { editor: name, fresh: fresh.slice(0, MOST_TOLD), left: Math.max(0, fresh.length - MOST_TOLD), gone };
  },
  keep: ({ fresh, gone }) => ({ told: fresh.map(({ path, key }) => toldKey(path, key)), gone: [...gone.keys()] }),
  revive: () => undefined,
  full: words,
});

/** Each problem by a short hash. Not by its line, which moves: the second of the same words in a file is the second. */
function withKeys(diagnostics: EditorDiagnostics['diagnostics']): readonly Problem[] {
  const times = new Map<string, number>();
  return diagnostics.map((one) => {
    const { path, severity, source = '', code = '', message } = one;
    const words = JSON.stringify([path, severity, source, code, message.slice(0, COMPARED)]);
    times.set(words, (times.get(words) ?? 0) + 1);
    return { ...one, key: sha256(`${words}${times.get(words) ?? 0}`).slice(0, 12) };
  });
}

/** Of these files our own language servers tell, or have told: one voice for each. */
async function checkedByServers({ outside, log }: World, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(SERVERS_MS)]);
  const files = await Promise.race([
    outside.languages.written(log, limit).catch(() => []),
    new Promise<readonly never[]>((resolve) => { limit.addEventListener('abort', () => { resolve([]); }, { once: true }); }),
  ]);
  return new Set([...files.map(({ path }) => path), ...toldByServers(log).keys()]);
}

function words({ editor, fresh, left, gone }: News): string {
  const files = [...new Set(fresh.map(({ label }) => label))];
  const problems = files.flatMap((file) => [pathLine(file), ...fresh.filter(({ label }) => label === file).map(problemLine)]);
  const more = left > 0 ? [`(${count(left, 'more problem')} left out here)`] : [];
  return [
    ...(fresh.length === 0 ? [] : [`${oneLine(editor, 40)} reports in files that were written, and did not before:`, ...problems, ...more]),
    ...(gone.size === 0 ? [] : [`${oneLine(editor, 40)} does not report ${count(gone.size, 'problem')} any more that it had reported after an edit.`]),
  ].join('\n');
}

function problemLine({ line, column, severity, source, code, message }: Problem): string {
  const origin = [source, code].filter((part) => part !== undefined).join(' ');
  return `  ${line}:${column} ${severity}${origin === '' ? '' : ` (${oneLine(origin, 60)})`}: ${oneLine(message.slice(0, COMPARED).replace(/\s+/g, ' '), LONGEST_MESSAGE)}`;
}
