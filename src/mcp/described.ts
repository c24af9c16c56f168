import type { ToolDefinition } from '#domain/content.ts';
import type { Json } from '#lib/brand.ts';
import { readJson, updateJson } from '#lib/atomic.ts';
import { sha256 } from '#lib/hash.ts';

/** What tools looked like when the user let them run, so that a server that says something else later is asked about. */
export interface Described {
  /** The hash that was kept for a tool of a project. */
  known(project: string, tool: string): string | undefined;
  keep(project: string, tool: string, hash: string): void;
}

/** What the model is told of a tool, as a short hash. `original`: the server's own name for it. */
export function hashOf({ name, description, input_schema: schema }: Pick<ToolDefinition, 'name' | 'description' | 'input_schema'>, original = ''): string {
  return sha256(JSON.stringify([name, original, description ?? '', sorted(schema as Json)])).slice(0, 24);
}

/** A schema comes out of a log with its keys in the order in which they went in, and out of a server in any. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, sorted(one)]));
}

const MOST_KEPT = 4000;

export function createDescribed(file: string): Described {
  let kept: Map<string, string> | undefined;
  const read = (): Map<string, string> => {
    const stored = readJson(file);
    const tools = isFields(stored) && isFields(stored['tools']) ? stored['tools'] : {};
    return new Map(Object.entries(tools).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  };
  const keyOf = (project: string, tool: string): string => `${sha256(project).slice(0, 12)} ${tool}`;
  return {
    known: (project, tool) => (kept ??= read()).get(keyOf(project, tool)),
    keep(project, tool, hash) {
      const key = keyOf(project, tool);
      kept ??= read();
      if (kept.get(key) === hash) return;
      kept.set(key, hash);
      void updateJson(file, (now) => {
        const tools = isFields(now) && isFields(now['tools']) ? now['tools'] : {};
        const { [key]: _, ...others } = tools;
        return { ...(isFields(now) ? now : {}), tools: Object.fromEntries([...Object.entries(others), [key, hash] as const].slice(-MOST_KEPT)) };
      }).catch(() => undefined);
    },
  };
}

function isFields(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
