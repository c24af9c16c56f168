import type { Json } from '#lib/brand.ts';
import type { EntryBody, PermissionMode } from '#domain/entry.ts';
import { PERMISSION_MODES } from '#domain/entry.ts';
import type { Advice, Answer, GatePort, Question, Verdict } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Call } from '#domain/tool.ts';
import { type Fields, fieldsOf, type HookAnswer, textOf } from '#hooks/answer.ts';
import { noticeOf, permissionOf, reasonLine, reasonOf, type Verdicts } from '#hooks/combine.ts';
import { namesOf, ourName } from '#hooks/match.ts';
import { shortName } from '#hooks/read.ts';
import type { HookDesk } from './desk.ts';
import { notify } from './events.ts';
import { toolFields } from './fields.ts';

type PermissionQuestion = Extract<Question, { readonly kind: 'permission' }>;

/** What hooks answered to the question about a call, where the gate's own answer cannot say it. */
interface Answered {
  readonly refused?: { readonly reason: string; readonly stop?: string };
  readonly input?: Json;
  readonly entries: readonly EntryBody[];
}

export interface HookGate {
  ask(gate: GatePort, call: Call, session: Session, signal: AbortSignal, advice?: Advice): Promise<Verdict>;
  /** Undefined: the person is to be asked. */
  answer(question: PermissionQuestion, signal: AbortSignal): Promise<Answer | undefined>;
}

export function createHookGate(desk: HookDesk): HookGate {
  const sessions = new WeakMap<Call, Session>();
  const answers = new WeakMap<Call, Answered>();
  /** Calls about which hooks were asked once: only a person is asked again. */
  const settled = new WeakSet<Call>();
  const judge = async (gate: GatePort, call: Call, session: Session, signal: AbortSignal, advice: Advice | undefined): Promise<Verdict> => {
    sessions.set(call, session);
    const verdict = await gate.ask(call, session, signal, advice);
    const said = answers.get(call);
    if (said === undefined) return denied(desk, verdict, call, session, signal);
    answers.delete(call);
    if (said.refused !== undefined) return { kind: 'refuse', by: 'hook', reason: said.refused.reason, entries: said.entries, ...(said.refused.stop !== undefined && { endTurn: true, stop: said.refused.stop }) };
    if (said.input === undefined || verdict.kind === 'refuse') return withEntries(verdict, said.entries);
    const other: Call = { ...call, input: said.input };
    settled.add(other);
    return running(withEntries(await judge(gate, other, session, signal, { decision: 'allow' }), said.entries), other);
  };
  return {
    async ask(gate, call, session, signal, advice) {
      const said = await desk.hear('PreToolUse', session, { names: namesOf(call.tool), fields: toolFields(desk, call, session), call }, signal);
      const entries = [...said.entries, ...deferrals(said)];
      const refusal = refusalOf(said);
      if (refusal !== undefined) return withEntries(refusal, entries);
      const input = said.answers.filter(({ permission }) => permission !== 'defer').map(({ more }) => fieldsOf(more['updatedInput'])).findLast((one) => one !== undefined);
      const next: Call = input === undefined ? call : { ...call, input };
      return running(withEntries(await judge(gate, next, session, signal, adviceOf(said) ?? advice), entries), next === call ? undefined : next);
    },
    async answer(question, signal) {
      const session = sessions.get(question.call);
      if (session === undefined || settled.has(question.call)) return undefined;
      const { tool_use_id: _, ...fields } = toolFields(desk, question.call, session);
      const said = await desk.hear('PermissionRequest', session, { names: namesOf(question.call.tool), fields: { ...fields, permission_suggestions: suggestionsOf(question) }, call: question.call }, signal);
      const answered = await answeredBy(desk, said, question);
      if (answered === undefined) {
        if (said.entries.length > 0) answers.set(question.call, { entries: said.entries });
        if (isAnyoneThere(desk)) void notify(desk, 'permission_prompt', `Pinion needs your permission to use ${question.call.tool}`, 'Permission needed', session);
        return undefined;
      }
      answers.set(question.call, answered);
      return answered.refused === undefined ? { kind: 'yes' } : { kind: 'no', instead: answered.refused.reason };
    },
  };
}

/** A run that only prints asks nobody. */
function isAnyoneThere({ options: { args } }: HookDesk): boolean {
  return !args.print || args.inputFormat === 'stream-json';
}

function withEntries(verdict: Verdict, entries: readonly EntryBody[]): Verdict {
  return entries.length === 0 ? verdict : { ...verdict, entries: [...entries, ...verdict.entries ?? []] };
}

function running(verdict: Verdict, call: Call | undefined): Verdict {
  return verdict.kind === 'refuse' || call === undefined || verdict.call !== undefined ? verdict : { ...verdict, call };
}

/** A hook that ends the turn, or refuses the call. */
function refusalOf(said: Verdicts): Verdict | undefined {
  const denying = permissionOf(said.answers)?.permission === 'deny';
  if (!denying && said.stop === undefined) return undefined;
  const reason = denying && said.blocks.length > 0 ? reasonOf(said) : `Not run: ${said.stop ?? 'a hook refuses it'}`;
  return { kind: 'refuse', by: 'hook', reason, ...(said.stop !== undefined && { endTurn: true, stop: said.stop }) };
}

function adviceOf({ name, answers }: Verdicts): Advice | undefined {
  const first = permissionOf(answers.filter(({ permission }) => permission !== 'defer'));
  if (first?.permission !== 'allow' && first?.permission !== 'ask') return undefined;
  const whose = first.hook.own ? 'your' : 'the project\'s';
  return { decision: first.permission, reason: `${whose} ${name} hook ${shortName(first.hook.handler)} asks${first.reason === undefined ? '' : `: ${first.reason}`}` };
}

/** There is nobody to whom a call could be put off. */
function deferrals({ name, answers }: Verdicts): readonly EntryBody[] {
  return answers.filter(({ permission }) => permission === 'defer').map(({ hook }) => noticeOf(`${name} hook ${shortName(hook.handler)} wants to put the call off ("defer"), which cannot be done here; it was decided without the hook.`));
}

/** Refused in auto mode: hooks are told, and may say that it can be tried again. */
async function denied(desk: HookDesk, verdict: Verdict, call: Call, session: Session, signal: AbortSignal): Promise<Verdict> {
  if (verdict.kind === 'allow' || verdict.by !== 'mode' || desk.options.mode(session) !== 'auto') return verdict;
  const said = await desk.hear('PermissionDenied', session, { names: namesOf(call.tool), fields: { ...toolFields(desk, call, session), reason: verdict.reason }, call }, signal);
  const again = said.answers.some(({ more }) => more['retry'] === true);
  return withEntries(again ? { ...verdict, reason: `${verdict.reason} A hook of the user's says that the call may be tried again.` } : verdict, said.entries);
}

/** The rules of a question in the shape in which other shells know them. */
function suggestionsOf({ rules, keep }: PermissionQuestion): Json {
  if (rules.length === 0) return [];
  return [{ type: 'addRules', behavior: 'allow', destination: keep === 'local' ? 'localSettings' : 'session', rules: rules.map((rule) => {
    const [, toolName = rule, ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? [];
    return { toolName, ...(ruleContent !== undefined && { ruleContent }) };
  }) }];
}

interface Decided {
  readonly answer: HookAnswer;
  readonly decision: Fields;
}

async function answeredBy(desk: HookDesk, said: Verdicts, question: PermissionQuestion): Promise<Answered | undefined> {
  const decided = said.answers.flatMap((answer): readonly Decided[] => {
    const decision = fieldsOf(answer.more['decision']);
    return decision === undefined ? [] : [{ answer, decision }];
  });
  const deny = decided.find(({ decision }) => decision['behavior'] === 'deny');
  if (deny !== undefined || said.blocks.length > 0 || said.stop !== undefined) {
    const why = deny === undefined ? undefined : textOf(deny.decision['message']) ?? 'it gave no reason';
    const reason = deny === undefined ? (said.blocks.length > 0 ? reasonOf(said) : said.stop ?? '') : `${said.name} hook (${shortName(deny.answer.hook.handler)}): ${why ?? ''}`;
    const stop = said.stop ?? (deny?.decision['interrupt'] === true ? reasonLine({ ...said, blocks: [{ hook: shortName(deny.answer.hook.handler), reason: why ?? '' }] }) : undefined);
    return { refused: { reason, ...(stop !== undefined && { stop }) }, entries: said.entries };
  }
  // What no rule could allow, a program of the folder's cannot allow either.
  const allow = decided.find(({ answer, decision }) => decision['behavior'] === 'allow' && (answer.hook.own || question.rules.length > 0));
  if (allow === undefined) return undefined;
  const input = fieldsOf(allow.decision['updatedInput']);
  const kept = allow.answer.hook.own ? await permissionsFrom(desk, allow.decision['updatedPermissions']) : [];
  return { entries: [...said.entries, ...kept], ...(input !== undefined && { input }) };
}

/** Rules and a mode that a hook of the user's sets with its yes. What else it asks for is left to the user, and said. */
async function permissionsFrom({ options: { configuration } }: HookDesk, updates: Json | undefined): Promise<readonly EntryBody[]> {
  const entries: EntryBody[] = [];
  for (const update of Array.isArray(updates) ? updates.map((one: Json) => fieldsOf(one) ?? {}) : []) {
    const { type, behavior, destination, rules, mode } = update;
    const here = destination === 'session' || destination === 'localSettings';
    if (type === 'addRules' && behavior === 'allow' && here && Array.isArray(rules)) {
      for (const rule of rules.map((one: Json) => ruleText(fieldsOf(one)))) if (rule !== undefined) await configuration.keepRule(rule, destination === 'session' ? 'session' : 'local').catch((error: unknown) => { entries.push(noticeOf(`The rule ${rule} could not be kept: ${String(error)}`)); });
    } else if (type === 'setMode' && destination === 'session' && isMode(mode)) entries.push({ type: 'mode', mode });
    else entries.push(noticeOf(`A PermissionRequest hook wants to change the settings (${JSON.stringify([type, destination])}): that is left to you.`));
  }
  return entries;
}

function ruleText(rule: Fields | undefined): string | undefined {
  const tool = textOf(rule?.['toolName']);
  const content = textOf(rule?.['ruleContent']);
  return tool === undefined ? undefined : content === undefined ? ourName(tool) : `${ourName(tool)}(${content})`;
}

function isMode(mode: Json | undefined): mode is PermissionMode {
  return mode !== 'bypassPermissions' && PERMISSION_MODES.some((one) => one === mode);
}
