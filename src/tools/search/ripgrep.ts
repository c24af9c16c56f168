import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import { boundedProgram } from '#lib/bounded-program.ts';
import { nameFromBytes } from '#lib/names.ts';
import { type Fits, globOf } from './globs.ts';
import { type Hit, LONGEST_LINE, type Query, SearchError, shortLine } from './query.ts';

/** The ripgrep of the optional package, else that of the search path, else undefined. */
export async function findRipgrep(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const packaged = await import('@vscode/ripgrep').then(({ rgPath }) => rgPath, () => undefined);
  const places = [packaged, ...(env['PATH'] ?? '').split(delimiter).filter(isAbsolute).map((folder) => join(folder, process.platform === 'win32' ? 'rg.exe' : 'rg'))];
  for (const place of places) if (place !== undefined && await isProgram(place)) return place;
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(() => true, () => false);
}

/** No configuration, no preprocessors, no rules but those of .gitignore: the same everywhere. */
const FIXED = ['--no-config', '--hidden', '--no-ignore-global', '--no-ignore-exclude', '--no-ignore-dot',
  '--color=never', '--no-heading', '--with-filename', '--line-number', '--null', '--no-messages', '--no-context-separator', '--sort=path', '--engine=auto', '--crlf', '--no-mmap'];

function argumentsOf(query: Query): string[] {
  // To ripgrep `[id]` is never a name, and a type does not count beside a glob; what is too much is sorted out afterwards.
  const glob = query.glob !== undefined && /[[\]\\]/.test(query.glob) ? undefined : query.glob;
  const names = query.glob === undefined ? query.names : undefined;
  return [
    ...FIXED,
    // Without a look at the folders above, ripgrep does not know that it is in a repository.
    ...(query.above.inRepository && !query.above.overruled ? [] : ['--no-require-git']), ...(query.above.overruled ? ['--no-ignore-parent'] : []),
    ...(query.ignoreCase ? ['--ignore-case'] : []),
    ...(query.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(query.mode === 'content' ? [`--before-context=${query.before}`, `--after-context=${query.after}`] : [query.mode === 'count' ? '--count' : '--files-with-matches']),
    ...(names ?? []).map((name) => `--type-add=asked:${name}`), ...(names === undefined ? [] : ['--type=asked']),
    ...(glob === undefined ? [] : [`--glob=${glob}`]), '--glob=!.git',
    `--regexp=${query.pattern}`, '--', query.file === undefined ? './' : `./${query.file}`,
  ];
}

/** Searches with ripgrep. Ends it when the signal aborts or nobody asks for more. Throws {@link SearchError}. */
export async function* searchWithRipgrep(program: string, query: Query, signal: AbortSignal): AsyncGenerator<Hit> {
  const child = spawn(...boundedProgram(program, argumentsOf(query)), { cwd: query.root, env: {}, stdio: ['ignore', 'pipe', 'pipe'], signal });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => { if (complaint.length < 4000) complaint += chunk.toString(); });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  ended.catch(() => undefined);
  let found = false;
  const wanted = wantedBy(query);
  try {
    const parse = query.mode === 'files_with_matches' ? parseFiles() : parseLines(query.mode);
    for await (const chunk of child.stdout) {
      for (const hit of parse(chunk as Buffer)) {
        found = true;
        if (wanted(hit.path)) yield hit;
      }
    }
    const code = await ended;
    // Code 2 with hits: some file could not be read, which is no reason to hold back the others.
    if (code === 2 && !found && complaint !== '') throw new SearchError(reasonOf(complaint));
    if (code === null && !signal.aborted) throw new SearchError('the search program was ended from outside, or ran out of memory (is a .gitignore here no regular file?)');
  } finally {
    child.kill('SIGKILL');
  }
}

function wantedBy({ file, filter, names }: Query): Fits {
  const fits = names?.map(globOf);
  return (path) => file !== undefined || (filter(path, false) !== 'out' && (fits === undefined || fits.some((one) => one(basename(path)))));
}

/** What is wrong with a pattern stands in the last line. */
function reasonOf(complaint: string): string {
  const lines = complaint.trim().split('\n').filter((line) => line.trim() !== '');
  return (lines.findLast((line) => line.startsWith('error:')) ?? lines.at(-1) ?? 'it cannot be read').replace(/^(?:rg: )?(?:error: )?/, '');
}

function pathOf(bytes: Buffer): string {
  return nameFromBytes(bytes).replace(/^\.\//, '');
}

function parseFiles(): (chunk: Buffer) => Hit[] {
  let waiting: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const hits: Hit[] = [];
    let data = Buffer.concat([waiting, chunk]);
    for (let end = data.indexOf(0); end !== -1; end = data.indexOf(0)) {
      hits.push({ path: pathOf(data.subarray(0, end)), line: 0, text: '', isMatch: true });
      data = data.subarray(end + 1);
    }
    waiting = data;
    return hits;
  };
}

/** `path NUL 12:text` for a line that fits, `path NUL 12-text` for one around it, `path NUL 12` for a count. Of long lines only the beginning is kept. */
function parseLines(mode: Query['mode']): (chunk: Buffer) => Hit[] {
  const most = LONGEST_LINE * 4 + 32;
  let path: Buffer | undefined;
  let waiting: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const hits: Hit[] = [];
    let data = chunk;
    while (data.length > 0) {
      const end = data.indexOf(path === undefined ? 0 : 10);
      const piece = end === -1 ? data : data.subarray(0, end);
      if (waiting.length < most) waiting = Buffer.concat([waiting, piece]);
      data = end === -1 ? Buffer.alloc(0) : data.subarray(end + 1);
      if (end === -1) break;
      if (path === undefined) path = waiting;
      else {
        hits.push(hitOf(path, waiting.toString('utf8'), mode));
        path = undefined;
      }
      waiting = Buffer.alloc(0);
    }
    return hits;
  };
}

function hitOf(path: Buffer, rest: string, mode: Query['mode']): Hit {
  const [, line = '0', mark = ':', text = ''] = /^(\d+)([:-]?)(.*)$/s.exec(rest) ?? [];
  return { path: pathOf(path), line: Number(line), text: mode === 'count' ? '' : shortLine(text), isMatch: mark !== '-' };
}
