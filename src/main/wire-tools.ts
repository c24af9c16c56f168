import { dirname } from 'node:path';
import { cwdOf, modeOf } from '#domain/folds.ts';
import type { DocumentPort } from '#domain/documents.ts';
import type { ToolDefinition } from '#domain/content.ts';
import type { Entry, PermissionMode } from '#domain/entry.ts';
import type { AgentType } from '#domain/agents.ts';
import type { LanguagePort } from '#domain/languages.ts';
import type { Asker, BlobPort, GatePort, ToolPort } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { Call, DeferredTool, ProposedFile } from '#domain/tool.ts';
import { VERSION } from '#cli/version.ts';
import { textEnvelope } from '#documents/envelope.ts';
import { createDocuments } from '#documents/load.ts';
import { createPdfReader } from '#documents/pdf-reader.ts';
import { createGate } from '#gate/gate.ts';
import { createPaths, type Paths } from '#gate/paths.ts';
import type { RuleSet } from '#gate/rules.ts';
import { createDrafts } from '#session/drafts.ts';
import type { Skills } from '#skills/skills.ts';
import type { Tool } from '#tools/define.ts';
import { tools } from '#tools/kinds/list.ts';
import { findRipgrep } from '#tools/search/ripgrep.ts';
import { runShell, type ShellResult } from '#tools/shell/run.ts';
import { createToolbox } from '#tools/toolbox.ts';
import { createWeb } from '#tools/web/web.ts';
import { besideBuffers, type Buffers } from './acp/buffers.ts';
import type { Configuration } from './configuration.ts';
import type { AgentWing } from './agent-wing.ts';
import { createOffer } from './offer.ts';
import { notesFolderOf } from './notes-folder.ts';
import type { Place } from './place.ts';
import type { EditorWing } from './wire-editor.ts';
import type { HookWing } from './hooks/wing.ts';
import type { McpWing } from './wire-mcp.ts';
import type { ModeWing } from './wire-modes.ts';
import type { TaskWing } from './wire-tasks.ts';
import type { ModelDesk } from './wire-model.ts';
import { wireSearch } from './wire-search.ts';

export interface ToolWing {
  readonly paths: Paths;
  readonly documents: DocumentPort;
  readonly tools: ToolPort;
  readonly gate: GatePort;
  readonly ripgrep: () => Promise<string | undefined>;
  /** What requests begin with (of a sub-agent of a type: what it may have; of a conversation that has begun: what keeps its cache). A tool that a rule forbids as a whole is not named to the model. */
  definitions(type?: AgentType, log?: readonly Entry[]): readonly ToolDefinition[];
  /** What a session may load on demand, and nothing else is offered. */
  deferred(session: Session): readonly DeferredTool[];
  cwd(session: Session): string;
  /** The text file that a call would leave. Undefined for a call that leaves none, or would fail. */
  propose(call: Call, session: Session): Promise<ProposedFile | undefined>;
  /** Runs a command for the user, who needs to ask nobody. */
  shell(session: Session, command: string, signal: AbortSignal, onProgress?: (tail: string) => void): Promise<ShellResult>;
}

const USER_COMMAND_MS = 600_000;
const USER_OUTPUT = 30_000;

export interface ToolOptions {
  /** Beside those of the shelf. */
  readonly own?: readonly Tool[];
  readonly place: Place;
  readonly configuration: Configuration;
  readonly desk: ModelDesk;
  readonly blobs: BlobPort;
  /** Address of the built `pdf-worker.js`. */
  readonly pdfWorker: URL;
  /** Address of the built `page-worker.js`. */
  readonly pageWorker: URL;
  readonly asker: Asker;
  readonly mode: (session: Session) => PermissionMode;
  readonly skills: Skills;
  readonly agents: AgentWing;
  readonly tasks: TaskWing;
  readonly modes: ModeWing;
  readonly mcp: McpWing;
  readonly hooks: HookWing;
  readonly languages: LanguagePort;
  readonly buffers?: Buffers;
  readonly editor: EditorWing;
}

export function wireTools(options: ToolOptions): ToolWing {
  const { place, configuration, desk, blobs, pdfWorker, pageWorker, asker, mode, skills, agents, tasks, modes, mcp, hooks, editor, languages } = options;
  const { home } = place;
  const roots = (): readonly string[] => configuration.roots();
  const paths = createPaths({
    roots, home: place.userHome, denyRead: () => configuration.rules().deny, open: [home.plans], notes: () => notesFolderOf(place, configuration),
    state: [...new Set([home.settings, home.trust, home.credentials, home.sessions, home.blobs, home.drafts].map((path) => dirname(path)))],
  });
  const documents = createDocuments({ blobs, capabilities: () => desk.facts(), pdf: createPdfReader(pdfWorker) });
  const cwd = (session: Session): string => cwdOf(session.log) ?? place.cwd;
  const env = (): Readonly<Record<string, string>> => ({ ...place.env, ...configuration.settings().env, ...hooks.env() });
  let found: Promise<string | undefined> | undefined;
  const ripgrep = (): Promise<string | undefined> => (found ??= findRipgrep(place.env));
  const search = wireSearch(desk);
  const judged = new WeakMap<Call, readonly string[]>();
  const toolbox = createToolbox({
    tools: [...tools, ...options.own ?? []], foreign: () => mcp.tools(), judged: (call) => judged.get(call), amended: (call) => editor.amended(call),
    context: {
      roots, cwd, paths, blobs, documents, env, envelope: textEnvelope, web: createWeb({ env, worker: pageWorker, version: VERSION }), search, loadable: (session) => offer.deferred(session), mode, skills, agents, tasks, shells: tasks.shells, shell: place.shell, ripgrep, drafts: createDrafts(home.drafts), languages,
      ask: (question, _session, signal) => asker.ask(question, signal),
      keepPlan: (text, session) => modes.keepPlan(text, session),
    },
  });
  const gate = createGate({
    rules: (session) => withGrants(configuration.rules(), skills.grants(session)), mode, cwd, paths, asker, who: (session) => agents.who(session),
    effect: (call) => toolbox.effect(call),
    preview(call, session) {
      editor.concerns(call, session);
      return toolbox.preview(call, session);
    },
    keepRule: (rule, keep) => configuration.keepRule(rule, keep),
    trusted: () => configuration.isTrusted(), doubt: (call, session) => mcp.doubt(call, session),
    onJudged: (call, paths) => { judged.set(call, paths); },
  });
  const port: ToolPort = options.buffers === undefined ? toolbox : besideBuffers(toolbox, { buffers: options.buffers, lookUp: (written, session) => paths.lookUp(written, cwd(session)) });
  const offer = createOffer({ configuration, agents, env, toolbox, search });
  return {
    paths, documents, gate: hooks.gate(gate), ripgrep, cwd,
    propose: (call, session) => toolbox.propose(call, session),
    tools: hooks.tools(editor.tools({ ...port, definitions: () => offer.definitions(), deferred: () => offer.deferred() })),
    definitions: (type, log) => offer.definitions(type, log), deferred: (session) => offer.deferred(session),
    shell: (session, command, signal, onProgress) => runShell({
      command, signal, cwd: cwd(session), env: env(), shell: place.shell, timeoutMs: USER_COMMAND_MS, mostOutput: USER_OUTPUT,
      ...(onProgress !== undefined && { onProgress }),
    }),
  };
}

/** What a skill that is being followed was granted is allowed beside the user's rules; deny and ask go before it as before all. */
function withGrants(rules: RuleSet, grants: RuleSet['allow']): RuleSet {
  return grants.length === 0 ? rules : { ...rules, allow: [...rules.allow, ...grants] };
}

/**
 * The mode in effect: what the log says, else what the run began with. A run in which nothing is asked was asked for when it was
 * started: an older session that was held so does not bring it along.
 */
export function modeIn(session: Session, first: PermissionMode, withoutAuto = false): PermissionMode {
  const last = modeOf(session.log) ?? first;
  const mode = last === 'bypassPermissions' ? first : last;
  return mode === 'auto' && withoutAuto ? 'default' : mode;
}
