import { type Candidate, candidatesIn } from './candidates.ts';

/** A resource of an MCP server that a text mentions as `@server:uri`. */
export interface ResourceMention {
  readonly server: string;
  readonly uri: string;
}

/** Connected servers by name, each with the addresses that it lists. */
export type ResourceIndex = ReadonlyMap<string, ReadonlySet<string>>;

const SCHEME = /^[a-z][a-z0-9+.-]*:\S/i;
const TRAILING = /[\s.,;:!?)\]}>'"’”»…。、，；：！？）】》]$/u;
const MOST = 20;

/**
 * What a candidate mentions of a connected server: an address that it lists, else whatever looks like one (`scheme:…`), for servers
 * list no templates. Punctuation behind it belongs to it only where the server lists it so. Undefined: it is no resource.
 */
export function resourceIn({ text }: Candidate, index: ResourceIndex): ResourceMention | undefined {
  for (let colon = text.indexOf(':'); colon > 0; colon = text.indexOf(':', colon + 1)) {
    const server = text.slice(0, colon);
    const listed = index.get(server);
    if (listed === undefined) continue;
    const written = text.slice(colon + 1);
    let trimmed = written;
    for (; trimmed !== '' && !listed.has(trimmed) && TRAILING.test(trimmed);) trimmed = trimmed.slice(0, -1);
    const uri = listed.has(written) ? written : trimmed;
    if (listed.has(uri) || SCHEME.test(uri)) return { server, uri };
  }
  return undefined;
}

/** Every resource that the text mentions, in order, each once; of very many the first. */
export function mentionedResources(text: string, index: ResourceIndex): readonly ResourceMention[] {
  if (index.size === 0) return [];
  const found = new Map<string, ResourceMention>();
  for (const candidate of candidatesIn(text)) {
    const one = resourceIn(candidate, index);
    if (one !== undefined) found.set(`${one.server}\0${one.uri}`, one);
    if (found.size >= MOST) break;
  }
  return [...found.values()];
}
