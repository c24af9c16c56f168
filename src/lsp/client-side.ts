import type { MessageConnection } from 'vscode-jsonrpc/node';
import { pathToFileURL } from 'node:url';
import type { Json } from '#lib/brand.ts';
import type { ServerLog } from './log.ts';
import { isFields } from './protocol.ts';
import { type Watched, watchedIn } from './watched.ts';

export interface Doors {
  readonly log: ServerLog;
  readonly root: string;
  readonly settings: Json | undefined;
  /** A `textDocument/publishDiagnostics`, not looked at yet. */
  readonly onPublish: (params: unknown) => void;
  /** The server wants to be asked again for all files. */
  readonly onRefresh: () => void;
  readonly onPull: () => void;
  /** Work that it tells of has begun (true) or is done. */
  readonly onWork: (token: string, busy: boolean) => void;
  readonly onWatch: (id: string, watched: readonly Watched[] | undefined) => void;
}

const MOST_REGISTRATIONS = 500;

/** Answers what a server may ask of an editor, and hears what it says. Whatever else it asks is answered with an error by the library. */
export function answerServer(connection: MessageConnection, doors: Doors): void {
  const { log } = doors;
  connection.onNotification('textDocument/publishDiagnostics', (params: unknown) => { doors.onPublish(params); });
  // Of what it writes to an editor's log only errors and warnings: the rest is for its makers.
  connection.onNotification('window/logMessage', (params: unknown) => { if (isFields(params) && typeof params['type'] === 'number' && params['type'] <= 2) log.add(textOf(params['message'])); });
  connection.onNotification('window/showMessage', (params: unknown) => { if (isFields(params)) log.add(textOf(params['message'])); });
  connection.onNotification('$/progress', (params: unknown) => {
    const value = isFields(params) ? params['value'] : undefined;
    if (isFields(params) && isFields(value) && (value['kind'] === 'begin' || value['kind'] === 'end')) doors.onWork(JSON.stringify(params['token']), value['kind'] === 'begin');
  });
  connection.onNotification(() => undefined);
  connection.onRequest('workspace/configuration', (params: unknown) => itemsOf(params, 'items').map((item) => settingAt(doors.settings, isFields(item) ? item['section'] : undefined)));
  connection.onRequest('workspace/workspaceFolders', () => [{ uri: pathToFileURL(doors.root).href, name: 'workspace' }]);
  connection.onRequest('client/registerCapability', (params: unknown) => {
    for (const one of itemsOf(params, 'registrations').slice(0, MOST_REGISTRATIONS)) register(one, doors);
    return null;
  });
  connection.onRequest('client/unregisterCapability', (params: unknown) => {
    for (const one of itemsOf(params, 'unregisterations')) if (isFields(one) && one['method'] === 'workspace/didChangeWatchedFiles') doors.onWatch(textOf(one['id']), undefined);
    return null;
  });
  connection.onRequest('workspace/diagnostic/refresh', () => {
    doors.onRefresh();
    return null;
  });
  for (const method of ['window/workDoneProgress/create', 'window/showMessageRequest', 'workspace/semanticTokens/refresh', 'workspace/codeLens/refresh', 'workspace/inlayHint/refresh', 'workspace/foldingRange/refresh', 'workspace/inlineValue/refresh']) connection.onRequest(method, () => null);
  connection.onRequest('workspace/applyEdit', () => ({ applied: false, failureReason: 'files are changed by the user and the model only' }));
  connection.onRequest('window/showDocument', () => ({ success: false }));
}

function register(one: Json, doors: Doors): void {
  if (!isFields(one)) return;
  if (one['method'] === 'textDocument/diagnostic') doors.onPull();
  if (one['method'] === 'workspace/didChangeWatchedFiles') doors.onWatch(textOf(one['id']), watchedIn(one['registerOptions']));
}

function itemsOf(params: unknown, key: string): readonly Json[] {
  const items = isFields(params) ? params[key] : undefined;
  return Array.isArray(items) ? items as readonly Json[] : [];
}

/** Of `a.b` the value at `a`, `b`, or at the key `a.b` itself. */
function settingAt(settings: Json | undefined, section: Json | undefined): Json {
  if (typeof section !== 'string' || section === '') return settings ?? null;
  if (isFields(settings) && Object.hasOwn(settings, section)) return settings[section] ?? null;
  let at: Json | undefined = settings;
  for (const key of section.split('.')) at = isFields(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return at ?? null;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
