import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { tokens } from '#lib/numbers.ts';
import { count } from '#lib/text.ts';
import { type AgentEnd, type AgentPort, type AgentRequest, type AgentType, LEAD, type Mail, type Member } from '#domain/agents.ts';
import type { EntryBody, Event } from '#domain/entry.ts';
import { tasksOf } from '#domain/folds.ts';
import { toldUpTo } from '#domain/mail.ts';
import type { Session } from '#domain/session.ts';
import type { TaskRecord } from '#domain/tasks.ts';
import type { CallId } from '#domain/tool.ts';
import { Agent, type Finished, type Person, type Query, type Thread } from './agent.ts';
import { cutOff, endOf, failed, membersOf, started, stateOf } from './ends.ts';
import { MEMBER_NAME, putMail, readMail, RESERVED } from './mailbox.ts';
import { lineOf } from './progress.ts';
import { keyOf, type Types } from './types.ts';
import { markedWords } from './words.ts';

/** What agents need of the house. */
export interface AgentDoors {
  readonly types: Types;
  readonly query: Query;
  /** Opens a thread: anew, or where `file` is given goes on with it. Throws when it cannot. */
  open(order: { readonly id: string; readonly person: Person; readonly model?: string; readonly file?: string }): Thread;
  /** Absolute path of a member's mailbox. */
  mailbox(lead: Session, name: string): string;
  /** Puts a text that is too long into a file; gives its path. */
  keepText(lead: Session, id: string, text: string): string | undefined;
  /** The highest number of an agent of this conversation that ever had a log. */
  lastNumber(lead: Session): number;
  /** How a path is shown. */
  label(path: string): string;
  /** Whether a person agrees to so many at once; false where nobody is there. */
  confirm(title: string, lines: readonly string[], signal: AbortSignal): Promise<boolean>;
  tell(lead: Session, event: Event): void;
  wake(lead: Session): void;
}

export interface AgentDesk extends AgentPort {
  /** What was wrong with files of types, one line each. */
  problems(): readonly string[];
  /** Whether a thread has mail that it was not told of. */
  hasMail(session: Session): boolean;
  /** The conversation that a sub-agent works for; undefined for a conversation. */
  lead(session: Session): Session | undefined;
  /** The call of its conversation that asked for a sub-agent, where this process saw it. */
  callOf(session: Session): CallId | undefined;
  /** A conversation was taken up: agents of others end. */
  hold(session: Session): void;
  close(): void;
}

/** So many may be at work at once without a question. */
export const MOST_AT_ONCE = 8;
/** Turns that messages may begin for one agent between two prompts of the user: two agents must not talk for ever. */
export const MOST_TURNS = 20;

type Problem = { readonly problem: string };

/** Sub-agents and teams: who there is, who is at work, who has mail. What must survive stands in the logs and mailboxes. */
export class Desk implements AgentDesk {
  readonly #doors: AgentDoors;
  /** Those at work, and named ones that wait for mail. */
  readonly #agents: Agent[] = [];
  readonly #threads = new WeakMap<Session, Agent>();
  readonly #numbers = new WeakMap<Session, number>();
  /** Conversations whose person agreed to more than {@link MOST_AT_ONCE}, until all have ended. */
  readonly #many = new WeakMap<Session, Promise<boolean>>();
  /** Places given to agents that have not begun yet. */
  readonly #taken = new WeakMap<Session, number>();
  readonly #turns = new WeakMap<Agent, { prompt: string | undefined; count: number }>();
  #closed = false;

  constructor(doors: AgentDoors) {
    this.#doors = doors;
  }

  types(signal: AbortSignal): Promise<readonly AgentType[]> {
    return this.#doors.types.list(signal);
  }

  problems(): readonly string[] {
    return this.#doors.types.problems();
  }

  async *run(request: AgentRequest, lead: Session, signal: AbortSignal): AsyncGenerator<string, AgentEnd> {
    const types = await this.types(signal);
    const type = types.find(({ name }) => keyOf(name) === keyOf(request.type));
    if (type === undefined) return failed(`There is no sub-agent "${oneLine(request.type, 80)}". There are ${types.map(({ name }) => name).join(', ')}.`);
    const place = await this.#place(request.title, lead, signal);
    // From here on nothing is waited for: another one must not take the name or the place meanwhile.
    place?.give();
    if (signal.aborted) return { kind: 'interrupted', text: 'The user interrupted before the sub-agent began.', steps: 0, spent: [] };
    if (place === undefined) return failed(`${MOST_AT_ONCE} sub-agents are at work, and the user did not agree to more at once. Wait until some have ended.`);
    const agent = this.#start(type, request, lead);
    if ('problem' in agent) return failed(agent.problem);
    const background = request.background || request.name !== undefined || type.background === true;
    agent.begin(agent.id, background);
    if (background) this.#note(agent, 'running');
    const turn = this.#turn(agent, request.prompt);
    return background ? started(agent) : yield* this.#watch(agent, turn, signal);
  }

  #nameProblem(name: string, lead: Session): string | undefined {
    if (!MEMBER_NAME.test(name) || RESERVED.has(keyOf(name))) return `"${oneLine(name, 60)}" is no name for a teammate: letters, digits, - and _, at most 32, and not ${[...RESERVED].join(', ')}.`;
    const other = this.members(lead).find((member) => keyOf(member.name) === keyOf(name));
    return other === undefined ? undefined : `There is a teammate "${other.name}" already (${other.state}). Write to it with SendMessage, or take another name.`;
  }

  /** Room for one more at work; undefined where the person does not agree to so many. */
  async #place(title: string, lead: Session, signal: AbortSignal): Promise<{ give(): void } | undefined> {
    const working = this.live(lead);
    const taken = this.#taken.get(lead) ?? 0;
    if (working.length + taken >= MOST_AT_ONCE && !await this.#agrees(title, lead, signal)) return undefined;
    this.#taken.set(lead, (this.#taken.get(lead) ?? 0) + 1);
    return { give: () => { this.#taken.set(lead, (this.#taken.get(lead) ?? 1) - 1); } };
  }

  /** Asked once for all that are wanted together. */
  async #agrees(title: string, lead: Session, signal: AbortSignal): Promise<boolean> {
    const working = this.live(lead);
    const asked = this.#many.get(lead) ?? this.#doors.confirm(`Start more than ${count(MOST_AT_ONCE, 'sub-agent')} at once?`, [
      `The model wants another one: ${oneLine(title, 120)}`,
      `${count(working.length, 'sub-agent')} at work: ${tokens(working.reduce((sum, one) => sum + one.tokens, 0))} tokens in their last requests, which each further step sends again.`,
    ], signal);
    this.#many.set(lead, asked);
    const agreed = await asked;
    if (!agreed) this.#many.delete(lead);
    return agreed;
  }

  #start(type: AgentType, request: AgentRequest, lead: Session): Agent | Problem {
    const problem = request.name === undefined ? undefined : this.#nameProblem(request.name, lead);
    if (problem !== undefined) return { problem };
    const person: Person = { lead, type, title: request.title, ...(request.name !== undefined && { name: request.name }), ...(request.call !== undefined && { call: request.call }) };
    return this.#open(this.#nextId(lead), person, request.model, undefined);
  }

  #open(id: string, person: Person, model: string | undefined, file: string | undefined): Agent | Problem {
    try {
      const thread = this.#doors.open({ id, person, ...(model !== undefined && { model }), ...(file !== undefined && { file }) });
      const agent: Agent = new Agent(id, person, thread, this.#doors.query, (body) => { this.#append(agent, body); });
      this.#agents.push(agent);
      this.#threads.set(thread.session, agent);
      return agent;
    } catch (error) {
      return { problem: `The sub-agent could not be started: ${messageOf(error)}` };
    }
  }

  #nextId(lead: Session): string {
    const inLog = tasksOf(lead.log).map(({ id }) => Number(/^agent-(\d+)$/.exec(id)?.[1] ?? 0));
    const number = Math.max(this.#numbers.get(lead) ?? this.#doors.lastNumber(lead), ...inLog) + 1;
    this.#numbers.set(lead, number);
    return `agent-${number}`;
  }

  /** Tells what it is at until it has ended, went to the background, or the user interrupted. */
  async *#watch(agent: Agent, turn: Promise<Finished>, signal: AbortSignal): AsyncGenerator<string, AgentEnd> {
    let finished: Finished | undefined;
    void turn.then((what) => {
      finished = what;
      agent.bell.ring();
    });
    const interrupt = (): void => { agent.bell.ring(); };
    signal.addEventListener('abort', interrupt, { once: true });
    let said = '';
    try {
      for (;;) {
        if (finished !== undefined) return endOf(agent, finished, this.#words(agent, finished, 'result'));
        if (agent.background) return started(agent);
        if (signal.aborted) return cutOff(agent);
        const line = lineOf(agent.progress);
        if (line === said) await agent.bell.heard();
        else {
          said = line;
          yield line;
        }
      }
    } finally {
      signal.removeEventListener('abort', interrupt);
      if (finished === undefined && !agent.background) agent.abort();
    }
  }

  #words(agent: Agent, { text, unfinished, steps, wrote }: Finished, where: 'result' | 'reminder'): string {
    const words = { who: agent.who, type: agent.person.type.name, steps, text, wrote: wrote.map((path) => this.#doors.label(path)), ...(unfinished !== undefined && { unfinished }) };
    return markedWords(words, where, (whole) => this.#doors.keepText(agent.person.lead, agent.id, whole));
  }

  /** A turn of an agent that has begun, with all that follows from its end. */
  async #turn(agent: Agent, prompt: string | undefined): Promise<Finished> {
    const told = this.#told(agent);
    const finished = await agent.turn(prompt);
    agent.working = false;
    const { lead, name } = agent.person;
    if (this.live(lead).length === 0) this.#many.delete(lead);
    if (agent.background && !agent.stopped) this.#note(agent, stateOf(finished), this.#words(agent, finished, 'reminder'));
    if (name === undefined || agent.muted) this.#leave(agent);
    // Mail that came too late for the last step begins another turn; where nothing tells it, it would do so for ever.
    else if (!agent.stopped && finished.outcome.kind === 'answered' && this.hasMail(agent.thread.session) && (prompt !== undefined || this.#told(agent) !== told)) this.#further(agent);
    if (agent.background && !agent.muted) this.#doors.wake(lead);
    return finished;
  }

  #leave(agent: Agent): void {
    const at = this.#agents.indexOf(agent);
    if (at !== -1) this.#agents.splice(at, 1);
    agent.thread.close();
  }

  /** Says in the conversation's log how its task stands. */
  #note(agent: Agent, state: TaskRecord['state'], result?: string): void {
    const { type, title, name } = agent.person;
    this.#append(agent, { type: 'task', task: {
      id: agent.id, kind: 'agent', title, state, file: agent.thread.file, agent: type.name,
      ...(name !== undefined && { name }), ...(result !== undefined && { result }),
    } });
  }

  #append(agent: Agent, body: EntryBody): void {
    if (agent.muted || this.#closed) return;
    const { lead } = agent.person;
    this.#doors.tell(lead, { type: 'entry', entry: lead.append(body) });
  }

  async send(to: string, text: string, session: Session): Promise<{ readonly sent: readonly string[] } | Problem> {
    const sender = this.#threads.get(session);
    const lead = sender?.person.lead ?? session;
    const from = sender === undefined ? LEAD : sender.person.name;
    if (from === undefined) return { problem: 'Only the lead and named agents have mailboxes; this agent\'s result is what it says last.' };
    if (text.trim() === '') return { problem: 'The message is empty.' };
    const members = this.members(lead);
    const others = [...(from === LEAD ? [] : [LEAD]), ...members.map(({ name }) => name).filter((name) => keyOf(name) !== keyOf(from))];
    const recipients = to === '*' ? others : others.filter((name) => keyOf(name) === keyOf(to));
    if (recipients.length === 0) {
      const there = others.length === 0 ? 'There are no teammates: Task with a name starts one.' : `There are ${others.join(', ')}, and * for all.`;
      return { problem: to === '*' ? there : `There is no teammate "${oneLine(to, 60)}"${keyOf(to) === keyOf(from) ? ' besides this one' : ''}. ${there}` };
    }
    const sent: string[] = [];
    const problems: string[] = [];
    for (const name of recipients) {
      const problem = await this.#deliver({ from, to: name, text }, lead);
      if (problem === undefined) sent.push(name);
      else problems.push(problem);
    }
    return problems.length === 0 ? { sent } : { problem: [...problems, ...(sent.length === 0 ? [] : [`Sent to ${sent.join(', ')}.`])].join(' ') };
  }

  /** Puts a message into a mailbox and wakes whom it is for. Gives one line when it could not. */
  async #deliver(message: Omit<Mail, 'id' | 'at'>, lead: Session): Promise<string | undefined> {
    const agent = message.to === LEAD ? undefined : await this.#member(message.to, lead);
    if (agent !== undefined && 'problem' in agent) return agent.problem;
    if (agent !== undefined && !agent.working && !this.#mayTurn(agent)) return `${message.to} had ${MOST_TURNS} turns since the user last spoke, and gets no more before the user speaks again.`;
    const file = this.#doors.mailbox(lead, message.to);
    const [log, thread] = agent === undefined ? [lead.log, 'main' as const] : [agent.thread.session.log, 'sub' as const];
    const put = await putMail(file, message, toldUpTo(log, readMail(file), thread));
    if ('problem' in put) return `Not sent to ${message.to}: ${put.problem}.`;
    if (agent === undefined) this.#doors.wake(lead);
    else if (!agent.working) this.#further(agent);
    return undefined;
  }

  /** A named agent, taken up again where an earlier process left it. */
  async #member(name: string, lead: Session): Promise<Agent | Problem> {
    const types = await this.types(new AbortController().signal);
    const here = this.#agents.find(({ person }) => person.lead === lead && person.name !== undefined && keyOf(person.name) === keyOf(name));
    if (here !== undefined) return here;
    const record = tasksOf(lead.log).findLast((task) => task.kind === 'agent' && task.name !== undefined && keyOf(task.name) === keyOf(name));
    const type = record === undefined ? undefined : types.find((one) => keyOf(one.name) === keyOf(record.agent ?? ''));
    if (record === undefined || type === undefined) return { problem: `${name} cannot be woken: its type of agent is not there any more.` };
    return this.#open(record.id, { lead, type, title: record.title, name: record.name ?? name }, undefined, record.file);
  }

  #mayTurn(agent: Agent): boolean {
    const prompt = agent.person.lead.log.findLast(({ type }) => type === 'prompt')?.id;
    const turns = this.#turns.get(agent);
    return turns === undefined || turns.prompt !== prompt || turns.count < MOST_TURNS;
  }

  /** One more turn of a named agent, on the thread that it has. */
  #further(agent: Agent): void {
    if (agent.working || this.#closed || agent.muted || !this.#mayTurn(agent)) return;
    const { lead } = agent.person;
    const prompt = lead.log.findLast(({ type }) => type === 'prompt')?.id;
    const before = this.#turns.get(agent);
    this.#turns.set(agent, { prompt, count: before !== undefined && before.prompt === prompt ? before.count + 1 : 1 });
    agent.begin(this.#nextId(lead), true);
    this.#note(agent, 'running');
    void this.#turn(agent, undefined);
  }

  /** All mail to a thread, oldest first. */
  mailTo(session: Session): readonly Mail[] {
    const person = this.#threads.get(session)?.person ?? { lead: session, name: LEAD };
    return person.name === undefined ? [] : readMail(this.#doors.mailbox(person.lead, person.name));
  }

  #told({ thread: { session } }: Agent): string {
    return toldUpTo(session.log, this.mailTo(session), 'sub');
  }

  hasMail(session: Session): boolean {
    const mail = this.mailTo(session);
    return (mail.at(-1)?.id ?? '') > toldUpTo(session.log, mail, this.#threads.has(session) ? 'sub' : 'main');
  }

  self(session: Session) {
    const agent = this.#threads.get(session);
    return agent === undefined ? undefined : { name: agent.who, type: agent.person.type, named: agent.person.name !== undefined };
  }

  lead(session: Session): Session | undefined {
    return this.#threads.get(session)?.person.lead;
  }

  callOf(session: Session): CallId | undefined {
    return this.#threads.get(session)?.person.call;
  }

  members(session: Session): readonly Member[] {
    const lead = this.lead(session) ?? session;
    return membersOf(lead.log, new Set(this.live(lead).map(({ id }) => id)));
  }

  async mail(session: Session, _signal: AbortSignal): Promise<readonly Mail[]> {
    return this.mailTo(session);
  }

  live(session: Session) {
    const lead = this.lead(session) ?? session;
    return this.#agents.filter((agent) => agent.working && agent.person.lead === lead).map((agent) => agent.live());
  }

  stop(id: string, session: Session): boolean {
    const lead = this.lead(session) ?? session;
    const agent = this.#agents.find((one) => one.working && one.person.lead === lead && (one.id === id || (one.person.name !== undefined && keyOf(one.person.name) === keyOf(id))));
    if (agent === undefined) return false;
    agent.stopped = true;
    if (agent.background) this.#note(agent, 'stopped');
    agent.abort();
    return true;
  }

  background(session: Session): boolean {
    const foreground = this.#agents.filter((agent) => agent.working && !agent.background && agent.person.lead === session);
    for (const agent of foreground) {
      agent.background = true;
      this.#note(agent, 'running');
      agent.bell.ring();
    }
    return foreground.length > 0;
  }

  hold(session: Session): void {
    for (const agent of this.#agents.filter(({ person }) => person.lead !== session)) this.#dismiss(agent);
  }

  close(): void {
    for (const agent of this.#agents.slice()) this.#dismiss(agent);
    this.#closed = true;
  }

  #dismiss(agent: Agent): void {
    agent.muted = true;
    if (agent.working) agent.abort();
    else this.#leave(agent);
  }
}
