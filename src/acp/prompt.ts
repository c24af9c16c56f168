import { fileURLToPath } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { oneLine } from '#lib/names.ts';

/** A prompt of the client, taken apart. */
export interface PromptParts {
  /** The user's words, mentions in place: what is shown, and in which mentions count. */
  readonly line: string;
  /** Texts that came along, each in an envelope. */
  readonly context: string;
  readonly pictures: readonly { readonly bytes: Uint8Array; readonly name: string }[];
  /** What could not be taken, one line each. */
  readonly notes: readonly string[];
}

export interface PromptDoors {
  /** How an absolute path is mentioned, such as `@src/a.ts`; undefined where no text can mention it. */
  readonly mention: (path: string) => string | undefined;
  /** How a path is named to the model. */
  readonly label: (path: string) => string;
  readonly envelope: (name: string, mime: string, body: string) => string;
}

interface Place {
  readonly path: string;
  readonly from?: number;
  readonly to?: number;
}

const MOST_CONTEXT = 200_000;

export function promptOf(blocks: readonly ContentBlock[], doors: PromptDoors): PromptParts {
  const line: string[] = [];
  const context: string[] = [];
  const pictures: { bytes: Uint8Array; name: string }[] = [];
  const notes: string[] = [];
  let left = MOST_CONTEXT;
  const picture = (data: string, name: string): void => {
    const bytes = Buffer.from(data, 'base64');
    if (bytes.length === 0) notes.push(`${name} is empty.`);
    else pictures.push({ bytes, name });
  };
  const text = (uri: string, mime: string, body: string): void => {
    const name = nameOf(uri, doors);
    const kept = body.slice(0, Math.max(0, left));
    left -= body.length;
    if (kept.length < body.length) notes.push(`${name} was cut: ${kept.length} of ${body.length} characters are given.`);
    context.push(doors.envelope(name, mime, kept.toWellFormed()));
  };
  for (const block of blocks) {
    switch (block.type) {
      case 'text': line.push(block.text); break;
      case 'resource_link': line.push(linkText(block.uri, block.name, doors)); break;
      case 'image': picture(block.data, `picture ${pictures.length + 1}`); break;
      case 'audio': notes.push('Sound cannot be heard by the model and was left out.'); break;
      case 'resource': {
        const { resource } = block;
        line.push(linkName(resource.uri, doors));
        if ('text' in resource) text(resource.uri, resource.mimeType ?? 'text/plain', resource.text);
        else picture(resource.blob, nameOf(resource.uri, doors));
        break;
      }
      default: notes.push('A part of the prompt is of a kind that is not known here and was left out.');
    }
  }
  return { line: joined(line), context: context.join('\n\n'), pictures, notes };
}

/** Words as they were typed: what an editor puts beside them gets a blank where one is missing. */
function joined(pieces: readonly string[]): string {
  return pieces.filter((piece) => piece !== '').reduce((all, piece) => (all === '' || /\s$/.test(all) || /^[\s.,;:!?)\]}]/.test(piece) ? `${all}${piece}` : `${all} ${piece}`), '').trim();
}

/** A file is mentioned, so that it is read when the prompt is sent; anything else is named. */
function linkText(uri: string, name: string, doors: PromptDoors): string {
  const place = placeOf(uri);
  if (place !== undefined) {
    const mention = doors.mention(place.path);
    if (mention !== undefined) return `${mention}${place.from === undefined ? '' : `#L${place.from}${place.to === undefined || place.to === place.from ? '' : `-${place.to}`}`}`;
  }
  return place === undefined ? `[${oneLine(name)}](${oneLine(uri, 2000)})` : oneLine(place.path);
}

/** What stands in an envelope beside the words is only named among them: it is not to be loaded once more. */
function linkName(uri: string, doors: PromptDoors): string {
  const place = placeOf(uri);
  const range = place?.from === undefined ? '' : ` (lines ${place.from}${place.to === undefined ? '' : `–${place.to}`})`;
  return `[${nameOf(uri, doors)}${range}]`;
}

function nameOf(uri: string, doors: PromptDoors): string {
  const place = placeOf(uri);
  return oneLine(place === undefined ? uri : doors.label(place.path));
}

const LINES = /^#L?(\d{1,9})(?:[-:]L?(\d{1,9}))?/;

/** The file that a `file:` address names, with the lines behind its `#`. */
export function placeOf(uri: string): Place | undefined {
  if (!/^file:\/\//i.test(uri)) return uri.startsWith('/') ? { path: uri } : undefined;
  try {
    const url = new URL(uri);
    const [, from, to] = LINES.exec(url.hash) ?? [];
    const path = fileURLToPath(new URL(`file://${url.pathname}`));
    if (path.includes('\0')) return undefined;
    return { path, ...(from !== undefined && { from: Number(from) }), ...(to !== undefined && { to: Number(to) }) };
  } catch {
    return undefined;
  }
}
