/**
 * Pinion as a library. A session is an append-only log; `query` is the whole agent, a generator over five ports; what is kept
 * in view is an attachment, and what the model is told beside the user's words are the reminders of sources.
 *
 * ```ts
 * import { createSession, FileAttachment, TodoAttachment, TodoItem } from 'pinion';
 *
 * const session = createSession().withAttachment(FileAttachment.pathOnly('src/index.ts'));
 * session.setAttachment(new TodoAttachment([new TodoItem('write tests', false)]));
 * session.attachmentIds(); // ['file:src/index.ts', 'todo:list']
 * ```
 */
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
export type { Attachment, AttachmentId, AttachmentKind, StoredAttachment } from '#domain/attachment.ts';
export type { Entry, EntryBody, Event } from '#domain/entry.ts';
export type { Asker, GatePort, ModelPort, Outcome, Ports, ReminderPort, ToolPort, WorldPort } from '#domain/ports.ts';
export type { AttachmentHolder, Session } from '#domain/session.ts';
export type { World } from '#domain/world.ts';
export { absent } from '#domain/world.ts';
