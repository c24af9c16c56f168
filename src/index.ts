/**
 * Pinion as a library. `createAgent` is the program without a face. Below it lie its parts: a session is an append-only log;
 * `query` is the whole agent, a generator over five ports; what is kept in view is an attachment, and what the model is told
 * beside the user's words are the reminders of sources.
 *
 * ```ts
 * import { createAgent } from 'pinion';
 *
 * const agent = await createAgent({ mode: 'acceptEdits' });
 * for await (const event of agent.prompt('Fix the typo in README.md')) if (event.type === 'textDelta') process.stdout.write(event.text);
 * await agent.close();
 * ```
 */
import type { Agent, AgentOptions } from '#main/library-types.ts';

/** Addresses of the built workers: they lie beside this entry. */
const workers = { counter: new URL('count-worker.js', import.meta.url), index: new URL('index-worker.js', import.meta.url), pdf: new URL('pdf-worker.js', import.meta.url), page: new URL('page-worker.js', import.meta.url) };

/** An agent with the program's tools, permissions, settings and reminders, and those that are given. Close it. Throws (one line) what cannot be. */
export async function createAgent(options: AgentOptions = {}): Promise<Agent> {
  const { openAgent } = await import('#main/library.ts');
  return openAgent(options, workers);
}

export type { Agent, AgentOptions } from '#main/library-types.ts';
export { AttachmentStore, storeOf } from '#attachments/store.ts';
export { FileAttachment } from '#attachments/kinds/file.ts';
export { MemoryAttachment } from '#attachments/kinds/memory.ts';
export { TodoAttachment, TodoItem } from '#attachments/kinds/todo.ts';
export { createCollector } from '#attachments/collect.ts';
export { defineSource } from '#attachments/define.ts';
export { decide } from '#documents/decide.ts';
export { textEnvelope } from '#documents/envelope.ts';
export { compact } from '#loop/compact.ts';
export { project } from '#loop/project.ts';
export { query } from '#loop/query.ts';
export { createClient } from '#client/anthropic.ts';
export { defineTool } from '#tools/define.ts';
export { createToolbox } from '#tools/toolbox.ts';
export { createSession, LogSession } from '#session/session.ts';
export { FILE_CONTENTS_LIMIT_BYTES } from '#domain/attachment.ts';
export type { Source, SourceSpec } from '#attachments/define.ts';
export type { Client, ClientOptions } from '#client/anthropic.ts';
export type { RunContext, Tool, ToolContext, ToolSpec } from '#tools/define.ts';
export type { Attachment, AttachmentId, AttachmentKind, StoredAttachment } from '#domain/attachment.ts';
export type { Card, CardBlock } from '#domain/card.ts';
export type { CostView } from '#domain/command.ts';
export type { ContentBlock, Part, Usage } from '#domain/content.ts';
export type { Entry, EntryBody, Event, PermissionMode } from '#domain/entry.ts';
export type { ModelFacts } from '#domain/model.ts';
export type { Answer, Asker, BlobPort, GatePort, Limits, ModelPort, Outcome, Ports, Question, ReminderPort, Reply, ToolOutcome, ToolPort, Verdict, WorldPort } from '#domain/ports.ts';
export type { ModelRequest } from '#domain/request.ts';
export type { AttachmentHolder, Session } from '#domain/session.ts';
export type { Call, ToolResult } from '#domain/tool.ts';
export type { World } from '#domain/world.ts';
export { absent } from '#domain/world.ts';
