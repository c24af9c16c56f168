import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { PermissionMode } from '#domain/entry.ts';
import type { Call, ToolEffect } from '#domain/tool.ts';
import { isLocalHost } from '#lib/addresses.ts';
import { isWithin, realPathOf } from '#lib/within.ts';
import { autoRefusal } from './auto.ts';
import { readVerdictOn, writeVerdictOn, type Access, type PathVerdict } from './access.ts';
import { coversCall, searchStart, spellingsOf, textIn } from './calls.ts';
import { hostOf } from './match.ts';
import type { Places } from './places.ts';
import { rulebookOf, type Rulebook } from './rulebook.ts';
import { PATH_TOOLS, type Rule, type RuleSet } from './rules.ts';
import { judgeCommand } from './shell/judge.ts';
import { suggestRules } from './shell/suggest.ts';
import { visibleLine } from './visible.ts';

/** Everything that a decision depends on, as it stands now. */
export interface Situation {
  readonly rules: RuleSet;
  readonly mode: PermissionMode;
  /** Absolute. */
  readonly cwd: string;
  readonly places: Places;
  readonly effect: ToolEffect | undefined;
  readonly trusted: boolean;
  /** Why the call is asked about whatever rule allows it. */
  readonly doubt?: string;
}

export type Decision =
  | { readonly kind: 'allow'; readonly judged: Judged }
  | { readonly kind: 'refuse'; readonly by: 'rule' | 'mode'; readonly reason: string }
  | {
    readonly kind: 'ask';
    /** One line. */
    readonly reason: string;
    /** Rules with which the same call passes; empty when no rule can do that. */
    readonly rules: readonly string[];
    readonly keep: 'session' | 'local';
    readonly judged: Judged;
  };

/**
 * The real paths that a decision holds for: for a file tool where its path may lead, for a command where it runs; and the host of
 * the local network that the user named for a fetch. None: nothing was judged.
 */
export type Judged = readonly string[];

const ALLOW: Decision = { kind: 'allow', judged: [] };
/** Tools that touch nothing but the conversation, and what was started for it with the user's leave. */
const FREE = new Set(['TodoWrite', 'TaskOutput', 'TaskStop', 'AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode']);
const PLAN = 'Plan mode is on: look, do not change anything. Work out the plan and present it; the user switches the mode when it may be carried out.';

/** Whether a call may run. Looks at the disk, changes nothing. Rules are only offered if the call would really pass with them. */
export function decide(call: Call, now: Situation): Decision {
  const decision = decideOnce(call, now);
  if (decision.kind !== 'ask' || decision.rules.length === 0) return decision;
  const root = now.places.anchors().roots[0] ?? '/';
  const allow = [...now.rules.allow, ...decision.rules.map((rule) => ({ rule, root, scope: 'session' as const }))];
  return decideOnce(call, { ...now, rules: { ...now.rules, allow } }).kind === 'allow' ? decision : { ...decision, rules: [] };
}

function decideOnce(call: Call, now: Situation): Decision {
  const book = rulebookOf(now.rules, now.places.anchors());
  const denied = book.rules.deny.find((rule) => coversCall(rule, 'deny', call));
  if (denied !== undefined) return byRule(`the rule ${denied.source.rule} forbids it`);
  if (FREE.has(call.tool)) return ALLOW;
  if (call.tool === 'Bash') return decideCommand(call, now, book);
  const access = PATH_TOOLS[call.tool];
  return access === undefined ? decideOther(call, now, book) : decidePath(call, access, now, book);
}

function decideCommand(call: Call, now: Situation, book: Rulebook): Decision {
  // A directory that is gone is given up for the first working folder: the command is judged where it will run.
  const cwd = isFolder(now.cwd) ? now.cwd : now.places.anchors().roots[0] ?? '/';
  const decision = decideCommandIn(cwd, call, now, book);
  return decision.kind === 'refuse' ? decision : { ...decision, judged: [realPathOf(cwd)] };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function decideCommandIn(cwd: string, call: Call, { mode, places, trusted }: Situation, book: Rulebook): Decision {
  const judged = judgeCommand(textIn(call, 'command') ?? '', { places, book, edits: makesEdits(mode), auto: mode === 'auto', home: places.anchors().home, cwd, trusted });
  const asked = book.rules.ask.find((rule) => coversCall(rule, 'ask', call));
  if (judged.decision === 'deny') return byRule(judged.reasons[0] ?? '');
  if (mode === 'plan' && !judged.looksOnly) return { kind: 'refuse', by: 'mode', reason: PLAN };
  if (asked !== undefined) return question([`the rule ${asked.source.rule} asks`], [], 'local');
  if (judged.decision === 'allow') return ALLOW;
  const whole = mode === 'bypassPermissions' || book.rules.allow.some((rule) => rule.tool === 'Bash' && rule.spec === undefined);
  if (whole && !judged.hard) return ALLOW;
  if (mode === 'auto' && !judged.ruled) return autoRefusal(judged.reasons);
  return question(judged.reasons, suggestRules(judged.uncovered), 'local');
}

function decidePath(call: Call, access: 'read' | 'write', now: Situation, book: Rulebook): Decision {
  const { places, cwd, mode } = now;
  const about: Access = { places, book, edits: makesEdits(mode) };
  const start = call.tool === 'Glob' || call.tool === 'Grep' || call.tool === 'LS' ? searchStart(call) : { path: textIn(call, 'file_path', 'notebook_path', 'path') ?? '.', elsewhere: false };
  const looks = spellingsOf(start.path, places, cwd).map((path) => ({ path, place: places.look(path, cwd) }));
  const verdicts = looks.map(({ path, place }): PathVerdict => (access === 'read' ? readVerdictOn : writeVerdictOn)(about, call.tool, path, place));
  const judged = looks.map(({ place }) => place.real);
  const denied = verdicts.find((verdict) => verdict.kind === 'deny');
  if (denied !== undefined) return byRule(denied.why);
  if (mode === 'plan' && access === 'write') return { kind: 'refuse', by: 'mode', reason: PLAN };
  const open = verdicts.filter((verdict) => verdict.kind === 'ask');
  const broken = book.broken(call.tool);
  const asked = book.rules.ask.find((rule) => coversCall(rule, 'ask', call));
  const hard = [
    ...(broken === undefined ? [] : [`the rule "${broken.source.rule}" cannot be used`]),
    ...(asked === undefined ? [] : [`the rule ${asked.source.rule} asks`]),
    ...open.filter((verdict) => verdict.hard).map(({ why }) => why),
  ];
  const ruled = broken !== undefined || asked !== undefined || open.some((verdict) => verdict.ruled === true);
  if (hard.length > 0) return mode === 'auto' && !ruled ? autoRefusal(hard) : question(hard, [], 'session', judged);
  if (mode === 'bypassPermissions') return { kind: 'allow', judged };
  const reasons = [...(start.elsewhere ? ['the pattern climbs out of its folder behind a wildcard'] : []), ...open.map(({ why }) => why)];
  if (reasons.length > 0 && mode === 'auto') return autoRefusal(reasons);
  return reasons.length === 0 ? { kind: 'allow', judged } : question(reasons, pathRules(start.path, access, now), 'session', judged);
}

function makesEdits(mode: PermissionMode): boolean {
  return mode === 'acceptEdits' || mode === 'auto';
}

function decideOther(call: Call, now: Situation, book: Rulebook): Decision {
  const { effect, mode, doubt } = now;
  if (effect === undefined) return ALLOW;
  if (mode === 'plan' && effect !== 'reads') return { kind: 'refuse', by: 'mode', reason: PLAN };
  const broken = book.broken(call.tool);
  if (broken !== undefined && broken.tool !== 'Read' && broken.tool !== 'Edit') return question([`the rule "${broken.source.rule}" cannot be used`], [], 'local');
  const host = call.tool === 'WebFetch' ? hostOf(textIn(call, 'url') ?? '') : undefined;
  const local = host !== undefined && isLocalHost(host) ? [host] : [];
  const asked = book.rules.ask.find((rule) => coversCall(rule, 'ask', call));
  if (asked !== undefined) return question([`the rule ${asked.source.rule} asks`], [], 'local', local);
  if (doubt !== undefined && mode !== 'bypassPermissions') return mode === 'auto' ? autoRefusal([doubt]) : question([doubt], [], 'session', local);
  const covering = book.rules.allow.filter((rule) => coversCall(rule, 'allow', call));
  if (covering.some(namesHost)) return { kind: 'allow', judged: local };
  if (mode === 'bypassPermissions' || covering.length > 0) return ALLOW;
  const leaves = call.tool.startsWith('mcp__') || call.tool.startsWith('Web');
  // What a tool of ours runs in turn is asked about by itself.
  if (!leaves && (effect === 'reads' || mode === 'auto')) return ALLOW;
  if (mode === 'auto') return autoRefusal([call.tool === 'WebFetch' ? `it would reach ${visibleLine(textIn(call, 'url') ?? 'an address')}` : `what ${call.tool} does outside is not known`]);
  const rules = host !== undefined ? [`WebFetch(domain:${host})`] : call.tool === 'WebFetch' ? [] : [call.tool];
  const where = local.length === 0 ? '' : ', which is this machine or one of its network';
  return question([host !== undefined ? `it fetches from ${host}${where}` : `no rule allows ${call.tool}`], rules, 'local', local);
}

/** Whether a rule is the user's own word about a host: a repository or a skill (a rule of this session, from a file) cannot give it, nor does a wildcard. */
function namesHost({ tool, spec, source: { scope, file } }: Rule): boolean {
  return tool === 'WebFetch' && spec !== undefined && !spec.includes('*') && scope !== 'project' && !(scope === 'session' && file !== undefined);
}

/** Rules that would cover this path and its neighbours. */
function pathRules(written: string, access: 'read' | 'write', { places, cwd }: Situation): readonly string[] {
  const { lexical, real, root, kind } = places.look(written, cwd);
  const { roots, home } = places.anchors();
  const tool = access === 'read' ? 'Read' : 'Edit';
  if (access === 'write' && root !== undefined) return [root === roots[0] ? 'Edit(./**)' : `Edit(/${root}/**)`];
  const folders = [...new Set([lexical, real])].map((path) => (kind === 'directory' ? path : dirname(path)));
  // A rule for a folder that holds the home or a working folder would cover far more than was asked for.
  if (folders.some((folder) => [home, ...roots].some((inner) => isWithin(folder, inner)) || /[*?[\]!\\\s]/.test(folder))) return [];
  return folders.map((folder) => `${tool}(/${folder}${kind === 'directory' ? '' : '/**'})`);
}

function byRule(why: string): Decision {
  return { kind: 'refuse', by: 'rule', reason: `Not allowed: ${visibleLine(why)}. The user's settings forbid it; do not look for another way to the same end.` };
}

const LONGEST_REASON = 300;

function question(reasons: readonly string[], rules: readonly string[], keep: 'session' | 'local', judged: Judged = []): Decision {
  const [first = '', ...more] = [...new Set(reasons)].map(visibleLine);
  const line = more.length === 0 ? first : more.length === 1 ? `${first}; ${more[0] ?? ''}` : `${first}; ${more[0] ?? ''}; and ${more.length - 1} more`;
  return { kind: 'ask', reason: line.length <= LONGEST_REASON ? line : `${line.slice(0, LONGEST_REASON - 1)}…`, rules, keep, judged };
}
