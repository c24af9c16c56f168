/**
 * A command or a sub-agent that runs beside the conversation. `lost`: it was running when the program ended. `ended` ones stay
 * as they are; a task of the same id is never started again.
 */
export interface TaskRecord {
  /** Short and unique in its session, such as `shell-1` or `agent-2`. */
  readonly id: string;
  readonly kind: 'shell' | 'agent';
  /** One line: the command, or what the sub-agent was asked. */
  readonly title: string;
  readonly state: 'running' | 'done' | 'failed' | 'stopped' | 'lost';
  /** Absolute path of the file that its output goes to (a command), or of its own log (a sub-agent). */
  readonly file: string;
  readonly exitCode?: number;
  /** Name of a named agent. */
  readonly name?: string;
  /** Type of a sub-agent. */
  readonly agent?: string;
  /** What a sub-agent came to, capped. */
  readonly result?: string;
}

/** A task as it is seen now. */
export interface TaskView extends TaskRecord {
  /** Bytes of output so far, and how many of them the model was given. */
  readonly bytes: number;
  readonly readBytes: number;
  readonly startedAtMs: number;
  /** What a sub-agent is at now, or the last line of output. */
  readonly doing?: string;
  /** The last lines of a command's output, of at most 1,500 UTF-16 units; absent where there are none. */
  readonly tail?: string;
}
