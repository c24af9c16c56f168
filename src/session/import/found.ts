import type { Json } from '#lib/brand.ts';

/** A text that becomes a file of ours: `name` is its path below the folder of its kind. */
export interface ImportedDocument {
  readonly kind: 'commands' | 'agents';
  readonly name: string;
  readonly text: string;
  readonly from: string;
}

export interface ImportedServer {
  readonly name: string;
  /** As an entry of `mcpServers`. Secrets are not in it, but `${NAME}` in their place. */
  readonly config: Readonly<Record<string, Json>>;
  readonly from: string;
  /** Variables that must be set for it, where a secret was left behind. */
  readonly secrets: readonly string[];
}

/** What another shell's files hold that can be ours, and what cannot. */
export interface Found {
  /** Files that were read. */
  readonly files: readonly string[];
  readonly settings: readonly { readonly key: string; readonly value: Json; readonly from: string }[];
  readonly rules: readonly { readonly list: 'allow' | 'ask' | 'deny'; readonly rule: string; readonly from: string }[];
  readonly servers: readonly ImportedServer[];
  readonly documents: readonly ImportedDocument[];
  /** What cannot be carried over, and why, each on one line. */
  readonly left: readonly string[];
  /** What need not be carried over, each on one line. */
  readonly anyway: readonly string[];
}

/** Where another shell keeps its things. */
export interface ImportPlace {
  readonly userHome: string;
  readonly env: Readonly<Record<string, string>>;
  /** The repository whose files are meant; undefined: the user's own. */
  readonly project: string | undefined;
  /** The user's own instructions for every project. */
  readonly memory: string;
}

export interface Importer {
  /** As it is typed. */
  readonly id: string;
  readonly label: string;
  /** Undefined: it has left nothing here. Never throws for files that are missing or damaged: those are in `left`. */
  read(place: ImportPlace): Promise<Found | undefined>;
}

export interface Finding {
  readonly files: string[];
  readonly settings: Found['settings'][number][];
  readonly rules: Found['rules'][number][];
  readonly servers: ImportedServer[];
  readonly documents: ImportedDocument[];
  readonly left: string[];
  readonly anyway: string[];
}

export function finding(): Finding {
  return { files: [], settings: [], rules: [], servers: [], documents: [], left: [], anyway: [] };
}

/** Undefined where no file was found. */
export function foundIn(found: Finding): Found | undefined {
  return found.files.length === 0 && found.anyway.length === 0 ? undefined : { ...found, rules: unique(found.rules) };
}

function unique(rules: Found['rules']): Found['rules'] {
  const seen = new Set<string>();
  return rules.filter(({ list, rule }) => !seen.has(`${list} ${rule}`) && seen.add(`${list} ${rule}`));
}
