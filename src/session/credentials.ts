import { chmodSync, rmSync } from 'node:fs';
import { readJson, updateJson } from '#lib/atomic.ts';

/** How requests are signed and where they go. Without key and token there is nobody to ask but the demo model. */
export interface Credentials {
  readonly apiKey?: string;
  readonly authToken?: string;
  readonly baseURL?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly betas: readonly string[];
  /** Where the key or token comes from, for the first-run screen and error lines. */
  readonly from: 'environment' | 'login' | 'none';
}

/** The environment's key or token, else the one entered by `/login`. */
export function credentialsOf(env: NodeJS.ProcessEnv, file: string): Credentials {
  const set = (name: string): string | undefined => env[name]?.trim() || undefined;
  const apiKey = set('ANTHROPIC_API_KEY');
  const authToken = set('ANTHROPIC_AUTH_TOKEN');
  const baseURL = set('ANTHROPIC_BASE_URL');
  const stored = apiKey === undefined && authToken === undefined ? storedKey(file) : undefined;
  const key = apiKey ?? stored;
  return {
    ...(key !== undefined && { apiKey: key }),
    ...(authToken !== undefined && { authToken }),
    ...(baseURL !== undefined && { baseURL }),
    headers: headersOf(set('ANTHROPIC_CUSTOM_HEADERS')),
    betas: set('ANTHROPIC_BETAS')?.split(',').map((beta) => beta.trim()).filter((beta) => beta !== '') ?? [],
    from: apiKey !== undefined || authToken !== undefined ? 'environment' : stored !== undefined ? 'login' : 'none',
  };
}

/** `Name: Value` lines, as `ANTHROPIC_CUSTOM_HEADERS` holds them. Lines of another form are left out. */
function headersOf(lines: string | undefined): Readonly<Record<string, string>> {
  const pairs = (lines ?? '').split('\n').map((line) => /^\s*([\w-]+)\s*:\s*(.*?)\s*$/.exec(line)).filter((match) => match !== null);
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]));
}

function storedKey(file: string): string | undefined {
  const value = readJson(file);
  if (typeof value !== 'object' || value === null || !('apiKey' in value)) return undefined;
  return typeof value['apiKey'] === 'string' && value['apiKey'] !== '' ? value['apiKey'] : undefined;
}

/** Keeps a key for later starts, readable by the user only. */
export async function keepKey(file: string, apiKey: string): Promise<void> {
  await updateJson(file, () => ({ apiKey }), 0o600);
  chmodSync(file, 0o600);
}

/** Whether there was a key to forget. */
export function forgetKey(file: string): boolean {
  const had = storedKey(file) !== undefined;
  rmSync(file, { force: true });
  return had;
}
