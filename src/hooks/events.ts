import { HOOK_EVENTS, type HookEvent } from '#domain/hooks.ts';

export type HookType = 'command' | 'http' | 'mcp_tool' | 'prompt' | 'agent';

/** How hooks of an event are chosen and heard. */
export interface EventRule {
  /** Whether a matcher chooses among them. `names`: only letters, digits, `_` and `|` make a list of names of it. */
  readonly matcher: 'none' | 'names' | 'narrow';
  /** Whether what they print is told to the model as it is. */
  readonly prints: boolean;
  readonly types: ReadonlySet<HookType>;
  /** Whether `if` can be looked at. */
  readonly tool: boolean;
  /** Whether they may set variables for later commands. */
  readonly env: boolean;
  /** Milliseconds that a command has by default. */
  readonly timeoutMs: number;
}

const ALL: ReadonlySet<HookType> = new Set(['command', 'http', 'mcp_tool', 'prompt', 'agent']);
const PROGRAMS: ReadonlySet<HookType> = new Set(['command', 'http', 'mcp_tool']);
const LOCAL: ReadonlySet<HookType> = new Set(['command', 'mcp_tool']);

const JUDGING = new Set<HookEvent>([
  'PermissionDenied', 'PermissionRequest', 'PostToolBatch', 'PostToolUse', 'PostToolUseFailure', 'PreToolUse', 'Stop', 'SubagentStop', 'TaskCompleted', 'TaskCreated', 'TeammateIdle',
  'UserPromptExpansion', 'UserPromptSubmit',
]);
const WITHOUT_MATCHER = new Set<HookEvent>(['UserPromptSubmit', 'PostToolBatch', 'Stop', 'TeammateIdle', 'TaskCreated', 'TaskCompleted', 'CwdChanged']);
const NARROW = new Set<HookEvent>(['FileChanged', 'StopFailure']);
const PRINTING = new Set<HookEvent>(['UserPromptSubmit', 'UserPromptExpansion', 'SessionStart']);
const OF_TOOLS = new Set<HookEvent>(['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PermissionRequest', 'PermissionDenied']);
const SETTING = new Set<HookEvent>(['SessionStart', 'CwdChanged', 'FileChanged']);

const MOST_MS = 600_000;
const PROMPT_MS = 30_000;
/** What all hooks have together when a session ends, unless one of them names a longer time. */
export const END_MS = 1500;
export const MOST_END_MS = 60_000;

export function ruleOf(event: HookEvent): EventRule {
  return {
    matcher: WITHOUT_MATCHER.has(event) ? 'none' : NARROW.has(event) ? 'narrow' : 'names',
    prints: PRINTING.has(event),
    types: event === 'SessionStart' ? LOCAL : JUDGING.has(event) ? ALL : PROGRAMS,
    tool: OF_TOOLS.has(event),
    env: SETTING.has(event),
    timeoutMs: event === 'UserPromptSubmit' ? PROMPT_MS : event === 'SessionEnd' ? END_MS : MOST_MS,
  };
}

const KNOWN: ReadonlySet<string> = new Set(HOOK_EVENTS);

export function isServed(name: string): name is HookEvent {
  return KNOWN.has(name);
}

/** Events of other shells that have no place here, and why. */
const UNSERVED: Readonly<Record<string, string>> = {
  Setup: 'there is no --init; SessionStart runs at each start',
  MessageDisplay: 'answers are shown as they are',
  DirectoryAdded: 'working folders are not added during a session',
  WorktreeCreate: 'work trees are not made',
  WorktreeRemove: 'work trees are not made',
};

/** Why hooks of an event that is not served do not run, in a few words. */
export function whyUnserved(name: string): string {
  return Object.hasOwn(UNSERVED, name) ? UNSERVED[name] ?? '' : 'there is no such event';
}
