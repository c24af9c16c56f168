import type { Json } from '#lib/brand.ts';
import type { Effort } from './content.ts';
import type { PermissionMode } from './entry.ts';
import type { LanguageServerSetting } from './languages.ts';
import type { HookSettings } from './hooks.ts';

/** Settings in effect: user, project and local files merged, arrays joined, flags on top. A key that is absent has its default. */
export interface Settings {
  readonly model?: string;
  /** Asked in this order when the model is overloaded. */
  readonly fallbackModels: readonly string[];
  readonly effort?: Effort;
  readonly permissions: {
    readonly allow: readonly ScopedRule[];
    readonly ask: readonly ScopedRule[];
    readonly deny: readonly ScopedRule[];
    readonly additionalDirectories: readonly string[];
    readonly defaultMode?: PermissionMode;
  };
  /** Whether the mode `auto` is not to be had. */
  readonly disableAutoMode: boolean;
  /** Environment of the commands that tools run. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of reminder kinds that are switched off. */
  readonly remindersOff: readonly string[];
  /** Names of reminder kinds that are off by default and switched on. */
  readonly remindersOn: readonly string[];
  /** How long the prompt cache is asked to keep what is written to it; `auto` chooses block by block. */
  readonly cacheLife: 'auto' | '5m' | '1h';
  readonly autoCompact: boolean;
  /** Compact when a request is estimated to pass this many tokens (default: 200,000, or the window if that is smaller). */
  readonly compactAt?: number;
  readonly respectGitignore: boolean;
  /** Servers of `.mcp.json`: which may start without being asked about (only the user's own settings say so), and which do not. */
  readonly mcp: { readonly enableAll: boolean; readonly enabled: readonly string[]; readonly disabled: readonly string[] };
  /** Globs of instruction files to leave out. */
  readonly memoryExcludes: readonly string[];
  readonly theme: 'dark' | 'light' | 'plain';
  readonly keys: Readonly<Record<string, string>>;
  /** Name of an output style. */
  readonly outputStyle?: string;
  /** Language servers by name, beside those that are found; `false` switches one off. */
  readonly languageServers: Readonly<Record<string, LanguageServerSetting | false>>;
  /** A persona that introduces itself once in a session. */
  readonly companion?: { readonly name: string; readonly text: string };
  /** Dollars that a session may cost. */
  readonly budgetUsd?: number;
  /** Where plans are kept; relative to the project. Default: with the program's own state. */
  readonly plansDirectory?: string;
  /** Whether notes are recalled (default: yes), and the folder that holds them. */
  readonly autoMemory: boolean;
  /** The hooks of each file that has some, weakest file first. */
  readonly hooks: readonly HookSettings[];
  readonly disableAllHooks: boolean;
  /** Addresses (`*` stands for anything) to which hooks may send, and variables that their headers may name; undefined: no list. */
  readonly allowedHttpHookUrls?: readonly string[];
  readonly httpHookAllowedEnvVars?: readonly string[];
  readonly autoMemoryDirectory?: string;
  /** Whether to connect to an editor that runs for the folder without being asked. */
  readonly autoConnectIde: boolean;
  /** Where changes that are asked about are shown: `auto` in a connected editor too, `terminal` in the terminal alone. */
  readonly diffTool: 'auto' | 'terminal';
  /** A command of the user's whose output is a status line. */
  readonly statusLine?: StatusLineSetting;
}

/** `padding`: columns left free before it. `refreshSeconds`: it is also asked anew when nothing has happened. */
export interface StatusLineSetting {
  readonly command: string;
  readonly padding: number;
  readonly refreshSeconds?: number;
  readonly scope: ScopedRule['scope'];
  /** The settings file that it stands in. */
  readonly file: string;
}

/** The user's own status line as it stands now. */
export interface StatusLineView {
  readonly setting: StatusLineSetting | undefined;
  /** What its command is given. */
  readonly input: Json;
}

/** Files that settings may be written to. */
export type WritableScope = 'user' | 'project' | 'local';

/** A setting as it stands now. */
export interface SettingView {
  /** As it is written in a file; a dot leads into an object. */
  readonly key: string;
  /** What holds; undefined: the default, which `fallback` tells. */
  readonly value: Json | undefined;
  readonly fallback: string;
  /** What it is for, on one line. */
  readonly what: string;
  /** The files that say so, weakest first; several where values are joined. */
  readonly from: readonly { readonly scope: ScopedRule['scope']; readonly file: string }[];
  /** The words that it may hold, where it is one of a few. */
  readonly words: readonly string[];
  /** When a change takes effect, where that is not at once. */
  readonly takesEffect?: 'start' | 'session';
}

/** What is to be written where; without a value the key is taken out. */
export interface SettingChange {
  readonly key: string;
  readonly value?: Json;
  readonly scope: WritableScope;
}

/** All settings, and what may become of them. */
export interface SettingsView {
  readonly rows: readonly SettingView[];
  readonly files: Readonly<Record<WritableScope, string>>;
  /** A change as the user wrote it (`undefined`: the key is to go), checked; or why it cannot be, one line. */
  change(key: string, text: string | undefined, scope: WritableScope): { readonly change: SettingChange } | { readonly problem: string };
}

/** A rule `Tool(spec)` with the folder that a path beginning with `/` in it is measured from, and where it was written. */
export interface ScopedRule {
  readonly rule: string;
  readonly root: string;
  readonly scope: 'user' | 'project' | 'local' | 'session' | 'flag';
  /** The settings file that it stands in, named when the rule cannot be used. */
  readonly file?: string;
}
