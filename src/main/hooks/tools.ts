import { randomUUID } from 'node:crypto';
import type { Json } from '#lib/brand.ts';
import type { EntryBody } from '#domain/entry.ts';
import { todosOf } from '#domain/folds.ts';
import type { ToolOutcome, ToolPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Call } from '#domain/tool.ts';
import { fieldsOf, textOf } from '#hooks/answer.ts';
import { blockEntries, reasonOf, type Verdicts } from '#hooks/combine.ts';
import { namesOf } from '#hooks/match.ts';
import type { HookDesk } from './desk.ts';
import { errorText, responseOf, toolFields } from './fields.ts';

/** Runs a call, and tells hooks what it came to. */
export async function* runHooked(desk: HookDesk, tools: ToolPort, call: Call, session: Session, signal: AbortSignal): AsyncGenerator<string, ToolOutcome> {
  const answered = answersGiven(call);
  if (answered !== undefined) return answered;
  const objection = await objectionTo(desk, call, session, signal);
  if (objection !== undefined) return objection;
  const from = desk.options.tools().cwd(session);
  const began = performance.now();
  const outcome = yield* tools.run(call, session, signal);
  const duration = Math.round(performance.now() - began);
  const { result } = outcome;
  const fields = { ...toolFields(desk, call, session), duration_ms: duration };
  if (result.kind === 'interrupted' || signal.aborted) {
    // Nobody waits for it any more, and it is told all the same.
    void desk.hear('PostToolUseFailure', session, { names: namesOf(call.tool), fields: { ...fields, error: errorText(result), is_interrupt: true }, call }, new AbortController().signal);
    return outcome;
  }
  const said = result.kind === 'ok'
    ? await desk.hear('PostToolUse', session, { names: namesOf(call.tool), fields: { ...fields, tool_response: responseOf(call, result) }, call }, signal)
    : result.kind === 'failed' ? await desk.hear('PostToolUseFailure', session, { names: namesOf(call.tool), fields: { ...fields, error: errorText(result), is_interrupt: false }, call }, signal) : undefined;
  const moved = await movedBy(desk, outcome, from, session, signal);
  return said === undefined ? withMore(outcome, moved) : withMore(heard(outcome, said, call), moved);
}

function withMore(outcome: ToolOutcome, entries: readonly EntryBody[]): ToolOutcome {
  return entries.length === 0 ? outcome : { ...outcome, entries: [...outcome.entries ?? [], ...entries] };
}

/** What hooks say stands behind the result; what replaces it stands in its place. */
function heard(outcome: ToolOutcome, said: Verdicts, call: Call): ToolOutcome {
  const replaced = said.answers.map(({ more }) => outputText(more['updatedToolOutput'] ?? (call.tool.startsWith('mcp__') ? more['updatedMCPToolOutput'] : undefined), call)).findLast((text) => text !== undefined);
  const stop = said.stop ?? outcome.endTurn;
  return {
    result: replaced === undefined ? outcome.result : { ...outcome.result, content: replaced === '' ? [] : [{ type: 'text', text: replaced }] },
    entries: [...outcome.entries ?? [], ...said.entries, ...blockEntries(said)],
    ...(stop !== undefined && { endTurn: stop }),
  };
}

/** The text of what is to stand in a result's place: a text, or an output of the tool's own shape. */
function outputText(value: Json | undefined, { tool }: Call): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return blocksText(value);
  const fields = fieldsOf(value);
  if (fields === undefined) return undefined;
  if (typeof fields['stdout'] === 'string') return [fields['stdout'], fields['stderr']].flatMap((one) => (typeof one === 'string' && one !== '' ? [one] : [])).join('\n');
  const content = fieldsOf(fields['file'])?.['content'] ?? fields['content'];
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return blocksText(content);
  return tool.startsWith('mcp__') ? JSON.stringify(fields) : undefined;
}

function blocksText(blocks: readonly Json[]): string {
  return blocks.flatMap((block) => {
    const text = fieldsOf(block)?.['text'];
    return typeof text === 'string' ? [text] : [];
  }).join('\n');
}

/** A hook has answered the questions for the user. */
function answersGiven(call: Call): ToolOutcome | undefined {
  const answers = call.tool === 'AskUserQuestion' ? fieldsOf(fieldsOf(call.input)?.['answers']) : undefined;
  if (answers === undefined) return undefined;
  const lines = Object.entries(answers).map(([question, answer]) => `- ${question} → ${typeof answer === 'string' ? answer : JSON.stringify(answer)}`);
  return { result: { kind: 'ok', content: [{ type: 'text', text: ['A hook of the user\'s answered:', ...lines].join('\n') }], card: { title: 'Question', detail: 'answered by a hook', body: [{ type: 'list', items: lines }] } } };
}

interface Todo {
  readonly text: string;
  readonly state: string;
}

function wantedTodos(call: Call): readonly Todo[] {
  const todos = call.tool === 'TodoWrite' ? fieldsOf(call.input)?.['todos'] : undefined;
  return (Array.isArray(todos) ? todos : []).flatMap((todo: Json) => {
    const fields = fieldsOf(todo);
    const text = textOf(fields?.['content'] ?? fields?.['text']);
    return text === undefined ? [] : [{ text, state: textOf(fields?.['status']) ?? (fields?.['completed'] === true ? 'completed' : 'pending') }];
  });
}

/** Todos are the tasks of other shells: what hooks have against a new or a finished one keeps the list as it is. */
async function objectionTo(desk: HookDesk, call: Call, session: Session, signal: AbortSignal): Promise<ToolOutcome | undefined> {
  if (!desk.listens('TaskCreated', session) && !desk.listens('TaskCompleted', session)) return undefined;
  const now = todosOf(session.log);
  const entries: EntryBody[] = [];
  for (const { text, state } of wantedTodos(call)) {
    const before = now.find((todo) => todo.text === text);
    const events = [...(before === undefined ? ['TaskCreated' as const] : []), ...(state === 'completed' && before?.state !== 'done' ? ['TaskCompleted' as const] : [])];
    for (const event of events) {
      const said = await desk.hear(event, session, { fields: { task_id: before === undefined ? `task-${randomUUID().slice(0, 8)}` : String(before.id), task_subject: text } }, signal);
      entries.push(...said.entries);
      if (said.blocks.length === 0 && said.stop === undefined) continue;
      const reason = said.blocks.length > 0 ? reasonOf(said) : said.stop ?? '';
      return {
        result: { kind: 'failed', content: [{ type: 'text', text: `The list stays as it was. ${reason}` }], card: { title: 'Todos', tone: 'bad', detail: 'a hook objects', body: [{ type: 'text', text: reason }] } },
        entries, ...(said.stop !== undefined && { endTurn: said.stop }),
      };
    }
  }
  return undefined;
}

async function movedBy(desk: HookDesk, { entries = [] }: ToolOutcome, from: string, session: Session, signal: AbortSignal): Promise<readonly EntryBody[]> {
  const to = entries.findLast((entry) => entry.type === 'cwd');
  if (to === undefined || to.path === from) return [];
  return (await desk.hear('CwdChanged', session, { fields: { old_cwd: from, new_cwd: to.path } }, signal)).entries;
}
