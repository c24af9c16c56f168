import type { Json } from '#lib/brand.ts';
import type { PositionEncoding } from './positions.ts';

/** What we can do, as servers are told. */
export const CLIENT_CAPABILITIES = {
  general: { positionEncodings: ['utf-16', 'utf-8'] },
  workspace: {
    configuration: true, workspaceFolders: true, symbol: {}, didChangeWatchedFiles: { dynamicRegistration: true, relativePatternSupport: true },
    diagnostics: { refreshSupport: true }, didChangeConfiguration: { dynamicRegistration: true },
  },
  textDocument: {
    synchronization: { didSave: true, dynamicRegistration: false },
    publishDiagnostics: { versionSupport: true, relatedInformation: false },
    diagnostic: { dynamicRegistration: true, relatedDocumentSupport: false },
    definition: { linkSupport: true }, typeDefinition: { linkSupport: true }, implementation: { linkSupport: true }, references: {},
    hover: { contentFormat: ['markdown', 'plaintext'] },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true }, callHierarchy: {},
  },
  window: { workDoneProgress: true },
} as const;

/** What a server can do, as far as we ask for it. */
export interface Capabilities {
  readonly encoding: PositionEncoding;
  /** How changes are told: not at all, whole texts, or ranges. */
  readonly sync: 'none' | 'full' | 'incremental';
  readonly save: boolean;
  /** It answers when it is asked what it has to say of a file, rather than saying so unasked. */
  readonly pull: boolean;
  has(provider: string): boolean;
}

type Fields = Readonly<Record<string, Json>>;
export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Never throws: a server that says nonsense of itself can do little. */
export function capabilitiesOf(result: unknown): Capabilities {
  const told = isFields(result) && isFields(result['capabilities']) ? result['capabilities'] : {};
  const sync = told['textDocumentSync'];
  const change = isFields(sync) ? sync['change'] : sync;
  return {
    encoding: told['positionEncoding'] === 'utf-8' ? 'utf-8' : 'utf-16',
    sync: change === 2 ? 'incremental' : change === 1 ? 'full' : 'none',
    save: isFields(sync) ? sync['save'] !== undefined && sync['save'] !== false : true,
    pull: isFields(told['diagnosticProvider']),
    has: (provider) => told[provider] !== undefined && told[provider] !== false && told[provider] !== null,
  };
}
