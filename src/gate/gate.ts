import type { Card, CardBlock } from '#domain/card.ts';
import type { EntryBody, PermissionMode } from '#domain/entry.ts';
import type { Advice, Answer, Asker, GatePort, Question, Verdict } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Call, ToolEffect } from '#domain/tool.ts';
import { messageOf } from '#lib/errors.ts';
import { textIn } from './calls.ts';
import type { Decision, Judged } from './decide.ts';
import type { Paths } from './paths.ts';
import type { RuleSet } from './rules.ts';
import { marked, visible, visibleLine } from './visible.ts';

export interface GateOptions {
  /** The rules in effect; read anew for every decision. */
  readonly rules: (session: Session) => RuleSet;
  readonly mode: (session: Session) => PermissionMode;
  /** Where the session's shell commands run: absolute. */
  readonly cwd: (session: Session) => string;
  readonly paths: Paths;
  readonly effect: (call: Call) => ToolEffect | undefined;
  readonly preview: (call: Call, session: Session) => Promise<Card>;
  readonly asker: Asker;
  /** The sub-agent whose session it is, as it is named to the person. */
  readonly who?: (session: Session) => string | undefined;
  /** Keeps a rule that the user agreed to, so that `rules()` holds it once this is done. */
  readonly keepRule: (rule: string, keep: 'session' | 'local') => void | Promise<void>;
  /** Whether the folder's own git configuration may run something (default: yes). */
  readonly trusted?: () => boolean;
  /** Why a call is to be asked about although a rule allows it, one line; undefined: there is no reason. */
  readonly doubt?: (call: Call, session: Session) => string | undefined;
  /** Is told of each call that is allowed for which real paths that holds, so that nothing else is used for it later. */
  readonly onJudged?: (call: Call, judged: Judged) => void;
}

const INTERRUPTED: Verdict = { kind: 'refuse', by: 'user', reason: 'Interrupted by the user before it was decided.', endTurn: true };

/**
 * Decides calls by rules and mode, and asks the person about the rest, one question at a time. A call that waited is decided
 * anew when its turn comes: the answer before it may have settled it. Never throws; an abort ends a question at once.
 */
export function createGate(options: GateOptions): GatePort {
  const inTurn = createTurns();
  const decideNow = async (call: Call, session: Session, advice: Advice | undefined): Promise<Decision> => {
    // With the grammar of shells, the largest part of this wing: nobody waits for it before the first call.
    const { decide } = await import('./decide.ts');
    const mode = options.mode(session);
    const doubt = options.doubt?.(call, session);
    const decideIn = (one: PermissionMode): Decision => decide(call, {
      ...(doubt !== undefined && { doubt }),
      rules: options.rules(session), mode: one, cwd: options.cwd(session), places: options.paths.places, effect: options.effect(call), trusted: options.trusted?.() ?? true,
    });
    // A hook's word spares what the mode without questions would spare, and no more.
    const spared = advice?.decision === 'allow' && mode !== 'plan' ? decideIn('bypassPermissions') : undefined;
    const decision = spared?.kind === 'allow' ? spared : decideIn(mode);
    if (advice?.decision !== 'ask' || decision.kind === 'refuse') return decision;
    const reason = visibleLine(advice.reason ?? 'a hook asks');
    return decision.kind === 'ask' ? { ...decision, reason: `${reason}; ${decision.reason}`, rules: [] } : { kind: 'ask', reason, rules: [], keep: 'session', judged: decision.judged };
  };
  const allowed = (call: Call, verdict: Verdict, judged: Judged): Verdict => {
    if (verdict.kind === 'allow' && judged.length > 0) options.onJudged?.(call, judged);
    return verdict;
  };
  const settled = (call: Call, decision: Exclude<Decision, { readonly kind: 'ask' }>): Verdict => (decision.kind === 'refuse' ? decision : allowed(call, { kind: 'allow' }, decision.judged));
  /** Who changed the call agreed to what they made of it; what is refused stays refused. */
  const changed = async (call: Call, session: Session): Promise<Verdict> => {
    const decision = await decideNow(call, session, undefined);
    return decision.kind === 'refuse' ? decision : allowed(call, { kind: 'allow', call }, decision.judged);
  };
  return {
    async ask(call, session, signal, advice) {
      if (signal.aborted) return INTERRUPTED;
      const first = await decideNow(call, session, advice);
      if (signal.aborted) return INTERRUPTED;
      if (first.kind !== 'ask') return settled(call, first);
      return await inTurn<Verdict>(signal, INTERRUPTED, async () => {
        const decision = await decideNow(call, session, advice);
        if (signal.aborted) return INTERRUPTED;
        if (decision.kind !== 'ask') return settled(call, decision);
        const verdict = await askAbout(call, session, decision, options, signal);
        return verdict.kind === 'allow' && verdict.call !== undefined ? changed(verdict.call, session) : allowed(call, verdict, decision.judged);
      });
    },
    async goOn(what, session, signal) {
      // Nobody is asked: what repeats itself ends.
      if (options.mode(session) === 'auto') return false;
      return await inTurn(signal, false, async () => {
        const answer = await answerTo({ kind: 'goOn', text: visible(what) }, options.asker, signal);
        return answer?.kind === 'yes' || answer?.kind === 'always';
      });
    },
  };
}

async function askAbout(call: Call, session: Session, { reason, rules, keep }: Decision & { kind: 'ask' }, options: GateOptions, signal: AbortSignal): Promise<Verdict> {
  const card = await cardOf(call, session, options);
  if (signal.aborted) return INTERRUPTED;
  const who = options.who?.(session);
  const answer = await answerTo({ kind: 'permission', call, card, reason, rules, keep, ...(who !== undefined && { who }) }, options.asker, signal);
  if (signal.aborted) return INTERRUPTED;
  switch (answer?.kind) {
    case undefined:
      return { kind: 'refuse', by: 'unattended', reason: `It must be asked about, and nobody is there to answer: ${reason}.${rules.length === 0 ? '' : ` The user could allow it beforehand with ${rules.join(' ')}.`}` };
    case 'yes': return { kind: 'allow', ...(answer.input !== undefined && { call: { ...call, input: answer.input } }) };
    case 'approved':
    case 'chosen': return { kind: 'allow' };
    case 'always': return await keepAll(rules, keep, options);
    case 'no': {
      const instead = answer.instead?.trim() ?? '';
      return instead === '' ? { kind: 'refuse', by: 'user', reason: 'The user refused.', endTurn: true } : { kind: 'refuse', by: 'user', reason: instead };
    }
  }
}

/** The answer stands even where the rule cannot be kept: the user is told, and asked again next time. */
async function keepAll(rules: readonly string[], keep: 'session' | 'local', options: GateOptions): Promise<Verdict> {
  const entries: EntryBody[] = [];
  for (const rule of rules) {
    try {
      await options.keepRule(rule, keep);
    } catch (error) {
      entries.push({ type: 'notice', level: 'warning', text: `The rule ${rule} could not be kept: ${messageOf(error)}` });
    }
  }
  return entries.length === 0 ? { kind: 'allow' } : { kind: 'allow', entries };
}

/** A command is shown whole, whatever the tool's own preview leaves out; nothing in a card stays unseen. */
async function cardOf(call: Call, session: Session, options: GateOptions): Promise<Card> {
  const card = await options.preview(call, session).catch((): Card => ({ title: call.tool, body: [] }));
  const command = call.tool === 'Bash' ? textIn(call, 'command') : undefined;
  return {
    ...card,
    title: visibleLine(card.title),
    ...(card.detail !== undefined && { detail: visibleLine(card.detail) }),
    body: command === undefined ? card.body.map(shownBlock) : [{ type: 'code', text: visible(command), language: 'bash' }],
  };
}

function shownBlock(block: CardBlock): CardBlock {
  switch (block.type) {
    case 'text': return { ...block, text: visible(block.text) };
    case 'markdown':
    case 'code': return { ...block, text: marked(block.text) };
    case 'diff': return { ...block, patch: marked(block.patch) };
    case 'list': return { ...block, items: block.items.map(visibleLine) };
    case 'table': return { ...block, head: block.head.map(visibleLine), rows: block.rows.map((row) => row.map(visibleLine)) };
  }
}

/** Undefined when nobody answered, the asker failed or the signal aborted. */
async function answerTo(question: Question, asker: Asker, signal: AbortSignal): Promise<Answer | undefined> {
  try {
    return await orAborted(asker.ask(question, signal), signal);
  } catch {
    return undefined;
  }
}

/** Runs tasks one after another; one that is aborted while it waits gives `otherwise` at once. */
function createTurns(): <T>(signal: AbortSignal, otherwise: T, task: () => Promise<T>) => Promise<T> {
  let last: Promise<void> = Promise.resolve();
  return async (signal, otherwise, task) => {
    const before = last;
    let pass = (): void => undefined;
    const mine = new Promise<void>((resolve) => { pass = resolve; });
    last = before.then(async () => { await mine; });
    try {
      await orAborted(before, signal);
      return signal.aborted ? otherwise : await task();
    } finally {
      pass();
    }
  };
}

/** The promise's value, or undefined as soon as the signal aborts. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  let stop = (): void => undefined;
  const aborted = new Promise<undefined>((resolve) => { stop = () => { resolve(undefined); }; });
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
