import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { sha256 } from '#lib/hash.ts';

/** Where our own files are. Everything lies in `PINION_HOME` when that is set, else in the platform's folders. */
export interface Home {
  readonly settings: string;
  readonly trust: string;
  readonly credentials: string;
  /** The user's own instructions for every project. */
  readonly memory: string;
  /** Folders of kept notes, one a project. */
  readonly notes: string;
  readonly history: string;
  readonly sessions: string;
  readonly blobs: string;
  readonly debug: string;
  /** Mailboxes of teams of agents. */
  readonly teams: string;
  /** Plans that were laid before the user. */
  readonly plans: string;
  /** Output of commands that run in the background. */
  readonly tasks: string;
  /** Accounts of files that are being written. */
  readonly drafts: string;
  /** What servers were found not to understand, per base URL and model. */
  readonly quirks: string;
  /** The user's own MCP servers, what was decided on those of repositories, and what signing in gave. */
  readonly mcp: { readonly servers: string; readonly approvals: string; readonly tokens: string; readonly tools: string };
}

export function homeOf(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): Home {
  const { config, state } = folders(env, platform);
  return {
    settings: join(config, 'settings.json'),
    trust: join(config, 'trust.json'),
    credentials: join(config, 'credentials.json'),
    memory: join(config, 'AGENTS.md'),
    notes: join(state, 'memory'),
    history: join(state, 'history.jsonl'),
    sessions: join(state, 'sessions'),
    blobs: join(state, 'blobs'),
    debug: join(state, 'debug'),
    teams: join(state, 'teams'),
    plans: join(state, 'plans'),
    tasks: join(state, 'tasks'),
    drafts: join(state, 'drafts'),
    quirks: join(state, 'quirks.json'),
    mcp: { servers: join(config, 'mcp.json'), approvals: join(config, 'mcp-approvals.json'), tokens: join(config, 'mcp-tokens.json'), tools: join(state, 'mcp-tools.json') },
  };
}

function folders(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): { config: string; state: string } {
  const own = env['PINION_HOME'];
  if (own !== undefined && own !== '') return { config: resolve(own), state: resolve(own) };
  const home = env['HOME'] ?? homedir();
  if (platform === 'darwin') return both(join(home, 'Library', 'Application Support', 'pinion'));
  if (platform === 'win32') return both(join(env['APPDATA'] ?? join(home, 'AppData', 'Roaming'), 'pinion'));
  return {
    config: join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'pinion'),
    state: join(env['XDG_STATE_HOME'] || join(home, '.local', 'state'), 'pinion'),
  };
}

const both = (folder: string): { config: string; state: string } => ({ config: folder, state: folder });

/** Names of folders and files may have 255 bytes; a longer one is told apart by its hash. */
const LONGEST_NAME = 180;

/** The folder of a directory's sessions: its path with everything but letters and digits as hyphens. */
export function sessionFolder(home: Home, cwd: string): string {
  const name = cwd.replace(/[^A-Za-z0-9]/g, '-');
  return join(home.sessions, name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}-${sha256(cwd).slice(0, 12)}`);
}

/** The folder of a project's notes. The hash keeps `/a/b` and `/a-b` apart. */
export function notesFolder(home: Home, project: string): string {
  return join(home.notes, `${project.replace(/[^A-Za-z0-9]/g, '-').slice(-LONGEST_NAME)}-${sha256(project).slice(0, 8)}`);
}
