import type * as z from 'zod';
import type { Card } from '#domain/card.ts';
import type { DocumentPort, PathPort } from '#domain/documents.ts';
import type { AgentPort } from '#domain/agents.ts';
import type { ToolDefinition } from '#domain/content.ts';
import type { PermissionMode } from '#domain/entry.ts';
import type { LanguagePort } from '#domain/languages.ts';
import type { Answer, BlobPort, Question, SearchPort, TaskPort, ToolOutcome } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { SkillPort } from '#domain/skills.ts';
import type { CallId, DeferredTool, ProposedFile, ToolEffect } from '#domain/tool.ts';
import type { DraftPort } from './files/write.ts';
import type { Web } from './web/web.ts';
import type { ShellTasks } from './shell/tasks.ts';

/** What tools need of the house. `main` hangs it once for all sessions. */
export interface ToolContext {
  /** Folders of the workspace, absolute; the first is where a session starts. */
  readonly roots: () => readonly string[];
  /** The directory of a session's shell commands, from which relative paths are measured. */
  readonly cwd: (session: Session) => string;
  readonly paths: PathPort;
  readonly blobs: BlobPort;
  /** Makes pictures and PDFs fit for the model that is in use. */
  readonly documents: DocumentPort;
  /** The environment that the program was started with, and that of the settings on top. */
  readonly env: () => Readonly<Record<string, string>>;
  /** Absolute path of a POSIX shell, such as `/bin/bash`. */
  readonly shell: string;
  /** Absolute path of a ripgrep, or undefined: the search then runs in this process, with the same results. */
  readonly ripgrep: () => Promise<string | undefined>;
  readonly drafts?: DraftPort;
  /** Without it there are no language servers. */
  readonly languages?: Pick<LanguagePort, 'ask'>;
  readonly web: Web;
  readonly search: SearchPort;
  /** Text from outside in a tag that it cannot close. */
  readonly envelope: (name: string, mime: string, body: string) => string;
  /** Tools that a session may load on demand. */
  readonly loadable: (session: Session) => readonly DeferredTool[];
  /** Puts a question to the person; undefined when nobody is there to answer, or the signal aborted. */
  readonly ask: (question: Question, session: Session, signal: AbortSignal) => Promise<Answer | undefined>;
  readonly mode: (session: Session) => PermissionMode;
  readonly skills: SkillPort;
  readonly agents: AgentPort;
  readonly tasks: TaskPort;
  /** Where commands run that may go on in the background; without it none can. */
  readonly shells?: ShellTasks;
  /** Keeps a plan's text in a file of its own and gives its absolute path. */
  readonly keepPlan: (text: string, session: Session) => Promise<string>;
}

/** As a tool sees it, for one call of one session. */
export interface CallContext extends ToolContext {
  readonly session: Session;
  readonly callId?: CallId;
  /** The real paths that the call was allowed for, or the local host that the user has named for it; undefined when nobody judged any. */
  readonly judged?: readonly string[];
}

export interface RunContext extends CallContext {
  readonly signal: AbortSignal;
}

/** One file in kinds/. Definitions, permission dialog and tests are made from these fields. */
export interface ToolSpec<I> {
  /** The name that the model calls. */
  readonly id: string;
  /** What the model is told of it; stands in a Markdown file beside the tool. */
  readonly description: string;
  readonly effect: ToolEffect;
  /** `main`: sub-agents do not have it. */
  readonly threads?: 'main';
  /** What it does in one line, for a tool that is not named in requests before it was loaded (`ToolSearch`). */
  readonly deferred?: string;
  readonly input: z.ZodType<I>;
  /** Yields progress (each text replaces the last one), returns the outcome. What it throws becomes a failed result. */
  run(input: I, context: RunContext): AsyncGenerator<string, ToolOutcome>;
  /** The call in one line, such as `Read src/a.ts`. */
  title(input: I): string;
  /** How the call looks before it has run, where its title does not say it all: the command, or the diff it would make. */
  preview?(input: I, context: CallContext): Card | Promise<Card>;
  /** The text file that it would leave, so that the user can change it before they agree. Undefined, or throws, where it would not run. */
  propose?(input: I, context: CallContext): Promise<ProposedFile | undefined>;
}

/** A tool whose input type is closed over: a list can hold tools of all inputs. */
export interface Tool {
  readonly id: string;
  readonly description: string;
  readonly effect: ToolEffect;
  readonly threads: 'all' | 'main';
  readonly deferred: string | undefined;
  readonly input: z.ZodType;
  /** Of a tool that another program runs: as the model is told of it. Its input is given to that program as it is. */
  readonly definition?: ToolDefinition;
  /** Of a foreign tool: it stands in requests from the start where that costs no cache. */
  readonly alwaysLoad?: boolean;
  /** Of a foreign tool: the program that runs it is gone. It is offered to nobody; a call says so. */
  readonly gone?: boolean;
  /** Most UTF-8 bytes of text in a result, where they are more than usual. */
  readonly mostBytes?: number;
  bind(input: unknown): Bound | BadInput;
}

/** A call whose input has been checked. */
export interface Bound {
  readonly ok: true;
  readonly title: string;
  run(context: RunContext): AsyncGenerator<string, ToolOutcome>;
  preview(context: CallContext): Card | Promise<Card>;
  propose?(context: CallContext): Promise<ProposedFile | undefined>;
}

export interface BadInput {
  readonly ok: false;
  /** Names the field. */
  readonly message: string;
}

/** Gives a definition back with its input type closed over; exists so that a tool's file is checked where it stands. */
export function defineTool<I>(spec: ToolSpec<I>): Tool {
  return {
    id: spec.id,
    description: spec.description.trim(),
    effect: spec.effect,
    threads: spec.threads ?? 'all',
    deferred: spec.deferred,
    input: spec.input,
    bind(input) {
      const parsed = spec.input.safeParse(input);
      if (!parsed.success) return { ok: false, message: lineOf(spec.id, parsed.error.issues) };
      const title = spec.title(parsed.data);
      return {
        ok: true,
        title,
        run: (context) => spec.run(parsed.data, context),
        preview: (context) => spec.preview?.(parsed.data, context) ?? { title, body: [] },
        propose: (context) => spec.propose?.(parsed.data, context) ?? Promise.resolve(undefined),
      };
    },
  };
}

function lineOf(id: string, issues: readonly { readonly path: PropertyKey[]; readonly message: string }[]): string {
  const first = issues.slice(0, 3).map(({ path, message }) => (path.length === 0 ? message : `${nameOf(path)}: ${message}`));
  return `${id} was called with input that does not fit: ${first.join('; ')}`;
}

/** `todos[2].status` for `['todos', 2, 'status']`. */
function nameOf(path: readonly PropertyKey[]): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`)).join('');
}
