import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Json } from '#lib/brand.ts';
import { isTooDeep } from '#lib/json-depth.ts';
import { oneLine } from '#lib/names.ts';
import { wellFormed } from '#lib/text.ts';

/** A picture or document that came along with a message, as bytes. */
export interface SentFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A message of the user's. */
export interface UserMessage {
  readonly kind: 'user';
  readonly text: string;
  readonly files: readonly SentFile[];
  /** As it came, to be repeated. */
  readonly message: Json;
  /** The sender's own id for it. */
  readonly uuid?: string;
  /** False: kept until the next message, without an answer of its own. */
  readonly query: boolean;
}

/** One line of standard input, read. `why` (no full stop) says what is wrong with it. */
export type InputLine =
  | UserMessage
  | { readonly kind: 'request'; readonly id: string; readonly request: Fields }
  | { readonly kind: 'response'; readonly id: string; readonly response: Fields | undefined; readonly error?: string }
  | { readonly kind: 'cancel'; readonly id: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'wrong'; readonly why: string };

export type Fields = { readonly [key: string]: Json };

/** A picture of the largest size as base64, and room for its words. */
const LONGEST_LINE = 64 * 1024 * 1024;

const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const named = (value: Json | undefined): string => (typeof value === 'string' ? `"${oneLine(value, 60)}"` : 'no text');
const wrong = (why: string): InputLine => ({ kind: 'wrong', why });

/** Lines of a stream with their numbers from 1, blank ones left out. A line that is too long comes as undefined, and is the last. */
export async function* linesOf(input: Readable, longest = LONGEST_LINE): AsyncGenerator<{ readonly number: number; readonly line: string | undefined }> {
  const decoder = new StringDecoder('utf8');
  let number = 1;
  let pieces: string[] = [];
  let length = 0;
  const whole = (): string => pieces.join('').trim();
  for await (const chunk of input) {
    for (const [at, piece] of decoder.write(Buffer.from(chunk as Buffer | string)).split('\n').entries()) {
      if (at > 0) {
        const line = whole();
        if (line !== '') yield { number, line };
        number += 1;
        pieces = [];
        length = 0;
      }
      pieces.push(piece);
      length += piece.length;
      if (length > longest) {
        yield { number, line: undefined };
        return;
      }
    }
  }
  pieces.push(decoder.end());
  const line = whole();
  if (line !== '') yield { number, line };
}

/** What a line says. */
export function parseInput(line: string): InputLine {
  let value: Json;
  try {
    if (isTooDeep(line)) return wrong('its JSON is nested too deeply');
    value = JSON.parse(line) as Json;
  } catch {
    return wrong('it is no JSON');
  }
  if (!isFields(value)) return wrong('it is no JSON object');
  switch (value['type']) {
    case 'user': return userMessage(value);
    case 'control_request': return controlRequest(value);
    case 'control_response': return controlResponse(value);
    case 'control_cancel_request': return { kind: 'cancel', id: text(value['request_id']) };
    case 'keep_alive': return { kind: 'nothing' };
    default: return wrong(`its type is ${named(value['type'])}, which is none of "user", "control_request" and "control_response"`);
  }
}

function controlRequest(value: Fields): InputLine {
  const { request } = value;
  const id = text(value['request_id']);
  if (id === '' || !isFields(request) || text(request['subtype']) === '') return wrong('a control_request has a "request_id" and a "request" with a "subtype"');
  return { kind: 'request', id, request };
}

function controlResponse({ response }: Fields): InputLine {
  if (!isFields(response) || text(response['request_id']) === '') return wrong('a control_response has a "response" with a "request_id"');
  const id = text(response['request_id']);
  if (response['subtype'] === 'error') return { kind: 'response', id, response: undefined, error: text(response['error']) || 'no reason given' };
  return { kind: 'response', id, response: isFields(response['response']) ? response['response'] : undefined };
}

function userMessage({ message, uuid, shouldQuery }: Fields): InputLine {
  if (!isFields(message) || message['role'] !== 'user') return wrong('a user message has a "message" with the role "user"');
  const read = contentOf(message['content']);
  if (typeof read === 'string') return wrong(read);
  if (read.text.trim() === '' && read.files.length === 0) return wrong('its message has no content');
  return { kind: 'user', ...read, text: wellFormed(read.text), message, query: shouldQuery !== false, ...(typeof uuid === 'string' && uuid !== '' && { uuid }) };
}

/** Text and files of a message's content; a text of its own says what is wrong with it. */
function contentOf(content: Json | undefined): { readonly text: string; readonly files: readonly SentFile[] } | string {
  if (typeof content === 'string') return { text: content, files: [] };
  if (!Array.isArray(content)) return 'its content is neither a text nor a list of blocks';
  const texts: string[] = [];
  const files: SentFile[] = [];
  for (const block of content as readonly Json[]) {
    if (!isFields(block)) return 'a block of its content is no object';
    if (block['type'] === 'text' && typeof block['text'] === 'string') texts.push(block['text']);
    else if (block['type'] === 'image' || block['type'] === 'document') {
      const file = fileOf(block, files.length + 1);
      if (typeof file === 'string') return file;
      files.push(file);
    } else return `a block of its content is of the type ${named(block['type'])}, which is none of "text", "image" and "document"`;
  }
  return { text: texts.join('\n\n'), files };
}

const ENDINGS: Readonly<Record<string, string>> = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/gif': 'gif', 'image/webp': 'webp', 'application/pdf': 'pdf', 'text/plain': 'txt' };

function fileOf({ type, source, title }: Fields, number: number): SentFile | string {
  if (!isFields(source)) return `a block of the type "${text(type)}" has no source`;
  const kind = text(source['type']);
  const mime = text(source['media_type']) || (kind === 'text' ? 'text/plain' : '');
  const name = oneLine(text(title), 120) || `${text(type)}-${number}${ENDINGS[mime] === undefined ? '' : `.${ENDINGS[mime]}`}`;
  const data = text(source['data']);
  if (kind === 'text' && data !== '') return { name, bytes: Buffer.from(data) };
  if (kind === 'base64' && data !== '') return { name, bytes: Buffer.from(data, 'base64') };
  return `the source of a block of the type "${text(type)}" is neither base64 nor text with data; an address is not fetched`;
}
