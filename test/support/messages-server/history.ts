import { bare, blocksOf, list, obj, type Obj, text } from './shape.ts';

/**
 * The seven rules of `cases/sse-faults.json` over one request, and over it and the one before: what the API tolerates but a sound
 * history never shows counts too. Gives one line for each rule that is broken.
 */
export function historyFaults(body: Obj, previous?: Obj): readonly string[] {
  const messages = list(body['messages']).map(obj);
  const faults: string[] = [];
  messages.forEach(({ role }, at) => {
    if (role !== (at % 2 === 0 ? 'user' : 'assistant')) faults.push(`messages.${at}: roles do not alternate from user on`);
  });
  messages.forEach((message, at) => {
    const blocks = blocksOf(message['content']);
    if (blocks.length === 0) faults.push(`messages.${at}: no blocks`);
    if (blocks.some((block) => block['type'] === 'text' && text(block['text']).trim() === '')) faults.push(`messages.${at}: a blank text block`);
  });
  faults.push(...pairFaults(messages));
  if (!wellFormedAll(body)) faults.push('a lone surrogate');
  if (previous !== undefined) faults.push(...prefixFaults(previous, body));
  return faults;
}

function pairFaults(messages: readonly Obj[]): readonly string[] {
  const seen = new Set<string>();
  return messages.flatMap((message, at) => {
    if (message['role'] !== 'assistant') return [];
    const calls = blocksOf(message['content']).filter(({ type }) => type === 'tool_use').map(({ id }) => text(id));
    const twice = calls.filter((id) => seen.has(id));
    for (const id of calls) seen.add(id);
    const next = blocksOf(messages[at + 1]?.['content']);
    const results = next.filter(({ type }) => type === 'tool_result');
    const first = next.slice(0, calls.length).map(({ tool_use_id: id }) => text(id));
    return [
      ...twice.map((id) => `messages.${at}: the id ${id} is used twice`),
      ...(JSON.stringify(first) === JSON.stringify(calls) && results.length === calls.length ? [] : [`messages.${at}: calls ${calls.join(', ')} are not answered once each, first and in order`]),
    ];
  });
}

/** Without marks, system, tools and all blocks of the last request stand unchanged at the beginning of this one. */
export function prefixFaults(before: Obj, after: Obj): readonly string[] {
  const [old, now] = [flat(before), flat(after)];
  const head = [
    ...(JSON.stringify(blocksOf(before['system']).map(bare)) === JSON.stringify(blocksOf(after['system']).map(bare)) ? [] : ['system']),
    ...(JSON.stringify(toolsIn(before, false)) === JSON.stringify(toolsIn(after, false)) ? [] : ['tools']),
    // Those that are loaded on demand stand outside the prefix; their list may grow, and no more.
    ...(JSON.stringify(toolsIn(before, true)) === JSON.stringify(toolsIn(after, true).slice(0, toolsIn(before, true).length)) ? [] : ['deferred tools']),
  ];
  const changed = old.findIndex((block, at) => block !== now[at]);
  return [...head.map((part) => `${part} changed`), ...(changed === -1 ? [] : [`block ${changed} of the last request changed: ${old[changed]?.slice(0, 200)} became ${now[changed]?.slice(0, 200)}`])];
}

function toolsIn(body: Obj, deferred: boolean): readonly Obj[] {
  return list(body['tools']).map(obj).filter((tool) => (tool['defer_loading'] === true) === deferred).map(bare);
}

function flat(body: Obj): readonly string[] {
  return list(body['messages']).map(obj).flatMap(({ role, content }) => blocksOf(content).map((block) => `${text(role)} ${JSON.stringify(bare(block))}`));
}

function wellFormedAll(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  return typeof value !== 'object' || value === null || Object.entries(value).every(([key, inner]) => key.isWellFormed() && wellFormedAll(inner));
}
