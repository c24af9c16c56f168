import { compactionOf, conversationOf, entryOf, headOf } from '#domain/folds.ts';
import type { Entry } from '#domain/entry.ts';
import { DEFAULT_MODEL } from '#domain/model.ts';
import type { BlobPort } from '#domain/ports.ts';
import type { ModelRequest } from '#domain/request.ts';
import { amendmentsOf } from './amend.ts';
import { isBlank } from './blocks.ts';
import { Draft } from './draft.ts';
import { deferredIn, toolsOf } from './on-demand.ts';
import { repaired } from './repair.ts';

/**
 * The single maker of requests: what the model is sent next, out of the log alone. Pure, and valid for any log whatever:
 * every call is answered, results stand first and in the order of their calls, no block is blank, ids are unique, the
 * first message is the user's. Appending to the log appends to the request, unless what was appended is an `exclude`,
 * `restore`, `rewind`, `strip`, `compaction` or `head`.
 *
 * The last message is the model's where the log ends with an answer; whoever sends the request adds what the user says.
 */
export function project(log: readonly Entry[], blobs: BlobPort): ModelRequest {
  const head = headOf(log);
  const conversation = conversationOf(log);
  const compaction = compactionOf(log);
  const open = compaction?.openPrompt === undefined ? undefined : entryOf(log, compaction.openPrompt);
  const tools = toolsOf(head?.tools ?? [], log);
  const draft = new Draft(amendmentsOf(log, conversation, open?.id), blobs, deferredIn(tools));
  if (compaction !== undefined) draft.summary(compaction, open?.type === 'prompt' || open?.type === 'queued' ? open : undefined);
  for (const entry of conversation) show(entry, draft);
  const { messages, origins, answered } = draft.finish();
  return {
    model: head?.model ?? DEFAULT_MODEL,
    ...(head?.effort === undefined ? {} : { effort: head.effort }),
    system: repaired(head?.system.filter(({ text }) => !isBlank(text)) ?? []),
    tools,
    messages,
    origins,
    headEnd: compaction === undefined ? 0 : 1,
    answered,
  };
}

function show(entry: Entry, draft: Draft): void {
  switch (entry.type) {
    case 'prompt': draft.prompt(entry); break;
    case 'reminder': draft.reminder(entry); break;
    case 'assistant': draft.assistant(entry); break;
    case 'toolResult': draft.toolResult(entry); break;
    case 'shell': draft.shell(entry); break;
    // An error means that a request failed: what comes next is appended to what was sent, never put before it.
    case 'notice': if (entry.level === 'error') draft.closeGroup(); break;
    default: break;
  }
}
