import * as z from 'zod';
import type { Part } from '#domain/content.ts';
import type { MentionedResource } from '#domain/mcp.ts';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import { count, cutToBytes } from '#lib/text.ts';
import { type ContentDoors, resourcePiece } from './content.ts';
import { recordOf } from './lists.ts';
import type { Server } from './server.ts';

/** UTF-8 bytes of one resource that a mention attaches. */
const MOST_BYTES = 48 * 1024;
const MOST_CONTENTS = 20;
const anything = z.record(z.string(), z.unknown());

/** A resource as the user mentioned it. Never throws: what cannot be read is a note. */
export async function readResource(server: Server, uri: string, doors: Pick<ContentDoors, 'envelope' | 'media'>, signal: AbortSignal): Promise<MentionedResource> {
  const { name } = server.configured;
  const label = `@${oneLine(name, 60)}:${oneLine(uri, 200)}`;
  const nothing = (why: string): MentionedResource => ({ server: name, uri, parts: [], notes: [`${label}: ${why}`] });
  const { link } = server;
  if (link === undefined) return nothing('its server is not connected');
  try {
    const { contents } = await link.client.request({ method: 'resources/read', params: { uri } }, anything, { signal });
    const all = (Array.isArray(contents) ? contents : []).map(recordOf);
    if (all.length === 0) return nothing('it has no content');
    const parts: Part[] = [];
    const notes: string[] = [];
    let room = MOST_BYTES;
    for (const one of all.slice(0, MOST_CONTENTS)) {
      const text = typeof one['text'] === 'string' ? one['text'] : undefined;
      const shown = text === undefined ? undefined : cutToBytes(text, room);
      const piece = resourcePiece({ uri, ...one, ...(shown !== undefined && { text: shown }) }, `the MCP server "${name}"`, doors);
      if ('note' in piece) notes.push(`${label}: ${piece.note}`);
      else if ('text' in piece) parts.push({ type: 'text', text: piece.text });
      else {
        const loaded = await doors.media(piece.label, piece.bytes, signal);
        parts.push(...loaded.parts);
        notes.push(...loaded.notes);
      }
      if (text !== undefined && shown !== undefined) {
        room -= Buffer.byteLength(shown);
        if (shown.length < text.length) notes.push(`${label}: shown are the first ${count(Buffer.byteLength(shown), 'byte')} of ${Buffer.byteLength(text)}`);
      }
    }
    if (all.length > MOST_CONTENTS) notes.push(`${label}: ${count(all.length - MOST_CONTENTS, 'further part')} left out`);
    return { server: name, uri, parts, notes };
  } catch (error) {
    return nothing(signal.aborted ? 'it was not read in time' : `it cannot be read: ${oneLine(messageOf(error), 300)}`);
  }
}
