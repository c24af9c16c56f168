import { foldName, relativeWithin } from '#lib/within.ts';

/** Folders whose files decide what runs later, or what the program may do. */
const FOLDERS = new Set([
  '.git', '.pinion', '.claude', '.agents', '.vscode', '.idea', '.devcontainer', '.husky', '.githooks', '.circleci', '.buildkite',
  '.woodpecker', '.cursor', '.gemini', '.codex', '.opencode', '.zed', '.ssh', '.gnupg',
]);
/** Folders of what was installed: language servers, hooks and package runners start what lies in them. They may be thrown away as a whole. */
const INSTALLED = new Set(['node_modules', '.venv']);
/** Pairs of folders with the same meaning. */
const NESTED = ['.github/workflows', '.github/actions', '.config/git', '.config/fish', '.config/systemd', '.config/autostart', '.config/pinion'];
const FILES = new Set([
  '.mcp.json', 'agents.md', 'claude.md', 'claude.local.md', 'gemini.md', 'opencode.json', 'opencode.jsonc', '.crush.json', 'crush.json', '.nvim.lua', '.nvimrc', '.exrc', '.cursorrules', '.envrc', '.gitmodules', '.gitconfig', '.gitattributes',
  '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', '.pre-commit-config.yaml', 'lefthook.yml', '.lefthook.yml',
  '.gitlab-ci.yml', '.travis.yml', '.drone.yml', '.woodpecker.yml', 'jenkinsfile', 'azure-pipelines.yml', 'bitbucket-pipelines.yml',
  '.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.zshrc', '.zshenv', '.zprofile', '.zlogin',
  '.zlogout', '.inputrc', '.vimrc', '.netrc', '.claude.json',
]);

/**
 * What makes a path one that is never written without a question, as a noun phrase; undefined for other paths. It is the name
 * that counts, whether the file exists or not, in any case. Inside `root` only the part below the root counts, so that work
 * in a folder that itself lies below `.claude` is not all protected.
 */
export function protectedAs(path: string, root: string | undefined): string | undefined {
  const below = root === undefined ? undefined : relativeWithin(root, path);
  const names = (below ?? path).split(/[\\/]/).filter((name) => name !== '').map(spelled);
  if (names.length === 0 || (below === '' && root !== undefined)) return undefined;
  const folder = names.find((name, at) => FOLDERS.has(name) || (INSTALLED.has(name) && at < names.length - 1));
  if (folder !== undefined) return `a file of ${folder}`;
  const joined = `/${names.join('/')}/`;
  const nested = NESTED.find((pair) => joined.includes(`/${pair}/`));
  if (nested !== undefined) return `a file of ${nested}`;
  return FILES.has(names.at(-1) ?? '') ? 'a file that decides what runs or what is told later' : undefined;
}

/** Spellings that some file system takes for the same name: case, Unicode form, ignored characters, trailing dots and blanks, streams. */
function spelled(name: string): string {
  return foldName(name.replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')).replace(/::?\$.*$/, '').replace(/(?!^)[. ]+$/, '');
}
