import type { Json } from '#lib/brand.ts';
import type { Part } from './content.ts';
import type { Session } from './session.ts';

/** Where a server was configured; a stronger scope (`flag` first, then `local`, `project`, `user`) hides the same name of a weaker one. */
export type McpScope = 'flag' | 'local' | 'project' | 'user';

/** How a server is reached, variables (`${VAR}`) not yet put in. */
export type McpServerConfig =
  | { readonly type: 'stdio'; readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>>; readonly timeoutMs?: number; readonly alwaysLoad?: boolean }
  | {
    readonly type: 'http' | 'sse';
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** A command whose output is further headers, as JSON. */
    readonly headersHelper?: string;
    readonly oauth?: { readonly clientId?: string; readonly callbackPort?: number; readonly authServerMetadataUrl?: string; readonly scopes?: string };
    readonly timeoutMs?: number;
    /** Its tools stand in each request from the start, rather than being loaded on demand. */
    readonly alwaysLoad?: boolean;
  };

/** A server as it stands in a file or flag. `approval`: whether it may start; of a repository's own only what the user has agreed to, by content. */
export interface ConfiguredServer {
  readonly name: string;
  readonly scope: McpScope;
  /** Where it stands: a file, or `--mcp-config`. */
  readonly from: string;
  readonly config: McpServerConfig;
  readonly approval: 'given' | 'needed' | 'refused' | 'off';
  /** Why it may not start and what to do about it, one line; where `approval` is not `given`. */
  readonly why?: string;
}

export type McpState = 'connecting' | 'connected' | 'failed' | 'unapproved' | 'login' | 'off';

/** A server as it stands now. */
export interface McpServer {
  readonly name: string;
  readonly scope: McpScope;
  /** Where it stands: a file, or `--mcp-config`. */
  readonly from?: string;
  readonly transport: McpServerConfig['type'];
  readonly state: McpState;
  /** Why it failed, or what is to be done, one line. */
  readonly detail?: string;
  /** What it says of itself; the server's words, capped by whoever tells them. */
  readonly instructions?: string;
  /** By the names that the model calls (`mcp__server__tool`). */
  readonly tools: readonly string[];
  readonly resources: readonly McpResource[];
  readonly prompts: readonly McpPrompt[];
  /** What could not be used (a tool with a broken schema), one line each. */
  readonly notes: readonly string[];
}

export interface McpResource {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mime?: string;
}

export interface McpPrompt {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly args: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
}

/** What the mentions of a text (`@server:uri`) brought along. */
export interface MentionedResource {
  readonly server: string;
  readonly uri: string;
  /** Ready for a reminder. */
  readonly parts: readonly Part[];
  /** What was left out or could not be read, one line each. */
  readonly notes: readonly string[];
}

/** Servers as sources see them. */
export interface McpView {
  servers(): readonly McpServer[];
  /** Resources that the text mentions, of connected servers, each once. One failure never costs the others. */
  mentioned(text: string, signal: AbortSignal): Promise<readonly MentionedResource[]>;
}

/** Servers as the house sees them. */
export interface McpPort extends McpView {
  /** Connects in the background to all that may start; again: to what was added, and lets go of what went. Never throws. */
  start(): void;
  /** The text of a prompt with its arguments put in, as messages joined. `problem`: one line. */
  prompt(server: string, name: string, args: Readonly<Record<string, string>>, signal: AbortSignal): Promise<{ readonly text: string } | { readonly problem: string }>;
  /** What a server wrote to its log and what happened to it, newest last. */
  log(server: string): readonly string[];
  /** One line: what came of it. */
  reconnect(server: string, signal: AbortSignal): Promise<string>;
  /**
   * Signs in with the browser; one line: what came of it. `open` shows the address to the user. `paste`: the address at which a
   * browser on another machine ended, as the user gives it; undefined when they give up.
   */
  login(server: string, open: (url: string) => void, signal: AbortSignal, paste?: (signal: AbortSignal) => Promise<string | undefined>): Promise<string>;
  logout(server: string): Promise<string>;
  close(): void;
}

/** A tool that somebody else runs. Its definition is what the model is told; `input` was checked against nothing yet. */
export interface ForeignCall {
  readonly tool: string;
  readonly input: Json;
  readonly session: Session;
  readonly signal: AbortSignal;
}
