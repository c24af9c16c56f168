import * as z from 'zod';
import type { Json } from '#lib/brand.ts';
import { sha256 } from '#lib/hash.ts';
import { oneLine } from '#lib/names.ts';
import type { HookEvent } from '#domain/hooks.ts';
import { type HookType, isServed, ruleOf, whyUnserved } from './events.ts';
import { type Matcher, matcherOf } from './match.ts';

const seconds = z.number().positive().max(86_400);
const common = { if: z.string().optional(), timeout: seconds.optional(), statusMessage: z.string().optional(), once: z.boolean().optional() };
const texts = z.record(z.string(), z.string());

const handler = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('command'), command: z.string().trim().min(1), args: z.array(z.string()).optional(), async: z.boolean().optional(), asyncRewake: z.boolean().optional(), shell: z.string().optional(), ...common }),
  z.looseObject({ type: z.literal('http'), url: z.string().min(1), headers: texts.optional(), allowedEnvVars: z.array(z.string()).optional(), ...common }),
  z.looseObject({ type: z.literal('mcp_tool'), server: z.string().min(1), tool: z.string().min(1), input: z.record(z.string(), z.json()).optional(), ...common }),
  z.looseObject({ type: z.literal('prompt'), prompt: z.string().trim().min(1), model: z.string().optional(), continueOnBlock: z.boolean().optional(), ...common }),
  z.looseObject({ type: z.literal('agent'), prompt: z.string().trim().min(1), model: z.string().optional(), continueOnBlock: z.boolean().optional(), ...common }),
]);
export type Handler = z.output<typeof handler>;

const group = z.looseObject({ matcher: z.string().optional(), hooks: z.array(z.unknown()) });

/** One hook of a file, ready to be chosen. */
export interface Hook {
  /** By event, matcher and handler: two of the same id are one hook. */
  readonly id: string;
  readonly event: HookEvent;
  readonly matcher: string;
  readonly matches: (value: string) => boolean;
  readonly handler: Handler;
  /** Where it stands, as it is shown. */
  readonly from: string;
  /** Whether the user alone wrote it. */
  readonly own: boolean;
  /** The name of the thing that brings it along (a skill), where it is not a settings file. */
  readonly scope?: string;
}

export interface HookSource {
  readonly from: string;
  readonly own: boolean;
  readonly hooks: Json;
  readonly scope?: string;
}

/** `problems`: one line each; what they name is left out, all else holds. */
export interface ReadHooks {
  readonly hooks: readonly Hook[];
  readonly problems: readonly string[];
}

/** The hooks of a file. Whatever is wrong costs that one hook only, and is said. */
export function readHooks({ from, own, hooks, scope }: HookSource): ReadHooks {
  const problems: string[] = [];
  const wrong = (what: string): readonly never[] => {
    problems.push(`${from}: hooks: ${what}; it was left out.`);
    return [];
  };
  if (typeof hooks !== 'object' || hooks === null || Array.isArray(hooks)) return { hooks: wrong('it must be an object of events'), problems };
  const read = Object.entries(hooks).flatMap(([event, groups]): readonly Hook[] => {
    if (!isServed(event)) {
      problems.push(`${from}: hooks of "${oneLine(event, 60)}" do not run: ${whyUnserved(event)}.`);
      return [];
    }
    if (!Array.isArray(groups)) return wrong(`"${event}" must be a list`);
    return groups.flatMap((one, at): readonly Hook[] => {
      const parsed = group.safeParse(one);
      if (!parsed.success) return wrong(`${event}[${at}] must hold "hooks", a list, and may hold "matcher", a text`);
      const matcher = matcherOf(parsed.data.matcher ?? '', ruleOf(event).matcher);
      if ('problem' in matcher) return wrong(`${event}[${at}]: ${oneLine(matcher.problem, 160)}`);
      return parsed.data.hooks.flatMap((each, place) => readOne(each, { event, matcher: parsed.data.matcher ?? '', chosen: matcher, where: `${event}[${at}].hooks[${place}]`, from, own, ...(scope !== undefined && { scope }) }, wrong));
    });
  });
  return { hooks: read, problems };
}

interface Place {
  readonly event: HookEvent;
  readonly matcher: string;
  readonly chosen: Exclude<Matcher, { readonly problem: string }>;
  readonly where: string;
  readonly from: string;
  readonly own: boolean;
  readonly scope?: string;
}

function readOne(value: unknown, { event, matcher, chosen, where, from, own, scope }: Place, wrong: (what: string) => readonly never[]): readonly Hook[] {
  const parsed = handler.safeParse(value);
  if (!parsed.success) return wrong(`${where}: ${problemOf(parsed.error)}`);
  const { types } = ruleOf(event);
  if (!types.has(parsed.data.type)) return wrong(`${where}: a hook of the type "${parsed.data.type}" cannot run at ${event}; it takes ${[...types].join(', ')}`);
  return [{
    id: sha256(JSON.stringify([event, matcher, sorted(parsed.data)])).slice(0, 12), event, matcher, matches: chosen.matches, handler: parsed.data, from, own, ...(scope !== undefined && { scope }),
  }];
}

function problemOf(error: z.ZodError): string {
  const [issue] = error.issues;
  const at = issue?.path.join('.') ?? '';
  if (at === 'type') return 'its "type" must be command, http, mcp_tool, prompt or agent';
  return at === '' ? 'it must be an object' : `its "${at}" cannot be used (${issue?.message ?? 'wrong'})`;
}

/** The same handler, however its keys are ordered. */
export function handlerKey(one: Handler): string {
  const { statusMessage: _, timeout: __, ...rest } = one;
  return JSON.stringify(sorted(rest));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]));
}

/** What a handler does, whole: what is not shown cannot be agreed to. */
export function whatOf(one: Handler): string {
  switch (one.type) {
    case 'command': return one.args === undefined ? one.command : [one.command, ...one.args].map((word) => (/^[\w./:=@%+-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
    case 'http': return `POST ${one.url}`;
    case 'mcp_tool': return `${one.server}: ${one.tool}${one.input === undefined ? '' : ` ${JSON.stringify(one.input)}`}`;
    case 'prompt': case 'agent': return one.prompt;
  }
}

/** A few words by which a person knows it again: the script's name, else the program's. */
export function shortName(one: Handler): string {
  if (one.type === 'http') return hostIn(one.url);
  if (one.type === 'mcp_tool') return `${one.server}:${one.tool}`;
  if (one.type !== 'command') return one.type;
  const words = [...(one.args === undefined ? one.command.split(/[\s;&|()<>"'`]+/) : [one.command]), ...(one.args ?? [])].filter((word) => word !== '');
  const script = words.find((word) => /[\w-]\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|ps1)$/.test(word));
  const plain = words.slice(0, 2).filter((word) => /^[\w./@:=+-]+$/.test(word));
  return oneLine(script === undefined ? [baseOf(plain[0] ?? 'command'), ...plain.slice(1)].join(' ') : baseOf(script), 48);
}

const baseOf = (path: string): string => path.split('/').at(-1) ?? path;

function hostIn(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return oneLine(url, 48);
  }
}

export function defaultMs(event: HookEvent, type: HookType): number {
  if (type === 'prompt') return 30_000;
  return type === 'agent' ? 60_000 : ruleOf(event).timeoutMs;
}
