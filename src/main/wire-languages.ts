import type { Entry } from '#domain/entry.ts';
import type { CheckedFile, LanguagePort } from '#domain/languages.ts';
import type { BlobPort } from '#domain/ports.ts';
import type { Paths } from '#gate/paths.ts';
import type { Languages } from '#lsp/languages.ts';
import { createGuard, type Guard } from '#tools/shell/guard.ts';
import type { Configuration } from './configuration.ts';
import { createLanguageConsent, type LanguageConsent } from './language-consent.ts';
import type { Place } from './place.ts';

export interface LanguageWing extends LanguagePort {
  readonly consent: LanguageConsent;
  /** From now on servers may start: the question of trust is answered. */
  start(): void;
  close(): void;
}

export interface LanguageOptions {
  readonly place: Place;
  readonly configuration: Configuration;
  readonly blobs: BlobPort;
  readonly paths: () => Paths;
  /** Files below the start directory that are not ignored, relative to it. */
  readonly files: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly onNotice: (text: string) => void;
  /** `--trust`: what the folder has now is agreed to for this run. */
  readonly trusts: boolean;
}

/** Variables that are ours alone: a server runs what a project brings along. */
const OURS = /^(?:ANTHROPIC_|PINION_|CLAUDE_)/i;

/** Language servers, each started when a file of its language is first of interest; nothing of the wing is loaded before. */
export function wireLanguages(options: LanguageOptions): LanguageWing {
  const { place, configuration } = options;
  const consent = createLanguageConsent(place, configuration);
  configuration.whenBelieved((once) => consent.agree(once));
  let started = false;
  let closed = false;
  let made: Promise<Languages> | undefined;
  let languages: Languages | undefined;
  let guard: Guard | undefined;
  const wing = async (): Promise<Languages> => {
    made ??= import('#lsp/languages.ts').then(({ createLanguages }) => {
      languages = createLanguages({
        project: configuration.project, cwd: place.cwd, roots: () => configuration.roots(), trusted: () => configuration.isTrusted(), configured: () => configuration.settings().languageServers, held: consent.held,
        blobs: options.blobs, files: options.files, onNotice: options.onNotice,
        label: (path) => options.paths().look(path, place.cwd).label, denies: (path) => options.paths().denies(path),
        env: () => Object.fromEntries(Object.entries({ ...place.env, ...configuration.settings().env }).filter(([name]) => !OURS.test(name))),
        guard: () => (guard ??= createGuard()),
      });
      return languages;
    });
    return await made;
  };
  const ready = (): boolean => started && !closed;
  // Several sources ask at a moment: they are to hear the same, or two would speak of one file.
  let asked: { readonly log: readonly Entry[]; readonly length: number; readonly answer: Promise<readonly CheckedFile[]> } | undefined;
  const look = (of: Languages, log: readonly Entry[], signal: AbortSignal): Promise<readonly CheckedFile[]> => {
    if (asked?.log === log && asked.length === log.length) return asked.answer;
    const mine = { log, length: log.length, answer: of.written(log, signal).finally(() => { if (asked === mine) asked = undefined; }) };
    asked = mine;
    return mine.answer;
  };
  return {
    consent,
    start() {
      if (options.trusts) void consent.agree(true);
      else if (!started && consent.pending()) options.onNotice('Language servers of this folder\'s settings are new or changed since you agreed, and do not start. In a terminal, /lsp trust agrees; --trust does for one run.');
      started = true;
    },
    async written(log, signal) {
      if (!ready() || !log.some((entry) => entry.type === 'toolResult' && (entry.result.files?.length ?? 0) > 0)) return [];
      if (languages !== undefined) return look(languages, log, signal);
      // The first time there is nothing to be said yet: no moment waits until the wing is loaded.
      void wing().then((loaded) => loaded.written(log, signal)).catch(() => undefined);
      return [];
    },
    ask: async (question, signal) => (ready() ? (await wing()).ask(question, signal) : { kind: 'problem', problem: 'Language servers are not to be had yet.' }),
    symbols: async (query, signal) => await languages?.symbols(query, signal) ?? [],
    servers: async () => await (await wing()).servers(),
    log: (server) => languages?.log(server) ?? [],
    restart: (server) => languages?.restart(server) ?? 'No language server was started.',
    close() {
      closed = true;
      void languages?.close().finally(() => { guard?.close(); });
      if (languages === undefined) guard?.close();
    },
  };
}
