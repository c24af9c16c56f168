import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { decode } from '#lib/decode.ts';
import { sha256 } from '#lib/hash.ts';
import { fsPath } from '#lib/names.ts';
import { readSmallBytes } from '#lib/small-file.ts';
import { changeBetween } from './positions.ts';
import type { Capabilities } from './protocol.ts';
import type { Said } from './reports.ts';
import type { Server } from './server.ts';

/** Larger files are not opened. */
export const MOST_FILE_BYTES = 2 * 1024 * 1024;

/** What the disk holds of a file. */
export interface OnDisk {
  readonly text: string;
  readonly hash: string;
  /** Tells later looks whether it must be read again. */
  readonly stamp: string;
}

/** A file as a server has it. */
export interface Doc {
  readonly path: string;
  readonly uri: string;
  readonly languageId: string;
  /** One of our tools wrote it in this session. */
  written: boolean;
  version: number;
  text: string;
  /** Of the bytes that `text` was made of, and how they lay on the disk; empty while it is a text of before. */
  hash: string;
  stamp: string;
  /** When `text` was sent, and when the server answered something that was asked after it. */
  sentAtMs: number;
  heardAtMs: number | undefined;
  /** What was said before the first of our writes; undefined while it is not known. */
  before: readonly Said[] | undefined;
  /** What the server said unasked, newest only. */
  pushed: { readonly atMs: number; readonly version: number | undefined; readonly items: readonly Said[] } | undefined;
  /** The newest answer, and to which state of all files (`tick`). */
  answer: { readonly version: number; readonly tick: number; readonly items: readonly Said[]; readonly whole: boolean } | undefined;
}

/** The text of a file; undefined where there is none, or it is no text or too large. */
export async function readDisk(path: string, known?: Pick<Doc, 'hash' | 'stamp' | 'text'>): Promise<OnDisk | undefined> {
  try {
    const found = await stat(fsPath(path), { bigint: true });
    if (!found.isFile()) return undefined;
    const stamp = `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
    if (known !== undefined && known.stamp === stamp) return { text: known.text, hash: known.hash, stamp };
    const bytes = readSmallBytes(path, MOST_FILE_BYTES);
    const text = textOf(bytes);
    return text === undefined ? undefined : { text, hash: sha256(bytes), stamp };
  } catch {
    return undefined;
  }
}

/** As it is sent: without the byte order mark. */
export function textOf(bytes: Uint8Array): string | undefined {
  const decoded = bytes.length > MOST_FILE_BYTES ? undefined : decode(bytes);
  return decoded?.kind === 'text' ? decoded.text.toWellFormed() : undefined;
}

export function openDoc(server: Server, file: { readonly path: string; readonly languageId: string; readonly written: boolean }, text: string, disk: { readonly hash: string; readonly stamp: string } | undefined): Doc {
  const uri = pathToFileURL(file.path).href;
  server.notify('textDocument/didOpen', { textDocument: { uri, languageId: file.languageId, version: 1, text } });
  return {
    ...file, uri, version: 1, text, hash: disk?.hash ?? '', stamp: disk?.stamp ?? '', sentAtMs: Date.now(), heardAtMs: undefined, before: undefined, pushed: undefined, answer: undefined,
  };
}

export function closeDoc(server: Server, doc: Doc): void {
  server.notify('textDocument/didClose', { textDocument: { uri: doc.uri } });
}

/** Brings the server's text to that of the disk. Returns whether it changed. */
export function syncDoc(server: Server, doc: Doc, disk: OnDisk, capabilities: Capabilities): boolean {
  doc.hash = disk.hash;
  doc.stamp = disk.stamp;
  const change = changeBetween(doc.text, disk.text, capabilities.encoding);
  if (change === undefined) return false;
  doc.text = disk.text;
  doc.version += 1;
  doc.sentAtMs = Date.now();
  doc.heardAtMs = undefined;
  const { uri, version, languageId } = doc;
  if (capabilities.sync === 'none') {
    closeDoc(server, doc);
    server.notify('textDocument/didOpen', { textDocument: { uri, languageId, version, text: doc.text } });
    return true;
  }
  server.notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [capabilities.sync === 'incremental' ? change : { text: doc.text }] });
  if (capabilities.save) server.notify('textDocument/didSave', { textDocument: { uri } });
  return true;
}
