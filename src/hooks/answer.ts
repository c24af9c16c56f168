import type { Json } from '#lib/brand.ts';
import { oneLine } from '#lib/names.ts';
import type { EntryBody } from '#domain/entry.ts';
import type { HookEvent } from '#domain/hooks.ts';
import { ruleOf } from './events.ts';
import type { Ran } from './ran.ts';
import type { Hook } from './read.ts';
import { safeSequence } from './terminal.ts';

export type Fields = Readonly<Record<string, Json>>;

/** What one hook says of an event. */
export interface HookAnswer {
  readonly hook: Hook;
  /** Why what happened is not to go on. */
  readonly block?: string;
  /** The turn ends whatever else is said, with this line for the user. */
  readonly stop?: string;
  readonly permission?: 'allow' | 'deny' | 'defer' | 'ask';
  /** Of `allow` and `ask`: for the user. */
  readonly reason?: string;
  /** What the model is to know. */
  readonly context?: string;
  /** What the user is to know. */
  readonly message?: string;
  /** Why it could not be heard, one line for the user. */
  readonly failure?: string;
  /** Fit to be sent to a terminal as it is. */
  readonly sequence?: string;
  /** What only this event has. */
  readonly more: Fields;
  /** What it printed is not shown. */
  readonly quiet: boolean;
  /** What the answer cost. */
  readonly spent?: EntryBody;
}

/** What becomes of exit code 2 where nothing can be stopped: the model is told, the user, or nobody. */
const WITHOUT_BLOCK: Readonly<Partial<Record<HookEvent, 'user' | 'nobody'>>> = {
  PermissionDenied: 'nobody', StopFailure: 'nobody', InstructionsLoaded: 'nobody', SessionStart: 'user', SessionEnd: 'user', Notification: 'user', SubagentStart: 'user',
  CwdChanged: 'user', FileChanged: 'user', PostCompact: 'user',
};
const LONGEST_LINE = 300;

/** What a run says: by exit code (2 stops), or by the JSON that it printed. */
export function answerOf(hook: Hook, ran: Ran, keepLong: (text: string) => string): HookAnswer {
  const base = { hook, more: {}, quiet: false };
  if (ran.kind === 'cancelled') return base;
  if (ran.kind === 'timedOut') return { ...base, failure: 'took longer than its time-out and was ended; what it said was dropped' };
  if (ran.kind === 'failed') return { ...base, failure: `failed: ${lineOf(ran.problem ?? 'no reason is known')}` };
  if (ran.exitCode === 2) return blocked(base, hook.event, ran.stderr.trim(), keepLong);
  if (ran.exitCode !== 0) return { ...base, failure: `failed with exit code ${ran.exitCode}${ran.stderr.trim() === '' ? '' : `: ${lineOf(ran.stderr)}`}` };
  const text = ran.stdout.trim();
  if (!text.startsWith('{')) return printed(base, hook.event, text, keepLong);
  const fields = parsed(text);
  return fields === undefined ? { ...base, failure: 'printed something that begins like JSON and is none; it was left out' } : said(base, hook, fields, keepLong);
}

type Base = Pick<HookAnswer, 'hook' | 'more' | 'quiet'>;

function blocked(base: Base, event: HookEvent, stderr: string, keepLong: (text: string) => string): HookAnswer {
  const reason = stderr === '' ? 'it gave no reason' : keepLong(stderr);
  const instead = WITHOUT_BLOCK[event];
  if (instead === 'nobody') return base;
  return instead === 'user' ? { ...base, failure: `exit code 2: ${lineOf(stderr === '' ? reason : stderr)}` } : { ...base, block: reason, ...(event === 'PreToolUse' && { permission: 'deny' as const }) };
}

function printed(base: Base, event: HookEvent, text: string, keepLong: (text: string) => string): HookAnswer {
  return text !== '' && ruleOf(event).prints ? { ...base, context: keepLong(text) } : base;
}

function parsed(text: string): Fields | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return fieldsOf(value);
  } catch {
    return undefined;
  }
}

const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

export function fieldsOf(value: Json | undefined): Fields | undefined {
  return isFields(value) ? value : undefined;
}

export function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** Fields of the wrong kind are left out. */
function said(base: Base, hook: Hook, fields: Fields, keepLong: (text: string) => string): HookAnswer {
  const { event } = hook;
  const specific = fieldsOf(fields['hookSpecificOutput']);
  const named = textOf(specific?.['hookEventName']);
  const misnamed = named !== undefined && named !== event;
  const more = misnamed ? {} : specific ?? {};
  const reason = textOf(fields['reason']);
  const context = textOf(more['additionalContext']);
  const message = textOf(fields['systemMessage']);
  const sequence = typeof fields['terminalSequence'] === 'string' ? safeSequence(fields['terminalSequence']) : undefined;
  return {
    ...base, more, quiet: fields['suppressOutput'] === true,
    ...decided(event, fields, more, reason, keepLong),
    ...(fields['continue'] === false && { stop: lineOf(textOf(fields['stopReason']) ?? reason ?? 'a hook ended the turn') }),
    ...(context !== undefined && { context: keepLong(context) }),
    ...(message !== undefined && { message: keepLong(message) }),
    ...(sequence !== undefined && { sequence }),
    ...(misnamed && { failure: `answered for ${oneLine(named, 40)}; that part was left out` }),
  };
}

const PERMISSIONS: ReadonlySet<string> = new Set(['allow', 'deny', 'ask', 'defer']);
/** Where nothing that a hook says in JSON can stop anything. */
const NEVER_BLOCKS: ReadonlySet<HookEvent> = new Set(['PermissionRequest', 'Elicitation', 'ElicitationResult', ...Object.keys(WITHOUT_BLOCK) as HookEvent[]]);

function decided(event: HookEvent, fields: Fields, more: Fields, reason: string | undefined, keepLong: (text: string) => string): Partial<HookAnswer> {
  const decision = fields['decision'];
  if (event !== 'PreToolUse') return decision === 'block' && !NEVER_BLOCKS.has(event) ? { block: keepLong(reason ?? 'it gave no reason') } : {};
  const written = more['permissionDecision'] ?? (decision === 'approve' ? 'allow' : decision === 'block' ? 'deny' : undefined);
  if (typeof written !== 'string' || !PERMISSIONS.has(written)) return {};
  const why = textOf(more['permissionDecisionReason']) ?? reason;
  return { permission: written as NonNullable<HookAnswer['permission']>, ...(why !== undefined && { reason: keepLong(why) }), ...(written === 'deny' && { block: keepLong(why ?? 'it gave no reason') }) };
}

/** What a model that was asked answers: `{"ok": …, "reason": …}`. `goesOn`: a no tells the model why, and the turn goes on. */
export function judgementOf(hook: Hook, text: string, keepLong: (text: string) => string): HookAnswer {
  const base = { hook, more: {}, quiet: false };
  const found = /\{[\s\S]*\}/.exec(text)?.[0];
  const fields = found === undefined ? undefined : parsed(found);
  const ok = fields?.['ok'];
  if (typeof ok !== 'boolean') return { ...base, failure: 'the model that was asked gave no answer of the form {"ok": true or false}' };
  // These hear nothing of a no.
  if (ok || hook.event === 'PermissionRequest' || hook.event === 'PermissionDenied') return base;
  const reason = keepLong(textOf(fields?.['reason']) ?? 'it gave no reason');
  const ends = hook.event === 'PreToolUse' || hook.event === 'PostToolUse' || hook.event === 'TeammateIdle';
  const goesOn = 'continueOnBlock' in hook.handler && hook.handler.continueOnBlock === true;
  return { ...base, block: reason, ...(hook.event === 'PreToolUse' && { permission: 'deny' as const }), ...(ends && !goesOn && { stop: lineOf(reason) }) };
}

/** The first line, as it is shown. */
export function lineOf(text: string): string {
  const [first = ''] = text.trim().split('\n');
  return first.length <= LONGEST_LINE ? first : `${first.slice(0, LONGEST_LINE - 1)}…`;
}
