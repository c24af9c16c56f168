import type { Json } from '#lib/brand.ts';
import { readJson, updateJson } from '#lib/atomic.ts';
import { sha256 } from '#lib/hash.ts';
import type { McpServerConfig } from '#domain/mcp.ts';
import { isFields } from './parse.ts';

/** Approvals are kept by project (real path) and by what a server is, so that a change of it asks again. */
export type Decision = 'given' | 'refused';

/**
 * What an approval is bound to: the name and all that decides what runs, where requests go and what they carry, as it is
 * written (variables not put in). 64 hex digits.
 */
export function serverHash(name: string, config: McpServerConfig): string {
  const what: Json = config.type === 'stdio'
    ? [name, config.type, config.command, [...config.args], pairs(config.env)]
    : [name, config.type, config.url, pairs(config.headers), config.headersHelper ?? null, pairs({ ...config.oauth })];
  return sha256(JSON.stringify(what));
}

const pairs = (fields: Readonly<Record<string, string | number>>): Json => Object.entries(fields).map(([key, value]): Json => [key, value]).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** Decisions on a project's servers, by hash. A file that cannot be read approves nothing. */
export function readDecisions(file: string, project: string): ReadonlyMap<string, Decision> {
  const stored = readJson(file);
  const projects = isFields(stored) && isFields(stored['projects']) ? stored['projects'] : {};
  const kept = Object.hasOwn(projects, project) ? projects[project] : undefined;
  return new Map(Object.entries(isFields(kept) ? kept : {}).flatMap(([hash, entry]): [string, Decision][] => {
    const decision = isFields(entry) ? entry['decision'] : undefined;
    return decision === 'given' || decision === 'refused' ? [[hash, decision]] : [];
  }));
}

/** Keeps a decision, in place of an earlier one on the same content. */
export async function keepDecision(file: string, project: string, server: { readonly name: string; readonly config: McpServerConfig }, decision: Decision): Promise<void> {
  await updateJson(file, (now) => {
    const all = isFields(now) && isFields(now['projects']) ? now['projects'] : {};
    const old = Object.hasOwn(all, project) && isFields(all[project]) ? all[project] : {};
    const entry: Json = { name: server.name, decision, at: new Date().toISOString() };
    return { ...(isFields(now) ? now : {}), projects: { ...all, [project]: { ...old, [serverHash(server.name, server.config)]: entry } } };
  });
}
