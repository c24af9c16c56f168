import type { AgentPort } from '#domain/agents.ts';
import { tasksOf } from '#domain/folds.ts';
import { taskStartsOf } from '#domain/task-folds.ts';
import type { TaskPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { TaskRecord, TaskView } from '#domain/tasks.ts';
import type { ShellResult } from '#tools/shell/run.ts';
import { createShellTasks, type ShellTasks } from '#tools/shell/tasks.ts';
import type { Beside } from './beside.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';
import type { HookWing } from './hooks/wing.ts';

export interface TaskOptions extends Beside {
  readonly place: Place;
  readonly configuration: Configuration;
  readonly agents: AgentPort;
  readonly hooks: Pick<HookWing, 'env'>;
  readonly cwd: (session: Session) => string;
}

export interface TaskWing extends TaskPort {
  readonly shells: ShellTasks;
  /** Runs a command for the user, who needs to ask nobody; it may be sent to the background. */
  shell(session: Session, command: string, signal: AbortSignal, onProgress: (tail: string) => void): Promise<ShellResult>;
  /** Sends what runs in the foreground to the background. False when there is nothing. */
  background(session: Session): boolean;
  /** What the log of a session that is gone on with holds to be running, and is not, is written down as lost. */
  settle(session: Session): void;
  /** Commands that run for a session, for its log says so and they do. */
  running(session: Session): readonly TaskRecord[];
  /** Ends all that runs, at the end of the program. */
  close(): void;
}

const USER_COMMAND_MS = 600_000;
const USER_OUTPUT = 30_000;

export function wireTasks({ place, configuration, hooks, agents, cwd, tell }: TaskOptions): TaskWing {
  const shells = createShellTasks({
    folder: place.home.tasks, shell: place.shell, cwd,
    env: () => ({ ...place.env, ...configuration.settings().env, ...hooks.env() }),
    tell: (session, entry) => { tell(session, { type: 'entry', entry }); },
  });
  const list = (session: Session): readonly TaskView[] => inOrder(session, [...shells.list(session), ...agentViews(agents, session)]);
  return {
    shells,
    list: (session) => Promise.resolve(list(session)),
    startShell: (command, title, session) => shells.start(command, title, session),
    async read(id, session) {
      const agent = agentViews(agents, session).find((task) => task.id === id || task.name === id);
      return agent === undefined ? shells.read(id, session) : { task: agent, text: agent.result ?? agent.doing ?? '', upTo: agent.bytes };
    },
    async stop(id, session) {
      const agent = agentViews(agents, session).find((task) => task.id === id || task.name === id);
      if (agent === undefined || agent.state !== 'running' || !agents.stop(agent.id, session)) return shells.stop(agent?.id ?? id, session);
      return { task: tasksOf(session.log).find((task) => task.id === agent.id) ?? agent };
    },
    shell: (session, command, signal, onProgress) => shells.foreground({
      command, signal, onProgress, cwd: cwd(session), timeoutMs: USER_COMMAND_MS, mostOutput: USER_OUTPUT, staysAtTimeout: true,
    }, session),
    background(session) {
      const [commands, others] = [shells.background(session), agents.background(session)];
      return commands || others;
    },
    settle(session) {
      const alive = new Set([...shells.running(session), ...agents.live(session)].map(({ id }) => id));
      for (const task of tasksOf(session.log)) if (task.state === 'running' && !alive.has(task.id)) session.append({ type: 'task', task: { ...task, state: 'lost' } });
    },
    running: (session) => shells.running(session),
    close: () => { shells.close(); },
  };
}

function agentViews(agents: AgentPort, session: Session): readonly TaskView[] {
  const live = new Map(agents.live(session).map((agent) => [agent.id, agent]));
  const starts = taskStartsOf(session.log);
  return tasksOf(session.log).filter(({ kind }) => kind === 'agent').map((record) => {
    const agent = live.get(record.id);
    const startedAtMs = agent?.startedAtMs ?? Date.parse(starts.get(record.id)?.at ?? '');
    return { ...record, bytes: 0, readBytes: 0, startedAtMs, ...(agent !== undefined && { doing: agent.doing }) };
  });
}

function inOrder(session: Session, views: readonly TaskView[]): readonly TaskView[] {
  const byId = new Map(views.map((view) => [view.id, view]));
  return tasksOf(session.log).flatMap(({ id }) => byId.get(id) ?? []);
}
