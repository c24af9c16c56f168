import { sanitise } from '#lib/terminal.ts';
import { isWithin } from '#lib/within.ts';
import type { Outcome } from '#domain/ports.ts';
import type { CallId } from '#domain/tool.ts';
import type { Conversation } from './conversation.ts';
import type { Entrance } from './entrance.ts';

export interface ShellDesk extends Pick<Entrance, 'house' | 'show'> {
  readonly conversation: Conversation;
  /** Does something that adds to the log, and shows what was added. */
  added(task: () => void): void;
}

/** Runs a line that was entered behind `!`; its output goes to the model with the next prompt. */
export async function runShellLine(at: ShellDesk, command: string, signal: AbortSignal): Promise<Outcome> {
  const { session } = at.conversation;
  const callId = `shell-${session.log.length}` as CallId;
  at.show({ type: 'toolStarted', call: { id: callId, tool: 'Bash', input: { command } }, card: { title: `! ${sanitise(command.split('\n')[0] ?? '')}`, body: [] } });
  const { how, output, bytes, exitCode, cwd, task } = await at.house.tasks.shell(session, command, signal, (text) => { at.show({ type: 'toolProgress', callId, text }); });
  const moved = cwd !== undefined && cwd !== at.house.tools.cwd(session) && at.house.configuration.roots().some((root) => isWithin(root, cwd));
  if (moved) at.house.hooks.moved(at.house.tools.cwd(session), cwd, session);
  at.added(() => {
    at.conversation.append([
      { type: 'shell', command, output: how === 'exited' || task !== undefined ? output : `${output.trimEnd()}\n(${how === 'timedOut' ? 'timed out' : how})`.trim(), exitCode, ...(task !== undefined && { task: task.id }) },
      ...(task === undefined ? [] : [{ type: 'taskRead' as const, task: task.id, upTo: bytes }]), ...(moved ? [{ type: 'cwd' as const, path: cwd }] : []),
    ]);
  });
  return { kind: 'answered' };
}
