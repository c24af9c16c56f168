import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Variables that hooks set for later commands, by lines of shell (`export A=b`) in a file. */
export interface Variables {
  /** Absolute; made when it is first asked for. */
  file(): string;
  /** Reads the file anew: it is run by a shell, and what its variables are then counts. Never rejects. */
  read(shell: string, base: Readonly<Record<string, string>>): Promise<string | undefined>;
  now(): Readonly<Record<string, string>>;
}

const MOST_MS = 10_000;
/** What a shell sets by itself. */
const OF_THE_SHELL = new Set(['_', 'SHLVL', 'PWD', 'OLDPWD', 'PINION_HOOK_FILE']);

export function createVariables(path: string): Variables {
  let now: Readonly<Record<string, string>> = {};
  return {
    file() {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 });
      return path;
    },
    now: () => now,
    read: (shell, base) => new Promise((resolve) => {
      if (!existsSync(path)) return resolve(undefined);
      const script = 'set -a; . "$PINION_HOOK_FILE" >/dev/null 2>&1; env -0';
      execFile(shell, ['-c', script], { env: { ...base, PINION_HOOK_FILE: path }, timeout: MOST_MS, maxBuffer: 4 * 1024 * 1024 }, (error, stdout) => {
        if (error !== null) return resolve(`what hooks wrote to CLAUDE_ENV_FILE cannot be used (${error.message.split('\n')[0] ?? ''})`);
        const pairs = stdout.split('\0').map((pair) => [pair.slice(0, Math.max(0, pair.indexOf('='))), pair.slice(pair.indexOf('=') + 1)] as const);
        now = Object.fromEntries(pairs.filter(([name, value]) => name !== '' && !OF_THE_SHELL.has(name) && !name.startsWith('BASH_FUNC_') && base[name] !== value));
        return resolve(undefined);
      });
    }),
  };
}
