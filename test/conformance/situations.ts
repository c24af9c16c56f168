import { sha256 } from '#lib/hash.ts';
import { TODO_LIST_ID } from '#domain/attachment.ts';
import type { AgentType, Mail } from '#domain/agents.ts';
import { type BlobHash, NO_USAGE } from '#domain/content.ts';
import type { Session } from '#domain/session.ts';
import type { CallId, FileTouch } from '#domain/tool.ts';
import type { MemoryFile, PinView, World } from '#domain/world.ts';
import { answer, assistant, prompt } from '../support/logs.ts';
import { nothing } from '../support/nothing.ts';

/** A state of the world that a source speaks of: the log and the ports in it, with the words and the name that stand in it. */
export type Situation = (words: string, name: string) => { readonly log?: (session: Session) => void; readonly world?: Partial<World> };

const touch = (path: string): FileTouch => ({ path, hash: sha256(path) as BlobHash, how: 'read', kept: false });
const pin = (words: string, name: string): PinView => ({ id: 'file:a', label: name, text: words, media: [], hash: sha256(words) as BlobHash, files: [], note: 'a note' });
export const knows = (session: Session, path: string): void => {
  session.append({ type: 'toolResult', callId: 'c' as CallId, tool: 'Read', result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: [touch(path)] } });
};
export const todo = (session: Session, text: string): void => {
  session.append({ type: 'attach', by: 'user', attachment: { kind: 'todo', id: TODO_LIST_ID, items: [{ id: 1, text, state: 'open', by: 'user' }, { id: 2, text: 'second', state: 'active', by: 'model' }] } });
};

const withSkill = (description: string, name: string): Partial<World> => ({
  tools: { has: () => true, deferred: () => [{ name: 'Loaded', summary: 'x' }] },
  skills: () => Promise.resolve([{ name, description, scope: 'nested', form: 'skill', from: name, file: '/w/SKILL.md', modelMayUse: true, userMayUse: true, bytes: 9 }]),
});

const remembering = (words: string, name: string): Partial<World> => {
  const file = (folder: string): MemoryFile => ({ path: `/w/${folder}${name}`, scope: 'project', text: words, notes: ['a note'], when: [words.slice(0, 50)], changedOn: '2026-11-01' });
  return { memory: { files: () => Promise.resolve([file('')]), nested: () => Promise.resolve([file('below/')]), recall: (_text, except) => Promise.resolve([file('notes/')].filter(({ path }) => !except.has(path))) } };
};

const approved = (session: Session, file: string, text: string): void => { session.append({ type: 'plan', file, text, state: 'approved' }); };

const mentioning = (words: string, name: string): World['mentions'] => ({
  load: () => Promise.resolve({ parts: [{ type: 'text', text: words }], files: [touch('/w/a')], notes: ['a note'] }), named: () => Promise.resolve(new Set()), agents: () => [name],
});

const withAgents = (words: string, name: string): Partial<World> => {
  // Lines are cut: what is new in the words must stand at their beginning.
  const line = `${words.slice(-50)} ${words}`;
  const type: AgentType = { name, description: line, scope: 'user', prompt: 'p', disallowedTools: [], reminder: words };
  const mail = (id: string, from: string): Mail => ({ id, from, to: name, text: words.slice(0, 16_000), at: '2026-11-30T00:00:00.000Z' });
  return {
    tools: { has: () => true, deferred: () => [{ name: 'Loaded', summary: 'x' }] },
    agents: {
      types: () => Promise.resolve([type, { ...type, name: `${name}x` }]), self: () => ({ name: 'me', type, named: true }), mail: () => Promise.resolve([mail('0000000000000001', name), mail('0000000000000002', 'lead')]),
      members: () => [{ name: `${name}x`, type: name, title: line, state: 'idle' }],
    },
  };
};

const withServer = (words: string, name: string): Partial<World> => ({
  outside: {
    ...nothing.outside,
    mcp: {
      servers: () => [{ name, scope: 'user', transport: 'stdio', state: 'connected', instructions: `${words.slice(-50)} ${words}`, tools: [], resources: [], prompts: [], notes: [] }],
      mentioned: () => Promise.resolve([{ server: name, uri: 'b://c', parts: [{ type: 'text', text: words }], notes: ['a note'] }]),
    },
  },
});

const spending = (words: string): Partial<World> => {
  const much = words.includes('new words') ? 20 : 0;
  return { usage: () => Promise.resolve({ used: 170_000 + much * 1000, limit: 200_000, window: 200_000, autoCompact: true, output: 50_000 + much * 1000, usd: 1 + much / 10, budgetUsd: 5 }) };
};

const withEditor = (words: string, name: string): Partial<World> => ({
  outside: {
    ...nothing.outside,
    editor: {
      name: () => name, openFile: () => Promise.resolve({ path: `/w/${name}${words.length % 97}`, label: `${name}${words.length % 97}` }),
      selection: () => Promise.resolve({ path: `/w/${name}`, label: name, fromLine: 1, toLine: 2, text: words, saved: true }),
      written: () => Promise.resolve({ answered: ['/w/a'], diagnostics: [{ path: '/w/a', label: name, line: 1, column: 2, severity: 'error', message: words, source: name, code: name }] }),
    },
  },
});

/** One situation for each source of the shelf: a new source needs one here, and the suite runs over it. */
export const SITUATIONS: Readonly<Record<string, Situation>> = {
  hook_context: (words, name) => ({ log: (session) => { session.append({ type: 'hookContext', event: 'PostToolUse:Edit', hook: name, text: words.slice(0, 12_000) }); } }),
  environment: (words, name) => ({ world: { environment: () => ({ directory: `/w/${name}`, extraDirectories: [words], repository: true, branch: name, platform: 'linux', shell: words }) } }),
  lsp_diagnostics: (words, name) => ({ world: { outside: { ...nothing.outside, languages: { written: () => Promise.resolve([{ path: '/w/a.ts', label: name, whole: true, reports: [{ path: '/w/a.ts', line: 1, column: 2, severity: 'error', fresh: true, text: name, message: words.slice(-2000), source: words.slice(0, 2000), code: name }] }]) } } } }),
  date_change: (words) => ({ world: { now: new Date(2026, 0, words.length % 28 + 1) } }),
  deferred_tools_delta: (words, name) => ({ world: { tools: { has: () => true, deferred: () => [{ name, summary: words }, { name: `${words.length % 97}x`, summary: words }] } } }),
  mcp_instructions_delta: (words, name) => ({ world: withServer(words, name) }),
  mcp_resources: (words, name) => ({ log: (session) => { session.append(prompt('@a:b://c')); }, world: withServer(words, name) }),
  memory: (words, name) => ({ world: remembering(words, name) }),
  nested_memory: (words, name) => ({ log: (session) => { knows(session, '/w/a'); }, world: remembering(words, name) }),
  skill_listing: (words, name) => ({ world: withSkill(words, name) }),
  invoked_skills: (words, name) => ({ log: (session) => {
    session.append({ type: 'prompt', text: words, shown: '/name', skill: { name, mentions: '' } });
    session.append({ type: 'compaction', summary: 's', trigger: 'manual', usage: NO_USAGE, model: 'm', tokensBefore: 1 });
  } }),
  agent_listing_delta: (words, name) => ({ world: withAgents(words, name) }),
  agent_mentions: (words, name) => ({ log: (session) => { session.append(prompt('@agent-x')); }, world: { ...withAgents(words, name), mentions: mentioning(words, name) } }),
  ide_selection: (words, name) => ({ world: withEditor(words, name) }),
  ide_opened_file: (words, name) => {
    const { outside = nothing.outside } = withEditor(words, name);
    return { world: { outside: { ...outside, editor: { ...outside.editor, selection: () => Promise.resolve(undefined) } } } };
  },
  diagnostics: (words, name) => ({ world: withEditor(words, name) }),
  team_context: (words, name) => ({ world: withAgents(words, name) }),
  teammate_mailbox: (words, name) => ({ world: withAgents(words, name) }),
  agent_pending_messages: (words, name) => ({ world: { ...withAgents(words, name), thread: 'sub' } }),
  critical_system_reminder: (words, name) => ({ world: withAgents(words, name) }),
  skill_discovery: (words, name) => ({ log: (session) => { session.append(prompt('tune the xylophone')); }, world: withSkill(`Tune a xylophone. ${words}`, name) }),
  dynamic_skill: (words, name) => ({ world: withSkill(words, name) }),
  pins: (words, name) => ({ world: { pins: { views: () => Promise.resolve([pin(words, name)]) } } }),
  todos: (words) => ({ log: (session) => { todo(session, words); } }),
  recent_files: (words, name) => ({ log: (session) => {
    knows(session, `/w/${name}`);
    session.append({ type: 'compaction', summary: 's', trigger: 'manual', usage: NO_USAGE, model: 'm', tokensBefore: 1 });
  }, world: { files: { load: (path) => Promise.resolve({ parts: [{ type: 'text', text: words }], files: [touch(path)], notes: [] }) } } }),
  relevant_memories: (words, name) => ({ log: (session) => { session.append(prompt('remember')); }, world: remembering(words, name) }),
  at_mentioned_files: (words) => ({ log: (session) => { session.append(prompt('@a')); }, world: { mentions: mentioning(words, 'name') } }),
  changed_files: (words, name) => ({ log: (session) => { knows(session, '/w/a'); }, world: { changes: { look: () => Promise.resolve({ changes: [{ path: '/w/a', label: name, kind: 'changed', hash: sha256(words) as BlobHash, kept: false, patch: words, addedLines: 1, removedLines: 1 }], skipped: 1, settling: false }) } } }),
  unified_tasks: (words, name) => {
    const task = { id: 'shell-1', kind: 'shell', title: name, state: 'failed', exitCode: 3, file: '/t/shell-1.log' } as const;
    return {
      log: (session) => { session.append({ type: 'task', task }); },
      world: { tasks: () => Promise.resolve([{ ...task, bytes: Buffer.byteLength(words), readBytes: 0, startedAtMs: 0, tail: words }]) },
    };
  },
  token_usage: (words) => ({ world: spending(words) }),
  output_token_usage: (words) => ({ world: spending(words) }),
  budget_usd: (words) => ({ world: spending(words) }),
  compaction_reminder: (words) => ({ log: (session) => { session.append(assistant([{ type: 'text', text: 'x' }], 'end_turn', { ...NO_USAGE, input: 10 })); }, world: spending(words) }),
  todo_reminders: (words) => ({ log: (session) => { todo(session, words); for (let step = 0; step < 10; step += 1) session.append(answer('x')); }, world: { tools: { has: () => true, deferred: () => [{ name: 'Loaded', summary: words }] } } }),
  output_style: (words, name) => ({ world: { style: () => Promise.resolve({ name, body: words, companion: { name, text: words } }) } }),
  companion_intro: (words, name) => ({ world: { style: () => Promise.resolve({ name, body: words, companion: { name, text: words } }) } }),
  plan_file: (words, name) => ({ log: (session) => {
    approved(session, `/p/${name}.md`, words);
    session.append({ type: 'compaction', summary: 's', trigger: 'manual', usage: NO_USAGE, model: 'm', tokensBefore: 1 });
  } }),
  verify_plan_reminder: (words, name) => ({ log: (session) => {
    approved(session, `/p/${name}.md`, words);
    session.append({ type: 'toolResult', callId: 'c' as CallId, tool: 'Write', result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: [{ ...touch('/w/new'), how: 'write' }] } });
    for (let step = 0; step < 6; step += 1) session.append(answer('x'));
  } }),
  plan_mode: () => ({ world: { mode: 'plan' } }),
  auto_mode: () => ({ world: { mode: 'auto' } }),
  ultrathink_effort: (words) => ({ log: (session) => { session.append({ type: 'queued', text: `ultrathink ${words}` }); } }),
  queued_commands: (words) => ({ log: (session) => { session.append({ type: 'queued', text: words }); } }),
};
