import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Person } from '#agents/agent.ts';
import { Desk } from '#agents/desk.ts';
import { createTypes } from '#agents/types.ts';
import type { AgentEnd, AgentRequest } from '#domain/agents.ts';
import type { Entry, Event } from '#domain/entry.ts';
import type { Session } from '#domain/session.ts';
import { untoldMail } from '#domain/mail.ts';
import type { SourceId } from '#domain/reminder.ts';
import { query } from '#loop/query.ts';
import { rig, type Rig, type Script } from '../loop/ports.ts';
import { memorySession } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';

/** A desk over the real loop with scripted models: `script` makes that of each thread as it is opened. */
export interface DeskRig {
  readonly desk: Desk;
  readonly lead: Session & { readonly log: Entry[] };
  readonly threads: readonly (Rig & { readonly person: Person })[];
  /** How often the conversation was woken. */
  woken(): number;
  readonly told: readonly Event[];
  readonly asked: readonly (readonly string[])[];
  readonly kept: readonly string[];
  run(request?: Partial<AgentRequest>, options?: { signal?: AbortSignal; each?: (line: string) => void }): Promise<AgentEnd>;
  /** Resolves when nobody is at work. */
  quiet(): Promise<void>;
}

export interface DeskOptions {
  readonly script?: (person: Person, thread: number) => Script;
  readonly agrees?: () => boolean | Promise<boolean>;
  readonly files?: Readonly<Record<string, string>>;
  readonly folder?: string;
  readonly lead?: DeskRig['lead'];
  readonly fallBack?: () => boolean;
  /** Logs of threads as an earlier process left them, by file. */
  readonly logs?: Map<string, Entry[]>;
}

export function deskRig(options: DeskOptions = {}): DeskRig {
  const folder = options.folder ?? tempFolder(options.files);
  const lead = options.lead ?? memorySession();
  const threads: (Rig & { person: Person })[] = [];
  const told: Event[] = [];
  const asked: (readonly string[])[] = [];
  const kept: string[] = [];
  let woken = 0;
  const desk: Desk = new Desk({
    types: createTypes(() => [{ path: join(folder, 'agents'), scope: 'project' }]), query,
    open({ id, person, file = join(folder, `${id}.jsonl`) }) {
      const script = options.script?.(person, threads.length) ?? {};
      const made = rig({ collect: (moment, session) => ({ reminders: mailTold(desk, session, moment), faults: [] }), ...script }, options.logs?.get(file) ?? []);
      const thread = { ...made, person };
      threads.push(thread);
      return { session: made.session, ports: made.ports, file, fallBack: options.fallBack ?? (() => false), close: () => { options.logs?.set(file, [...made.session.log]); } };
    },
    mailbox: (_, name) => join(folder, 'teams', `${name.toLowerCase()}.jsonl`),
    keepText: (_lead, id, text) => { kept.push(text); return `/kept/${id}.md`; },
    lastNumber: () => 0,
    label: (path) => path.replace('/w/', ''),
    confirm: async (title, lines) => { asked.push([title, ...lines]); return await options.agrees?.() ?? false; },
    tell: (_, event) => { told.push(event); },
    wake: () => { woken += 1; },
  });
  onTestFinished(() => { desk.close(); });
  return {
    desk, lead, threads, told, asked, kept, woken: () => woken,
    async run(request = {}, { signal = new AbortController().signal, each } = {}) {
      const run = desk.run({ type: 'general', title: 'work', prompt: 'Do it.', background: false, ...request }, lead, signal);
      for (;;) {
        const next = await run.next();
        if (next.done === true) return next.value;
        each?.(next.value);
      }
    },
    async quiet() {
      while (desk.live(lead).length > 0) await new Promise((resolve) => { setTimeout(resolve, 2); });
    },
  };
}

/** Tells mail as the product's sources do: in words, and with the last id as the snapshot. */
function mailTold(desk: Desk, session: Session, moment: 'prompt' | 'step') {
  const mail = desk.mailTo(session);
  return (['teammate_mailbox', 'agent_pending_messages'] as const).flatMap((source) => {
    const now = untoldMail(session.log, mail, 'sub', source);
    return now.length === 0 ? [] : [{ type: 'reminder' as const, moment, source: source as string as SourceId, form: 'full' as const, parts: now.map(({ from, text }) => ({ type: 'text' as const, text: `${from}: ${text}` })), snapshot: now.at(-1)?.id ?? '' }];
  });
}
