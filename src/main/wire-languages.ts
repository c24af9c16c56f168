import type { LanguagesView, Symbol } from '#domain/languages.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';

export interface LanguageWing extends LanguagesView {
  /** Names that the project's programs define, the likeliest first; none while no server is at work. */
  symbols(query: string, signal: AbortSignal): Promise<readonly Symbol[]>;
  close(): void;
}

/** Language servers, each started when a file of its language is first of interest. */
export function wireLanguages(_place: Place, _configuration: Configuration, _onNotice: (text: string) => void): LanguageWing {
  return { written: () => Promise.resolve({ diagnostics: [], checked: [] }), symbols: () => Promise.resolve([]), close: () => undefined };
}
