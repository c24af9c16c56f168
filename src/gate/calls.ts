import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { restore } from '#lib/defuse.ts';
import { foldName } from '#lib/within.ts';
import type { Call } from '#domain/tool.ts';
import { coversCommand, coversDomain, globMatch } from './match.ts';
import type { Places } from './places.ts';
import type { Rule, RuleList } from './rules.ts';

/** A text in a call's input. The input has not been checked, so it may be missing or something else. */
export function textIn(call: Call, ...keys: readonly string[]): string | undefined {
  const { input } = call;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  const fields = input as Readonly<Record<string, Json>>;
  for (const key of keys) {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (typeof value === 'string') return value;
  }
  return undefined;
}

function scalarIn({ input }: Call, key: string): string | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input) || !Object.hasOwn(input, key)) return undefined;
  const value = (input as Readonly<Record<string, Json>>)[key];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Whether a rule covers a call by the tool's name, a parameter, a domain or the like. Paths and commands are looked at elsewhere. */
export function coversCall(rule: Rule, list: RuleList, call: Call): boolean {
  if (!coversTool(rule.tool, call.tool)) return false;
  const { spec } = rule;
  if (spec === undefined) return true;
  if (rule.tool === 'WebFetch' && spec.startsWith('domain:')) return coversDomain(spec.slice('domain:'.length), textIn(call, 'url') ?? '');
  const parameter = list === 'allow' ? null : /^([A-Za-z_]\w*):(.+)$/.exec(spec);
  if (parameter !== null) {
    const value = scalarIn(call, parameter[1] ?? '');
    if (value !== undefined && globMatch(parameter[2] ?? '', value)) return true;
  }
  if (rule.tool === 'Skill') {
    const name = (textIn(call, 'skill', 'name', 'command') ?? '').trim().replace(/^\//, '');
    const whole = `${name} ${textIn(call, 'args', 'arguments') ?? ''}`.trim();
    // Whoever forbids a skill means it with any arguments.
    return list === 'allow' ? coversCommand(spec, [whole]) : coversCommand(spec.normalize('NFC'), [whole, name].map((text) => text.normalize('NFC')));
  }
  if (rule.tool === 'Task' || rule.tool === 'Agent') return globMatch(foldName(spec), foldName((textIn(call, 'subagent_type', 'agent') ?? '').trim()));
  return false;
}

/** `mcp__server` covers all its tools; `Agent` is another name of `Task`. */
export function coversTool(named: string, tool: string): boolean {
  if (named === tool || (named.includes('*') && globMatch(named, tool))) return true;
  if (named.startsWith('mcp__')) return tool.startsWith(`${named}__`);
  return (named === 'Agent' && tool === 'Task') || (named === 'Task' && tool === 'Agent');
}

/**
 * Every path that a file tool may take a written one for: as it stands, with the marks and escapes taken out with which names
 * are shown, and names in the same folder that differ in Unicode form only. The gate looks at all of them.
 */
export function spellingsOf(written: string, places: Places, cwd: string): readonly string[] {
  const plain = restore(written);
  const all = new Set([written, plain, unescaped(written), unescaped(plain)]);
  for (const each of Array.from(all)) {
    const { real, kind } = places.look(each, cwd);
    if (kind !== 'missing') continue;
    const name = basename(real).normalize('NFC');
    for (const twin of namesIn(dirname(real))) if (twin !== basename(real) && twin.normalize('NFC') === name) all.add(join(dirname(real), twin));
  }
  return [...all];
}

function unescaped(name: string): string {
  return name.replaceAll(/\\(?:u\{([0-9A-Fa-f]{1,6})\}|(["\\]))/g, (_, hex: string | undefined, plain: string | undefined) => plain ?? String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(hex ?? '0', 16))));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The folder at which a search begins: a pattern may itself begin with one. `elsewhere`: it climbs up behind a wildcard. */
export function searchStart(call: Call): { readonly path: string; readonly elsewhere: boolean } {
  const path = textIn(call, 'path') ?? '.';
  if (call.tool !== 'Glob') return { path, elsewhere: false };
  const steps = (textIn(call, 'pattern') ?? '').split('/');
  const magic = steps.findIndex((step) => /[*?[\]{}()!+@]/.test(step));
  const plain = magic < 0 ? steps.slice(0, -1) : steps.slice(0, magic);
  const base = plain.join('/');
  const rest = magic < 0 ? [] : steps.slice(magic);
  const from = base === '' && steps[0] === '' && steps.length > 1 ? '/' : base;
  return { path: from.startsWith('/') || from.startsWith('~') ? from : join(path, from), elsewhere: rest.some((step) => step.includes('..')) };
}
