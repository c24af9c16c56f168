import { readFile, stat } from 'node:fs/promises';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { placeOf, type PromptParts } from '#acp/prompt.ts';
import { commands } from '#commands/list.ts';
import type { PathLookup } from '#domain/documents.ts';
import { decode } from '#lib/decode.ts';
import type { PromptBody } from '#loop/query.ts';
import { commandLine, findCommand } from '#main/dispatch.ts';
import type { House } from '#main/house.ts';

/** Larger files are not compared with what an editor holds of them. */
const MOST_BYTES = 1024 * 1024;

/** Whether the prompt begins with a command of the program's own, which takes paths rather than mentions. */
export function isOwnCommand([first]: readonly ContentBlock[]): boolean {
  const line = first?.type === 'text' ? commandLine(first.text.trim()) : undefined;
  return line !== undefined && findCommand(commands, line.name) !== undefined;
}

/**
 * Files that an editor sends whole become links where the disk holds the same, so that they are mentioned, count as read, and
 * are followed; so do those that a rule denies reading, and all of a command.
 */
export async function withLinks(blocks: readonly ContentBlock[], command: boolean, look: (path: string) => Promise<PathLookup>): Promise<readonly ContentBlock[]> {
  return await Promise.all(blocks.map(async (block): Promise<ContentBlock> => {
    if (block.type !== 'resource') return block;
    const { resource } = block;
    const place = placeOf(resource.uri);
    const link: ContentBlock = { type: 'resource_link', uri: resource.uri, name: resource.uri };
    if (command) return link;
    if (place === undefined) return block;
    const { real, kind, denied } = await look(place.path);
    if (denied) return link;
    return kind === 'file' && place.from === undefined && 'text' in resource && await isSame(real, resource.text) ? link : block;
  }));
}

/** Most text of a document that came as bytes. */
const MOST_TEXT = 200_000;

/** A prompt as the log keeps it; what could not be taken is told. */
export async function bodyOf({ line, context, pictures, notes }: PromptParts, { tools }: House, tell: (note: string) => Promise<void>, signal: AbortSignal): Promise<PromptBody> {
  const loaded = await Promise.all(pictures.map(({ bytes, name }) => tools.documents.load(`/${name}`, name, { bytes, limitBytes: MOST_TEXT }, signal)));
  const media = loaded.flatMap(({ parts }) => parts).filter((part) => part.type === 'media');
  // Text in a picture's place is a document of its own; beside a picture it only says its size.
  const texts = loaded.filter(({ parts }) => parts.every(({ type }) => type === 'text')).flatMap(({ parts }) => parts).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  for (const note of [...notes, ...loaded.flatMap((one) => one.notes)]) await tell(note);
  const text = [line, context, ...texts].filter((piece) => piece !== '').join('\n\n');
  return { text, ...(text !== line && { shown: line, mentions: line }), ...(media.length > 0 && { media }) };
}

async function isSame(path: string, text: string): Promise<boolean> {
  try {
    if ((await stat(path)).size > MOST_BYTES) return false;
    const disk = decode(await readFile(path));
    return disk.kind === 'text' && withLineFeeds(disk.text) === withLineFeeds(text);
  } catch {
    return false;
  }
}

function withLineFeeds(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}
