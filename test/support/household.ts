import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { CommandContext } from '#domain/command.ts';
import type { Entry, Event } from '#domain/entry.ts';
import type { Answer, Outcome, Question } from '#domain/ports.ts';
import { repositoryOf } from '#lib/git-files.ts';
import type { Arguments } from '#cli/arguments.ts';
import { interpret } from '#session/effects.ts';
import { homeOf } from '#session/home.ts';
import { listSessions } from '#session/list.ts';
import { configure } from '#main/configuration.ts';
import { type Conversation, openConversation } from '#main/conversation.ts';
import { commandLine, dispatch } from '#main/dispatch.ts';
import { buildHouse, type House } from '#main/house.ts';
import type { Place } from '#main/place.ts';
import { tempFolder } from './temp.ts';

export const ARGUMENTS: Arguments = {
  print: true, continue: false, outputFormat: 'text', inputFormat: 'text', includePartialMessages: false, replayUserMessages: false, includeHookEvents: false, verbose: false, forkSession: false, mcpConfig: [], strictMcpConfig: false, ide: false, allowedTools: [], disallowedTools: [], permissionMode: 'bypassPermissions', pin: [], addDir: [], trust: true,
};
/** An address that ends in `.ts` makes the counter work in this thread. */
const WORKERS = { counter: new URL('file:///count-worker.ts'), index: new URL('file:///index-worker.ts'), pdf: new URL('file:///pdf-worker.ts'), page: new URL('file:///page-worker.ts') };

/** A project with a home of its own, in which the program's parts are hung as `main` hangs them, in this process. */
export interface Household {
  readonly cwd: string;
  readonly home: string;
  write(name: string, contents: string | Uint8Array): void;
  /** Moves in: a house with its conversation, as a new process would have them. `resume` goes on with the newest session. */
  open(options?: { readonly resume?: boolean; /** The terminal, for hooks. */ readonly emit?: (sequence: string) => void; readonly args?: Partial<Arguments>; /** No mode is named when it starts. */ readonly modeless?: boolean; readonly answer?: (question: Question, signal: AbortSignal) => Answer | undefined | Promise<Answer | undefined> }): Promise<Dweller>;
}

export interface Dweller {
  readonly house: House;
  readonly conversation: Conversation;
  readonly log: readonly Entry[];
  readonly asked: readonly Question[];
  /** What happened in all turns so far. */
  readonly events: readonly Event[];
  /** How often something beside the conversation wanted a turn. */
  woken(): number;
  /** One turn to its end; `each` hears every event and may interrupt. */
  turn(prompt: string | undefined, each?: (event: Event, interrupt: () => void) => void | Promise<void>): Promise<Outcome>;
  /** A slash command; fails the test when it is refused. Gives the text of its card. */
  command(line: string): Promise<string>;
  context(): CommandContext;
  faults(): readonly string[];
  /** Moves out; the next one to open may go on. */
  close(): void;
}

export function household(files: Readonly<Record<string, string | Uint8Array>>, server: { readonly url: string }, env: Readonly<Record<string, string>> = {}): Household {
  const cwd = tempFolder(files);
  const userHome = tempFolder();
  const home = join(userHome, 'pinion');
  const whole = { PATH: process.env['PATH'] ?? '', HOME: userHome, PINION_HOME: home, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'sk-ant-test', GIT_CONFIG_NOSYSTEM: '1', ...env };
  return {
    cwd, home,
    write(name, contents) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), contents);
    },
    async open({ resume = false, args: more = {}, modeless = false, answer, emit } = {}) {
      const place: Place = { cwd, repository: repositoryOf(cwd), userHome, home: homeOf(whole), env: whole, shell: '/bin/bash' };
      const { permissionMode, ...rest } = ARGUMENTS;
      const args: Arguments = { ...rest, ...(permissionMode !== undefined && !modeless && { permissionMode }), ...more };
      const newest = resume ? (await listSessions(place.home, cwd))[0]?.file : undefined;
      if (resume && newest === undefined) throw new Error('there is no session to go on with');
      return moveIn(place, args, newest, answer, emit);
    },
  };
}

function moveIn(place: Place, args: Arguments, file: string | undefined, answer: (question: Question, signal: AbortSignal) => Answer | undefined | Promise<Answer | undefined> = () => ({ kind: 'yes' }), emit?: (sequence: string) => void): Dweller {
  const asked: Question[] = [];
  const events: Event[] = [];
  let woken = 0;
  const house = buildHouse({
    place, args, configuration: configure(place, args), workers: WORKERS, onNotice: () => undefined, tell: (_, event) => { events.push(event); }, wake: () => { woken += 1; }, ...(emit !== undefined && { emit }),
    asker: { ask: (question, signal) => { asked.push(question); return Promise.resolve(answer(question, signal)); } },
  });
  const conversation = openConversation(house, file);
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    conversation.close();
    house.close();
  };
  onTestFinished(close);
  const context = (): CommandContext => conversation.context('print', []);
  const drain = async (run: AsyncGenerator<Event, Outcome>, each: (event: Event) => void | Promise<void> = () => undefined): Promise<Outcome> => {
    for (;;) {
      const next = await run.next();
      if (next.done === true) return next.value;
      events.push(next.value);
      await each(next.value);
    }
  };
  const dweller: Dweller = {
    house, conversation, asked, events, close, context, woken: () => woken,
    get log() { return conversation.session.log; },
    turn(prompt, each) {
      const stop = new AbortController();
      return drain(conversation.turn(prompt, stop.signal), (event) => each?.(event, () => { stop.abort(); }));
    },
    async command(line) {
      const parsed = commandLine(line);
      if (parsed === undefined) throw new Error(`${line} is no command`);
      let said = '';
      await conversation.commands();
      await interpret(await dispatch(parsed, context()), line, {
        show: (_line, card) => { said = JSON.stringify(card); },
        append: (entries) => { conversation.append(entries); },
        submit: async (prompt) => { await dweller.turn(prompt); },
        compact: async (keep) => { expect(await drain(conversation.compact(keep, new AbortController().signal))).toEqual({ kind: 'answered' }); },
        mode: (mode) => { conversation.setMode(mode); },
        clear: async (all) => { conversation.clear(all); },
        refuse: (_line, message) => { throw new Error(`${line}: ${message}`); },
        invoke: async (skill, args) => {
          const refuse = (message: string): never => { throw new Error(`${line}: ${message}`); };
          await drain(conversation.invoke(skill, args, line, new AbortController().signal, refuse));
        },
        stopTask: async (id) => { await house.tasks.stop(id, conversation.session); },
        exit: () => undefined,
      });
      return said;
    },
    faults: () => events.flatMap((event) => (event.type === 'fault' ? [`${event.where}: ${event.message}`] : [])),
  };
  return dweller;
}
