import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { CheckedFile, LanguageServerSetting } from '#domain/languages.ts';
import type { Session } from '#domain/session.ts';
import type { CallId } from '#domain/tool.ts';
import { createLanguages, type LanguageOptions, type Languages } from '#lsp/languages.ts';
import { touchOf } from '#tools/files/known.ts';
import { memoryBlobs, memorySession } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
export const BIN = join(REPOSITORY, 'node_modules', '.bin');
export const TSSERVER = join(REPOSITORY, 'node_modules/@vtsls/language-service/node_modules/typescript/lib/tsserver.js');
export const signal = new AbortController().signal;

export interface Workshop {
  readonly root: string;
  readonly session: Session;
  readonly languages: Languages;
  readonly notices: readonly string[];
  /** As the tool does: the file is given to the model. */
  read(name: string): void;
  /** As Edit and Write do. */
  write(name: string, text: string | Uint8Array): void;
  /** Somebody else changes it. */
  change(name: string, text: string): void;
  /** One moment. */
  moment(): Promise<readonly CheckedFile[]>;
  /** Moments until it fits. */
  until(fits: (files: readonly CheckedFile[]) => boolean): Promise<readonly CheckedFile[]>;
  /** The fresh reports of a file, `line severity message`. */
  fresh(files: readonly CheckedFile[], name?: string): readonly string[];
}

/** A folder with files, a session in it, and its language servers. `bins`: programs in its `node_modules/.bin`. */
export function workshop(files: Readonly<Record<string, string>>, more: Partial<LanguageOptions> & { readonly bins?: readonly string[]; readonly session?: Session; readonly root?: string; readonly blobs?: ReturnType<typeof memoryBlobs> } = {}): Workshop {
  const root = more.root ?? tempFolder(files);
  for (const bin of more.bins ?? []) {
    mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
    symlinkSync(join(BIN, bin), join(root, 'node_modules', '.bin', bin));
  }
  const session = more.session ?? memorySession();
  const blobs = more.blobs ?? memoryBlobs();
  const notices: string[] = [];
  const languages = createLanguages({
    project: root, cwd: root, roots: () => [root], trusted: () => true, configured: () => ({}), blobs, label: (path) => path.replace(`${root}/`, ''), denies: () => false,
    files: () => Promise.resolve([]), env: () => ({ PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: root }), onNotice: (text) => { notices.push(text); }, ...more,
  });
  onTestFinished(() => languages.close());
  const touch = (name: string, how: 'read' | 'write', tool: string): void => {
    const path = join(root, name);
    session.append({ type: 'toolResult', callId: 'c' as CallId, tool, result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: [touchOf(path, readFileSync(path), how, blobs)] } });
  };
  const moment = (): Promise<readonly CheckedFile[]> => languages.written(session.log, signal);
  return {
    root, session, languages, notices, moment,
    read: (name) => { touch(name, 'read', 'Read'); },
    write(name, text) {
      const path = join(root, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      touch(name, 'write', 'Write');
    },
    change: (name, text) => { writeFileSync(join(root, name), text); },
    async until(fits) {
      const end = Date.now() + 60_000;
      for (;;) {
        const found = await moment();
        if (fits(found)) return found;
        if (Date.now() > end) throw new Error(`never came true: ${JSON.stringify(found, undefined, 1).slice(0, 2000)}\n${(await languages.servers()).map(({ name, state, detail = '' }) => `${name} ${state} ${detail}\n${languages.log(name).slice(-15).join('\n')}`).join('\n')}`);
        await new Promise((resolve) => { setTimeout(resolve, 50); });
      }
    },
    fresh: (found, name) => found.filter(({ label }) => name === undefined || label === name).flatMap(({ label, reports }) => reports.filter(({ fresh }) => fresh).map(({ line, column, severity, message }) => `${label}:${line}:${column} ${severity} ${message}`)),
  };
}

/** A server of our own making that does what `how` says; see `hostile-server.mjs`. */
export function hostile(how: string, more: Partial<LanguageServerSetting> = {}): Readonly<Record<string, LanguageServerSetting>> {
  return { odd: { command: process.execPath, args: [join(REPOSITORY, 'test/lsp/hostile-server.mjs'), how], extensions: { '.odd': 'odd' }, env: {}, rootMarkers: [], ...more } };
}

/** Puts an executable file that does nothing into a folder. */
export function plant(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
}
