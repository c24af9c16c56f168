import type { Event } from '#domain/entry.ts';
import type { Outcome } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { PromptBody } from '#loop/query.ts';
import type { Skills } from '#skills/skills.ts';

export interface SkillTurn {
  readonly name: string;
  readonly args: string;
  /** What the user entered. */
  readonly line: string;
}

/** A turn whose prompt is what a skill makes of its arguments. What keeps it from being is told to `refuse`, and nothing is sent. */
export async function* skillTurn({ name, args, line }: SkillTurn, skills: Skills, session: Session, begin: (prompt: PromptBody) => AsyncGenerator<Event, Outcome>, signal: AbortSignal, refuse: (message: string) => void): AsyncGenerator<Event, Outcome> {
  yield { type: 'doing', what: `reading /${name}` };
  const loaded = await skills.load(name, args, 'user', session, signal);
  if (signal.aborted) {
    refuse('interrupted; nothing was sent.');
    return { kind: 'interrupted' };
  }
  if ('problem' in loaded) {
    refuse(`${loaded.problem}.`);
    return { kind: 'answered' };
  }
  for (const message of loaded.notes) yield { type: 'fault', where: `/${name}`, message };
  return yield* begin({ text: loaded.text, shown: line, skill: { name, mentions: loaded.mentions } });
}
