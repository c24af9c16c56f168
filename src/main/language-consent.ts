import { dirname, join } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { createAgreed } from '#gate/agreed.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';

/** What the user has agreed to of the language servers that a trusted folder's own settings name, by content. */
export interface LanguageConsent {
  /** Names of those that do not start: they are new, or others than were agreed to. */
  held(): ReadonlySet<string>;
  /** Whether the user is to be asked about them. */
  pending(): boolean;
  agree(once: boolean): Promise<void>;
  refuse(): Promise<void>;
}

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const NONE: ReadonlySet<string> = new Set();

export function createLanguageConsent(place: Place, configuration: Configuration): LanguageConsent {
  const agreed = createAgreed(join(dirname(place.home.trust), 'language-servers.json'));
  let forNow: string | undefined;
  const ofFolder = (): readonly Fields[] => configuration.layers().flatMap(({ scope, take, fields }) => {
    const servers = fields['languageServers'];
    return (scope === 'project' || scope === 'local') && take === 'all' && isFields(servers) ? [servers] : [];
  });
  const content = (): string => JSON.stringify(ofFolder());
  const isHeld = (): boolean => ofFolder().length > 0 && content() !== forNow && !agreed.has(configuration.project, content());
  const refusal = (): string => `refused ${content()}`;
  return {
    held: () => (isHeld() ? new Set(ofFolder().flatMap((servers) => Object.keys(servers))) : NONE),
    pending: () => configuration.isTrusted() && isHeld() && !agreed.has(configuration.project, refusal()),
    async agree(once) {
      forNow = content();
      if (!once && ofFolder().length > 0) await agreed.remember(configuration.project, forNow);
    },
    refuse: () => agreed.remember(configuration.project, refusal()),
  };
}
