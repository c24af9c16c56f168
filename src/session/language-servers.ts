import type { LanguageServerSetting } from '#domain/languages.ts';
import type { Json } from '#lib/brand.ts';

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (value: Json | undefined): value is readonly string[] => Array.isArray(value) && value.every((item) => typeof item === 'string');
const isNamed = (value: Json | undefined): value is Readonly<Record<string, string>> => isFields(value) && Object.values(value).every((item) => typeof item === 'string');

/** The setting `languageServers`: by name `false`, or how a server is started. `wrong` hears of each that cannot be used: its key, and what it must be. */
export function languageServersIn(value: Json | undefined, wrong: (key: string, wanted: string) => void): Readonly<Record<string, LanguageServerSetting | false>> {
  if (value === undefined) return {};
  if (!isFields(value)) {
    wrong('languageServers', 'an object with a server by each name');
    return {};
  }
  return Object.fromEntries(Object.entries(value).flatMap(([name, one]): [string, LanguageServerSetting | false][] => {
    const server = one === false ? false : serverIn(one);
    if (typeof server !== 'string') return [[name, server]];
    wrong(`languageServers.${name}`, server);
    return [];
  }));
}

/** A text: what it must be. */
function serverIn(one: Json): LanguageServerSetting | string {
  if (!isFields(one) || typeof one['command'] !== 'string' || one['command'].trim() === '') return 'false, or an object with a "command" and its "extensions"';
  const { command, args = [], env = {}, rootMarkers = [] } = one;
  const extensions = extensionsIn(one['extensions'] ?? one['extensionToLanguage']);
  if (extensions === undefined) return 'an object whose "extensions" is a list of endings ([".ts"]) or gives each its language ({".ts": "typescript"})';
  if (!isTexts(args)) return 'an object whose "args" is a list of texts';
  if (!isNamed(env)) return 'an object whose "env" is an object of texts';
  if (!isTexts(rootMarkers)) return 'an object whose "rootMarkers" is a list of file names';
  return {
    command, args, env, rootMarkers, extensions,
    ...(one['initializationOptions'] !== undefined && { initializationOptions: one['initializationOptions'] }), ...(one['settings'] !== undefined && { settings: one['settings'] }),
  };
}

/** Where no language is named it is called as the ending is. */
function extensionsIn(value: Json | undefined): Readonly<Record<string, string>> | undefined {
  const pairs = isTexts(value) ? value.map((ending) => [ending, ending.replace(/^\./, '')] as const) : isNamed(value) ? Object.entries(value) : [];
  const good = pairs.filter(([ending, language]) => /^\.?[^./\\\s]+$/.test(ending) && language !== '');
  return good.length === 0 || good.length < pairs.length ? undefined : Object.fromEntries(good.map(([ending, language]) => [`.${ending.replace(/^\./, '').toLowerCase()}`, language]));
}
