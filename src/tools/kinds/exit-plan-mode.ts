import * as z from 'zod';
import type { BlobHash } from '#domain/content.ts';
import type { EntryBody, PermissionMode } from '#domain/entry.ts';
import type { Answer, ToolOutcome } from '#domain/ports.ts';
import type { FileTouch } from '#domain/tool.ts';
import { sha256 } from '#lib/hash.ts';
import { readSmallFile } from '#lib/small-file.ts';
import { defineTool, type RunContext } from '../define.ts';
import { done, failed, interrupted, refused } from '../result.ts';
import description from './exit-plan-mode.md';

const LONGEST_PLAN = 50_000;
const TITLE = 'Plan';

const input = z.strictObject({ plan: z.string().trim().min(1).max(LONGEST_PLAN).describe('Markdown') });

export const exitPlanMode = defineTool({
  id: 'ExitPlanMode',
  description,
  // It runs alone: the calls after it are judged in the mode that it leads to.
  effect: 'writes',
  threads: 'main',
  input,
  title: () => TITLE,
  async *run({ plan }, context) {
    const { session, signal } = context;
    if (context.mode(session) !== 'plan') return failed(TITLE, 'Plan mode is not on: there is nothing to approve. Go on with the work.');
    const file = await context.keepPlan(plan, session);
    yield 'waits for your answer';
    const answer = await context.ask({ kind: 'plan', plan, file }, session, signal);
    if (signal.aborted) return interrupted(TITLE, `Interrupted before the user answered. Plan mode is still on; the plan is kept in ${file}.`, { entries: [proposal(file, plan)] });
    return await settled(answer, file, plan, context);
  },
});

const proposal = (file: string, text: string): EntryBody => ({ type: 'plan', file, text, state: 'proposed' });

async function settled(answer: Answer | undefined, file: string, plan: string, context: RunContext): Promise<ToolOutcome> {
  if (answer === undefined) {
    return refused(TITLE, `Nobody is there to approve the plan: plan mode stays on and nothing can be changed. It is kept in ${file}. End with the plan as your answer.`, { detail: 'nobody is there to approve it', entries: [proposal(file, plan)] });
  }
  // The user may have changed the file while the question stood.
  const kept = contentsOf(file);
  const text = kept?.trim() || plan;
  const files = kept === undefined ? [] : [touchOf(file, kept, context)];
  if (answer.kind === 'no') {
    const instead = answer.instead?.trim() ?? '';
    const entries: EntryBody[] = [{ type: 'plan', file, text, state: 'rejected' }];
    const said = instead === '' ? 'The user does not approve the plan.' : `The user does not approve the plan yet and says: ${instead}`;
    return { ...refused(TITLE, `${said}\nPlan mode stays on. The plan is kept in ${file}.${changed(plan, text)}`, { detail: instead === '' ? 'not approved' : `not approved: ${instead}`, entries, files }), ...(instead === '' && { endTurn: 'You did not approve the plan. Say what to change; plan mode is still on.' }) };
  }
  const mode = answer.kind === 'approved' ? answer.mode : 'default';
  const entries: EntryBody[] = [{ type: 'plan', file, text, state: 'approved' }, { type: 'mode', mode }];
  return done(`The user approved the plan. Plan mode is over; ${MODES[mode]}. The plan is kept in ${file}.${changed(plan, text)}`, { title: TITLE, detail: `go ahead: ${MODES[mode]}`, tone: 'good', body: [] }, { entries, files });
}

const MODES: Readonly<Record<Exclude<PermissionMode, 'plan' | 'bypassPermissions'>, string>> = {
  default: 'writing and running are asked about',
  acceptEdits: 'edits inside the project are not asked about',
  auto: 'auto mode is on',
};

function changed(before: string, now: string): string {
  return now === before ? '' : `\nThe user changed the plan. It now reads:\n${now}`;
}

function contentsOf(file: string): string | undefined {
  try {
    return readSmallFile(file, 4 * LONGEST_PLAN);
  } catch {
    return undefined;
  }
}

/** What the model knows of the file: so a later change of it by the user is told. */
function touchOf(path: string, contents: string, { blobs }: RunContext): FileTouch {
  return { path, hash: sha256(contents) as BlobHash, how: 'write', kept: blobs.put(Buffer.from(contents)) !== undefined };
}
