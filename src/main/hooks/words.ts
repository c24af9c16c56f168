import type { Outcome } from '#domain/ports.ts';
import type { PromptBody } from '#loop/query.ts';
import type { ScreenEvent } from '#ui/contract.ts';
import type { Conversation } from '#main/conversation.ts';
import type { House } from '#main/house.ts';

interface Desk {
  readonly house: House;
  readonly conversation: Conversation;
  readonly show: (event: ScreenEvent) => void;
  added(task: () => void): void;
}

/** Nothing of a prompt that was not sent is lost: it stands in the composer again. */
export function giveBack({ show }: Pick<Desk, 'show'>, outcome: Outcome | undefined, prompt: string | PromptBody | undefined): void {
  if (outcome?.kind !== 'stopped' || outcome.unsent !== true || prompt === undefined) return;
  show({ type: 'fault', where: '', message: outcome.message });
  show({ type: 'draft', text: typeof prompt === 'string' ? prompt : prompt.shown ?? prompt.text });
}

/** Words for the turn in hand are a prompt too: hooks may keep them from being sent. Whether they wait now. */
export async function queueWords(desk: Desk, line: string): Promise<boolean> {
  const { house, conversation, show } = desk;
  const { session } = conversation;
  const { entries, stop } = house.hooks.quiet(session) ? { entries: [] } : await house.hooks.prompt({ text: line }, session, new AbortController().signal);
  if (stop !== undefined) {
    giveBack({ show }, { kind: 'stopped', message: stop, unsent: true }, line);
    return false;
  }
  desk.added(() => { conversation.append([...entries, { type: 'queued', text: line }]); });
  return true;
}
