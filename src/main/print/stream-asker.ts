import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '#lib/brand.ts';
import { messageOf } from '#lib/errors.ts';
import { PERMISSION_MODES, type PermissionMode } from '#domain/entry.ts';
import type { Answer, Asker, ChoiceQuestion, Question } from '#domain/ports.ts';
import type { CallId } from '#domain/tool.ts';
import type { Fields } from '#headless/input.ts';
import { informational } from '#headless/messages.ts';
import type { Conversation } from '#main/conversation.ts';
import type { House } from '#main/house.ts';
import type { StreamOut } from './stream-out.ts';

/** Asks whoever reads the stream. */
export interface StreamAsker extends Asker {
  attach(house: House, conversation: Conversation, interrupt: () => void): void;
  /** An answer came. False where nothing was asked under this id. */
  answered(id: string, response: Fields | undefined, error: string | undefined): boolean;
  /** Nobody answers any more. */
  close(): void;
}

interface Held {
  readonly house: House;
  readonly conversation: Conversation;
  readonly interrupt: () => void;
}

const NOBODY: StreamAsker = { ask: async () => undefined, attach: () => undefined, answered: () => false, close: () => undefined };

/** Without `on` nobody is there to answer. */
export function createStreamAsker(out: StreamOut, on: boolean): StreamAsker {
  if (!on) return NOBODY;
  const open = new Map<string, (response: Fields | undefined) => void>();
  let held: Held | undefined;
  let closed = false;
  const put = (request: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Fields | undefined> => {
    if (closed || signal.aborted) return Promise.resolve(undefined);
    const id = randomUUID();
    out.hear();
    out.plain({ type: 'control_request', request_id: id, request });
    return new Promise((resolve) => {
      const settle = (response: Fields | undefined): void => {
        signal.removeEventListener('abort', give);
        open.delete(id);
        resolve(response);
      };
      const give = (): void => {
        out.plain({ type: 'control_cancel_request', request_id: id });
        settle(undefined);
      };
      signal.addEventListener('abort', give, { once: true });
      open.set(id, settle);
    });
  };
  return {
    attach(house, conversation, interrupt) { held = { house, conversation, interrupt }; },
    async ask(question, signal) {
      if (held === undefined) return undefined;
      const request = requestFor(question, held);
      if (request === undefined) return undefined;
      if (request.tool_use_id !== undefined) out.asked(request.tool_use_id);
      const response = await put({ subtype: 'can_use_tool', ...request }, signal);
      return response === undefined ? undefined : answerIn(question, response, held, (text) => { out.send(informational(text, 'warning')); });
    },
    answered(id, response, error) {
      const settle = open.get(id);
      if (error !== undefined && settle !== undefined) out.send(informational(`The question ${id} was not answered: ${error}`, 'warning'));
      settle?.(response);
      return settle !== undefined;
    },
    close() {
      closed = true;
      for (const settle of open.values()) settle(undefined);
    },
  };
}

interface Request {
  readonly tool_name: string;
  readonly input: unknown;
  readonly tool_use_id?: CallId;
  readonly [field: string]: unknown;
}

/** A question as a call that may be allowed; undefined for what only a person at the keyboard is asked. */
function requestFor(question: Question, { conversation }: Held): Request | undefined {
  switch (question.kind) {
    case 'permission': return {
      tool_name: question.call.tool, input: question.call.input, tool_use_id: question.call.id, title: question.card.title, decision_reason: question.reason,
      permission_suggestions: question.rules.length === 0 ? [] : [{ type: 'addRules', rules: question.rules.map(ruleOf), behavior: 'allow', destination: question.keep === 'local' ? 'localSettings' : 'session' }],
      ...(question.who !== undefined && { agent_id: question.who }),
    };
    case 'plan': return { tool_name: 'ExitPlanMode', input: { plan: question.plan, planFilePath: question.file }, ...callOf('ExitPlanMode', conversation), requires_user_interaction: true };
    case 'choices': return {
      tool_name: 'AskUserQuestion', ...callOf('AskUserQuestion', conversation), requires_user_interaction: true,
      input: { questions: question.questions.map(({ header, question: text, options, several }) => ({ question: text, header, options, multiSelect: several })) },
    };
    default: return undefined;
  }
}

/** The newest call of a tool that asks by itself. */
function callOf(tool: string, { session }: Conversation): { readonly tool_use_id?: CallId } {
  const calls = session.log.findLast((entry) => entry.type === 'assistant');
  const call = calls?.content.findLast((block) => block.type === 'tool_use' && block.name === tool);
  return call?.type === 'tool_use' ? { tool_use_id: call.id as CallId } : {};
}

function ruleOf(rule: string): { readonly toolName: string; readonly ruleContent?: string } {
  const [, toolName = rule, ruleContent] = /^([^()]+)\((.*)\)$/s.exec(rule) ?? [];
  return { toolName, ...(ruleContent !== undefined && { ruleContent }) };
}

/** What a response comes to. One that says neither yes nor no is no answer. */
async function answerIn(question: Question, response: Fields, held: Held, warn: (text: string) => void): Promise<Answer | undefined> {
  const { behavior, updatedInput, updatedPermissions, message, interrupt } = response;
  if (behavior === 'deny') {
    if (interrupt === true) held.interrupt();
    return { kind: 'no', instead: typeof message === 'string' && message.trim() !== '' ? message : 'It was refused.' };
  }
  if (behavior !== 'allow') {
    warn('A question was answered by neither "allow" nor "deny": it counts as not answered.');
    return undefined;
  }
  const mode = await taken(updatedPermissions, held, warn);
  if (question.kind === 'plan') return { kind: 'approved', mode: mode === 'acceptEdits' || mode === 'auto' ? mode : 'default' };
  if (question.kind === 'choices') return chosenIn(question.questions, updatedInput);
  if (question.kind !== 'permission' || updatedInput === undefined || isDeepStrictEqual(updatedInput, question.call.input)) return { kind: 'yes' };
  return { kind: 'yes', input: updatedInput };
}

const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Takes up what is to hold from now on: rules that allow, and the mode, which comes back. */
async function taken(updates: Json | undefined, { house, conversation }: Held, warn: (text: string) => void): Promise<PermissionMode | undefined> {
  let mode: PermissionMode | undefined;
  for (const update of Array.isArray(updates) ? updates as readonly Json[] : []) {
    if (isFields(update) && update['type'] === 'setMode' && isMode(update['mode']) && mayHave(update['mode'], house)) {
      mode = update['mode'];
      conversation.setMode(mode);
    } else if (isFields(update) && update['type'] === 'addRules' && update['behavior'] === 'allow' && Array.isArray(update['rules'])) {
      for (const rule of update['rules'] as readonly Json[]) await keep(rule, update['destination'] === 'session' ? 'session' : 'local', house, warn);
    } else warn('A change of permissions was not taken up: only rules that allow, and modes that this run may have, are.');
  }
  return mode;
}

async function keep(rule: Json, where: 'session' | 'local', { configuration }: House, warn: (text: string) => void): Promise<void> {
  if (!isFields(rule) || typeof rule['toolName'] !== 'string') return;
  const content = rule['ruleContent'];
  const text = typeof content === 'string' ? `${rule['toolName']}(${content})` : rule['toolName'];
  await configuration.keepRule(text, where).catch((error: unknown) => { warn(`The rule ${text} could not be kept: ${messageOf(error)}`); });
}

export function isMode(mode: Json | undefined): mode is PermissionMode {
  return PERMISSION_MODES.some((one) => one === mode);
}

/** A run in which nothing is asked is asked for when it starts. */
export function mayHave(mode: PermissionMode, { args, configuration }: House): boolean {
  return mode === 'bypassPermissions' ? args.permissionMode === 'bypassPermissions' : mode !== 'auto' || !configuration.settings().disableAutoMode;
}

/** Answers by the words of the questions; several labels stand in a list, or in one text with commas between. */
function chosenIn(questions: readonly ChoiceQuestion[], input: Json | undefined): Answer {
  const answers = isFields(input) && isFields(input['answers']) ? input['answers'] : {};
  const chosen = questions.map(({ question, options, several }): readonly string[] => {
    const answer = answers[question];
    if (Array.isArray(answer)) return (answer as readonly Json[]).flatMap((label) => (typeof label === 'string' ? [label] : []));
    if (typeof answer !== 'string' || answer === '') return [];
    const labels = answer.split(/,\s*/);
    return several && labels.every((label) => options.some((option) => option.label === label)) ? labels : [answer];
  });
  return chosen.some((labels) => labels.length > 0) ? { kind: 'chosen', answers: chosen } : { kind: 'no' };
}
