import { chmodSync, existsSync } from 'node:fs';
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import type { Json } from '#lib/brand.ts';
import { readJson, updateJson } from '#lib/atomic.ts';

/** What signing in to a server gave. Belongs to one name and one address: a server that moves is signed in to anew. */
export interface Login {
  readonly server: string;
  readonly url: string;
  /** Who gave the tokens, and takes them back for new ones. */
  readonly authorizationServer: string;
  readonly metadata?: AuthorizationServerMetadata;
  readonly client: { readonly client_id: string; readonly client_secret?: string };
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly scope?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs?: number;
  readonly resource?: string;
}

/** A token that lives no longer than this is renewed before it is used. */
export const LEAST_LIFE_MS = 30_000;

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const keyOf = (server: string, url: string): string => `${server} ${url}`;

/** Undefined where nobody signed in, or what is kept cannot be understood. */
export function readLogin(file: string, server: string, url: string): Login | undefined {
  const logins = loginsIn(readJson(file));
  const key = keyOf(server, url);
  const value = Object.hasOwn(logins, key) ? logins[key] : undefined;
  const client = isFields(value) ? value['client'] : undefined;
  if (!isFields(value) || typeof value['accessToken'] !== 'string' || typeof value['authorizationServer'] !== 'string' || !isFields(client) || typeof client['client_id'] !== 'string') return undefined;
  return value as unknown as Login;
}

/** Written at once (0600) or not at all; several processes lose nothing of each other's. */
export async function keepLogin(file: string, login: Login): Promise<void> {
  await updateJson(file, (now) => ({ ...(isFields(now) ? now : {}), logins: { ...loginsIn(now), [keyOf(login.server, login.url)]: JSON.parse(JSON.stringify(login)) as Json } }), 0o600);
  chmodSync(file, 0o600);
}

/** Whether there was something to forget: of one address, or of all that the server ever had. */
export async function forgetLogin(file: string, server: string, url?: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  let had = false;
  await updateJson(file, (now) => {
    const kept = Object.entries(loginsIn(now)).filter(([key]) => (url === undefined ? !key.startsWith(`${server} `) : key !== keyOf(server, url)));
    had = kept.length < Object.keys(loginsIn(now)).length;
    return { ...(isFields(now) ? now : {}), logins: Object.fromEntries(kept) };
  }, 0o600);
  return had;
}

function loginsIn(stored: Json | undefined): Fields {
  return isFields(stored) && isFields(stored['logins']) ? stored['logins'] : {};
}

/** When a token that lives for so many seconds ends. */
export function endOf(seconds: number | undefined): { readonly expiresAtMs?: number } {
  return seconds === undefined || !Number.isFinite(seconds) ? {} : { expiresAtMs: Date.now() + seconds * 1000 };
}
