import type { CostView } from '#domain/command.ts';
import type { Event, PermissionMode } from '#domain/entry.ts';
import type { Answer, Outcome, Question } from '#domain/ports.ts';
import type { AttachmentHolder, Session } from '#domain/session.ts';
import type { Source } from '#attachments/define.ts';
import type { Tool } from '#tools/define.ts';

/** What an agent is made of. Everything may be left out: then it is the program as it starts in the current directory, without a face. */
export interface AgentOptions {
  /** A model's id, or `opus`, `sonnet`, `haiku`, `fable`. Default: that of the settings. Without a key in `env` the demo model answers. */
  readonly model?: string;
  /** Where it works; default: the current directory. */
  readonly cwd?: string;
  /** Beside the program's own tools. The main conversation has them, sub-agents do not. */
  readonly tools?: readonly Tool[];
  /** `none`: only those of `tools`. */
  readonly ownTools?: 'all' | 'none';
  /** Beside the program's own kinds of reminders, after them. */
  readonly sources?: readonly Source[];
  /** What may be done without a question. */
  readonly mode?: PermissionMode;
  /** Is asked about what needs consent. Without it, or where it gives nothing, such calls are refused and the model is told so. */
  readonly ask?: (question: Question, signal: AbortSignal) => Answer | undefined | Promise<Answer | undefined>;
  /** Rules such as `Edit` or `Bash(npm test)`. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** In place of the system prompt, and what is added to it. */
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** Most model requests of one turn. */
  readonly maxSteps?: number;
  /** Dollars that the session may cost. */
  readonly budgetUsd?: number;
  /** The id of a stored session, or its file, to go on with. */
  readonly resume?: string;
  /** False: nothing of the session is kept on disk. */
  readonly persist?: boolean;
  /** The folder's own settings, hooks and servers take effect. */
  readonly trust?: boolean;
  /** Keys, addresses and `PINION_HOME`; default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Hears what is worth knowing beside the events of turns, one line each. */
  readonly onNotice?: (text: string) => void;
  /** Hears what sub-agents do. */
  readonly onAgent?: (session: Session, event: Event) => void;
}

/** One conversation. Turns are taken one after the other. */
export interface Agent {
  readonly session: Session & AttachmentHolder;
  /** Absolute path of the session's log. */
  readonly file: string;
  /** One turn: yields what happens, returns how it ended. Leaving the loop early interrupts it. */
  prompt(text: string, signal?: AbortSignal): AsyncGenerator<Event, Outcome>;
  /** One turn to its end, with the text of the last answer. */
  answer(text: string, signal?: AbortSignal): Promise<{ readonly text: string; readonly outcome: Outcome }>;
  /** Keeps a file, folder, glob or command's output in view, written as for `/pin`. Throws what keeps it from being pinned. */
  pin(target: string): Promise<void>;
  cost(): CostView;
  /** Ends what it has started. */
  close(): Promise<void>;
}
