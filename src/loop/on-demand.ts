import type { ToolDefinition } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import { loadedToolsOf } from '#domain/folds.ts';
import { repaired } from './repair.ts';

const NONE: ReadonlySet<string> = new Set();

/**
 * The tools of a request: those of its head, then those that were loaded on demand, which stand outside what caches and
 * thinking are bound to until a result refers to them. No request may hold deferred tools only.
 */
export function toolsOf(head: readonly ToolDefinition[], log: readonly Entry[]): readonly ToolDefinition[] {
  if (head.length === 0) return head;
  const named = new Set(head.map(({ name }) => name));
  const loaded = loadedToolsOf(log).filter(({ name }) => !named.has(name)).map((tool): ToolDefinition => ({ ...repaired(tool), defer_loading: true }));
  return loaded.length === 0 ? repaired(head) : [...repaired(head), ...loaded];
}

/** Names that results may refer to. */
export function deferredIn(tools: readonly ToolDefinition[]): ReadonlySet<string> {
  const names = tools.flatMap(({ name, defer_loading: deferred }) => (deferred === true ? [name] : []));
  return names.length === 0 ? NONE : new Set(names);
}
