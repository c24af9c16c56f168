import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { readJson, updateJson } from '#lib/atomic.ts';
import { foldName, realPathOf } from '#lib/within.ts';
import { wantsOf } from './wants.ts';

/** Which folders' own configuration may allow, set and run things. */
export interface Trust {
  /** Whether the user has trusted this folder, or the repository that it belongs to. Read from the file each time. */
  isTrusted(folder: string): boolean;
  remember(folder: string): Promise<void>;
  /** What the folder's configuration would allow, set or run once it is trusted, one line each; empty: nothing to ask about. */
  wantsOf(folder: string, start?: string): readonly string[];
}

/**
 * The store behind the trust question. Trust goes by folder (real path): a trusted folder covers what lies below it only if
 * it is the root of a repository, and only up to the next repository inside; the home folder covers nothing but itself. A
 * file that cannot be read trusts nothing.
 */
export function createTrust({ file, home = homedir() }: { readonly file: string; readonly home?: string }): Trust {
  return {
    isTrusted(folder) {
      const trusted = foldersIn(readJson(file));
      const real = realPathOf(folder);
      if (trusted.has(real)) return true;
      for (let at = real; !holdsRepository(at) && at !== dirname(at);) {
        at = dirname(at);
        if (trusted.has(at)) return at !== realPathOf(home) && holdsRepository(at);
      }
      return false;
    },
    async remember(folder) {
      const real = realPathOf(folder);
      await updateJson(file, (now) => {
        const old = isFields(now) && isFields(now['folders']) ? now['folders'] : {};
        return { ...(isFields(now) ? now : {}), folders: { ...old, [real]: { at: new Date().toISOString() } } };
      });
    },
    wantsOf,
  };
}

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

function foldersIn(stored: Json | undefined): { has(folder: string): boolean } {
  const folders = isFields(stored) && isFields(stored['folders']) ? Object.keys(stored['folders']) : [];
  const exact = new Set(folders);
  const folding = process.platform === 'darwin' || process.platform === 'win32';
  const folded = new Set(folding ? folders.map(foldName) : []);
  return { has: (folder) => exact.has(folder) || folded.has(foldName(folder)) };
}

function holdsRepository(folder: string): boolean {
  try {
    lstatSync(join(folder, '.git'));
    return true;
  } catch {
    return false;
  }
}

/** Variables that decide where requests go and what they carry, or which configuration is read: never a repository's to set. */
const OWN_VARIABLES = /^(?:ANTHROPIC_|CLAUDE_|PINION_|(?:HTTPS?|ALL|NO|FTP)_PROXY$|NODE_EXTRA_CA_CERTS$|NODE_TLS_|SSL_CERT_)/i;
/** Keys of a repository's settings that stay without effect even when the folder is trusted. */
const NEVER = ['apiKeyHelper', 'awsAuthRefresh', 'awsCredentialExport', 'otelHeadersHelper', 'forceLoginMethod', 'disableAllHooks', 'autoMemoryDirectory'];
/** Where a repository may have files written: in itself. */
const OWN_FOLDER = /^(?!\/|~|.*(?:^|[\\/])\.\.(?:[\\/]|$))/;

/**
 * What a repository's settings file (`.pinion/settings*.json`, `.claude/settings*.json`) may say. Untrusted: its deny and ask
 * rules, nothing else. Trusted: everything but what only the user's own settings decide: key helpers, the permission mode, and
 * variables that direct requests. `dropped` names what was left out, for one line to the user.
 */
export function withoutUntrusted(fields: Fields, trusted: boolean): { readonly fields: Fields; readonly dropped: readonly string[] } {
  const permissions = isFields(fields['permissions']) ? fields['permissions'] : {};
  const dropped: string[] = [];
  const keep = (from: Fields, may: (key: string) => boolean, name: string): Fields => Object.fromEntries(Object.entries(from).filter(([key]) => {
    if (may(key)) return true;
    dropped.push(name === '' ? key : `${name}.${key}`);
    return false;
  }));
  if (!trusted) {
    const held = keep(permissions, (key) => key === 'deny' || key === 'ask', 'permissions');
    const rest = keep(fields, (key) => key === 'permissions' || key === '$schema', '');
    return { fields: 'permissions' in rest ? { permissions: held } : {}, dropped };
  }
  const env = isFields(fields['env']) ? keep(fields['env'], (key) => !OWN_VARIABLES.test(key), 'env') : undefined;
  const held = keep(permissions, (key) => key !== 'defaultMode' && key !== 'disableBypassPermissionsMode', 'permissions');
  const folder = fields['plansDirectory'];
  const rest = keep(fields, (key) => !NEVER.includes(key) && (key !== 'plansDirectory' || (typeof folder === 'string' && OWN_FOLDER.test(folder))), '');
  return { fields: { ...rest, ...('permissions' in rest && { permissions: held }), ...(env !== undefined && { env }) }, dropped };
}
