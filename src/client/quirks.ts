import { type Obj, objOf } from './json.ts';

/**
 * What a server will not take of a request, found out from its refusals: a field to leave out (`thinking.display`, `tools.strict`),
 * `beta:<name>`, `system-role`, `tool_reference` (tools that are loaded on demand), or `max_tokens:<limit>`.
 */
export type Quirk = string;

/** Remembers quirks by base URL and model, across runs where the owner likes. */
export interface QuirkStore {
  get(key: string): readonly Quirk[] | undefined;
  set(key: string, quirks: readonly Quirk[]): void;
}

const COMPLAINT = /extra inputs are not permitted|extra (fields?|inputs?) (are )?not|unknown|unrecogni[sz]ed|unexpected|not (currently )?(supported|allowed|permitted|enabled|available)|(does|do) not support|unsupported|additional propert|no longer supported|invalid (field|parameter|key)/i;
/** Fields that a request cannot do without. */
const NEEDED_OF_TOOL = new Set(['name', 'description', 'input_schema']);

/** The part of the request that a refusal (400 or 422) is about, if the request can do without it. */
export function quirkIn(words: string, body: Obj, betas: readonly string[]): Quirk | undefined {
  if (/anthropic-beta|beta header/i.test(words)) {
    const beta = betas.find((name) => words.includes(name)) ?? betas[0];
    return beta === undefined ? undefined : `beta:${beta}`;
  }
  const limit = /max_tokens: \d+ > (\d+)/.exec(words)?.[1];
  if (limit !== undefined) return `max_tokens:${limit}`;
  if (/\brole\b/i.test(words) && /system|'user' or 'assistant'/i.test(words) && hasSystemMessage(body)) return 'system-role';
  if (/input tag ['"`]tool_reference/i.test(words)) return 'tool_reference';
  // A search is the whole of its request, which cannot do without it.
  if (/web_search/.test(words) || !COMPLAINT.test(words)) return undefined;
  if (/defer_loading|tool_reference/.test(words) && !/tools\.\d+/.test(words)) return 'tool_reference';
  const tool = /tools\.\d+\.(?:custom\.)?([a-z_]+)/.exec(words)?.[1];
  if (tool !== undefined && tool !== 'cache_control') return NEEDED_OF_TOOL.has(tool) ? undefined : `tools.${tool}`;
  if (/cache_control|cache control/i.test(words)) return /\bttl\b/.test(words) ? 'cache_control.ttl' : 'cache_control';
  if (words.startsWith('messages.')) return undefined;
  if (/\bdisplay\b/.test(words) && objOf(body['thinking'])['display'] !== undefined) return 'thinking.display';
  if (/output_config|\beffort\b/i.test(words) && body['output_config'] !== undefined) return 'output_config';
  if (/\bthinking\b/i.test(words) && body['thinking'] !== undefined) return 'thinking';
  // Templates of local servers stumble over what they do not know without naming it.
  return /item type|content type|block type/i.test(words) && refersToTools(body) ? 'tool_reference' : undefined;
}

function refersToTools({ messages }: Obj): boolean {
  return JSON.stringify(messages ?? []).includes('"type":"tool_reference"');
}

function hasSystemMessage({ messages }: Obj): boolean {
  return Array.isArray(messages) && messages.some((message) => objOf(message)['role'] === 'system');
}

/** Quirks of this process, backed by a store. A store that throws costs the memory only. */
export function createQuirks(store: QuirkStore | undefined): { of(key: string): ReadonlySet<Quirk>; keep(key: string, quirks: ReadonlySet<Quirk>): void } {
  const known = new Map<string, ReadonlySet<Quirk>>();
  const stored = (key: string): readonly Quirk[] => {
    try { return store?.get(key) ?? []; } catch { return []; }
  };
  return {
    of(key) {
      const quirks = known.get(key) ?? new Set(stored(key));
      known.set(key, quirks);
      return quirks;
    },
    keep(key, quirks) {
      known.set(key, quirks);
      try { store?.set(key, [...quirks]); } catch { return; }
    },
  };
}
