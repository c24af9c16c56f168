import { type ContentBlock, NO_USAGE, type StopReason, type Usage } from '#domain/content.ts';
import type { ModelDelta } from '#domain/ports.ts';
import { wellFormed } from '#lib/text.ts';
import { isObj, numberOf, type Obj, objOf, parseJson, stringOf } from './json.ts';
import { wellFormedJson } from './well-formed.ts';

/** A reply that ended as it should: `message_stop` came, and a reason to stop before it. */
export interface Assembled {
  readonly content: readonly ContentBlock[];
  readonly usage: Usage;
  readonly stop: StopReason;
  readonly model: string | undefined;
  readonly messageId: string | undefined;
  /** What a refusal said of itself. */
  readonly detail: string | undefined;
  /** Types of blocks that are left out because nobody knows how to send them back. */
  readonly leftOut: readonly string[];
}

export interface Assembler {
  /** Takes one event of the stream in; gives what there is to see of it. Events, blocks and deltas of unknown types are passed over. */
  take(event: unknown): readonly ModelDelta[];
  /** Whether `message_stop` came: nothing after it counts. */
  readonly stopped: boolean;
  /** Text that came so far, finished or not; thinking and calls left out. */
  text(): readonly ContentBlock[];
  usage(): Usage;
  /** Undefined while the reply has not ended properly: then no call of it may run. */
  finish(): Assembled | undefined;
}

interface Block {
  readonly start: Obj;
  readonly type: string;
  text: string;
  signature: string | undefined;
  json: string;
  tokens: number;
  citations: unknown[];
  /** The first half of a surrogate pair whose other half is in the next delta. */
  held: string;
}

/** Fields that a block may have when it is sent back; what a compatible server adds of its own would be refused by others. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text', 'citations'],
  thinking: ['type', 'thinking', 'signature'],
  redacted_thinking: ['type', 'data'],
  tool_use: ['type', 'id', 'name', 'input', 'caller', 'toolset_name'],
};
/** Types that go back verbatim. */
const VERBATIM = new Set([
  'server_tool_use', 'web_search_tool_result', 'web_fetch_tool_result', 'code_execution_tool_result', 'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result', 'tool_search_tool_result', 'container_upload',
]);

/** A call whose input was no JSON object has this as its only key, with the raw text: its tool answers with an error. */
export const INVALID_JSON = 'INVALID_JSON';

interface Assembly {
  readonly blocks: Block[];
  /** The block that an index of the stream stands for now. */
  readonly byIndex: Map<number, Block>;
  start: Obj;
  usage: Usage;
  stop: string | undefined;
  details: Obj;
  stopped: boolean;
}

/** Puts a reply together from its events, tolerant of everything that servers have been seen to do. `usedIds`: ids of calls in the request. */
export function createAssembler(usedIds: ReadonlySet<string>): Assembler {
  const state: Assembly = { blocks: [], byIndex: new Map(), start: {}, usage: NO_USAGE, stop: undefined, details: {}, stopped: false };
  return {
    take: (event) => (state.stopped ? [] : takeEvent(state, objOf(event))),
    get stopped() { return state.stopped; },
    text: () => state.blocks.flatMap((block) => (block.type === 'text' ? finishText(block) : [])),
    usage: () => state.usage,
    finish() {
      const { blocks, start, stop, usage } = state;
      if (!state.stopped || stop === undefined) return undefined;
      return {
        content: stop === 'refusal' ? [] : finishAll(blocks, usedIds), usage, stop, detail: detailOf(state.details),
        model: stringOf(start['model']), messageId: stringOf(start['id']),
        leftOut: blocks.map(({ type }) => type).filter((type) => FIELDS[type] === undefined && !VERBATIM.has(type)),
      };
    },
  };
}

function takeEvent(state: Assembly, event: Obj): readonly ModelDelta[] {
  switch (event['type']) {
    case 'message_start': {
      state.start = objOf(event['message']);
      state.usage = mergeUsage(state.usage, objOf(state.start['usage']));
      return [];
    }
    case 'content_block_start': {
      const block = newBlock(objOf(event['content_block']));
      state.blocks.push(block);
      state.byIndex.set(numberOf(event['index']) ?? state.blocks.length - 1, block);
      return firstDelta(block);
    }
    case 'content_block_delta': {
      const delta = objOf(event['delta']);
      const type = TYPE_OF_DELTA[stringOf(delta['type']) ?? ''];
      return type === undefined ? [] : grow(blockFor(state, event, type), delta);
    }
    case 'content_block_stop': return rest(state.byIndex.get(numberOf(event['index']) ?? 0));
    case 'message_delta': {
      const delta = objOf(event['delta']);
      state.stop = stringOf(delta['stop_reason']) ?? state.stop;
      state.details = { ...state.details, ...objOf(delta['stop_details']) };
      state.usage = mergeUsage(state.usage, objOf(event['usage']));
      return [];
    }
    case 'message_stop': state.stopped = true; return [];
    default: return [];
  }
}

/** The block that a delta belongs to; one whose start got lost begins here. */
function blockFor({ blocks, byIndex }: Assembly, event: Obj, type: string): Block {
  const index = numberOf(event['index']) ?? 0;
  const known = byIndex.get(index);
  if (known !== undefined) return known;
  const block = newBlock({ type });
  blocks.push(block);
  byIndex.set(index, block);
  return block;
}

/** The kind of block that a delta belongs to, should its start have got lost. */
const TYPE_OF_DELTA: Readonly<Record<string, string>> = {
  text_delta: 'text', citations_delta: 'text', thinking_delta: 'thinking', signature_delta: 'thinking', input_json_delta: 'tool_use',
};

function newBlock(start: Obj): Block {
  return {
    start, type: stringOf(start['type']) ?? 'unknown', held: '', json: '', tokens: 0, citations: [],
    text: stringOf(start['text']) ?? stringOf(start['thinking']) ?? '', signature: stringOf(start['signature']) || undefined,
  };
}

function firstDelta(block: Block): readonly ModelDelta[] {
  if (block.type === 'tool_use' || block.type === 'server_tool_use') return [{ type: 'call', tool: stringOf(block.start['name']) ?? '', chars: 0 }];
  if (block.text === '') return [];
  return block.type === 'text' ? [{ type: 'text', text: wellFormed(block.text) }] : block.type === 'thinking' ? [{ type: 'thinking', text: wellFormed(block.text) }] : [];
}

function grow(block: Block, delta: Obj): readonly ModelDelta[] {
  switch (delta['type']) {
    case 'text_delta': {
      const text = stringOf(delta['text']) ?? '';
      block.text += text;
      const visible = whole(block, text);
      return visible === '' ? [] : [{ type: 'text', text: visible }];
    }
    case 'thinking_delta': {
      const text = stringOf(delta['thinking']) ?? '';
      block.text += text;
      block.tokens += numberOf(delta['estimated_tokens']) ?? 0;
      const visible = whole(block, text);
      return visible === '' && block.tokens === 0 ? [] : [{ type: 'thinking', text: visible, ...(block.tokens > 0 ? { tokens: block.tokens } : {}) }];
    }
    case 'signature_delta': block.signature = stringOf(delta['signature']) ?? block.signature; return [];
    case 'citations_delta': block.citations.push(delta['citation']); return [];
    default: {
      block.json += stringOf(delta['partial_json']) ?? '';
      return [{ type: 'call', tool: stringOf(block.start['name']) ?? '', chars: block.json.length }];
    }
  }
}

/** The part of a delta that can be shown now: a pair cut between two deltas is held together. */
function whole(block: Block, text: string): string {
  const joined = block.held + text;
  const last = joined.charCodeAt(joined.length - 1);
  const cut = last >= 0xd800 && last <= 0xdbff;
  block.held = cut ? joined.slice(-1) : '';
  return wellFormed(cut ? joined.slice(0, -1) : joined);
}

/** A half that never got its other half is shown as what it is kept as. */
function rest(block: Block | undefined): readonly ModelDelta[] {
  if (block === undefined || block.held === '') return [];
  block.held = '';
  return block.type === 'text' ? [{ type: 'text', text: wellFormed('\ud800') }] : [];
}

function finishAll(blocks: readonly Block[], usedIds: ReadonlySet<string>): readonly ContentBlock[] {
  const taken = new Set(usedIds);
  return blocks.flatMap((block): readonly ContentBlock[] => {
    switch (block.type) {
      case 'text': return finishText(block);
      // Unsigned thinking would be refused when it is sent back.
      case 'thinking': return block.signature === undefined ? [] : asBlock(block, { thinking: wellFormed(block.text), signature: block.signature });
      case 'redacted_thinking': return asBlock(block, {});
      case 'tool_use': return finishCall(block, taken);
      case 'server_tool_use': return [{ ...block.start, input: inputOf(block) } as unknown as ContentBlock];
      default: return VERBATIM.has(block.type) ? [wellFormedJson(block.start) as unknown as ContentBlock] : [];
    }
  });
}

/** Blank text is left out: no request may hold it. */
function finishText(block: Block): readonly ContentBlock[] {
  if (block.text.trim() === '') return [];
  const citations = block.citations.length > 0 ? { citations: block.citations } : {};
  return asBlock(block, { text: wellFormed(block.text), ...citations });
}

/** An id that was used before, or that no server would take back, gets a number behind it. */
function finishCall(block: Block, taken: Set<string>): readonly ContentBlock[] {
  const name = stringOf(block.start['name']);
  if (name === undefined || name === '') return [];
  const given = (stringOf(block.start['id']) ?? '').replace(/[^a-zA-Z0-9_-]/g, '_') || 'toolu';
  let id = given;
  for (let n = 2; taken.has(id); n += 1) id = `${given}_${n}`;
  taken.add(id);
  return asBlock(block, { id, name: wellFormed(name), input: inputOf(block) });
}

function inputOf(block: Block): Obj {
  if (block.json.trim() === '') return wellFormedJson(objOf(block.start['input']));
  const parsed = parseJson(block.json);
  return isObj(parsed) ? wellFormedJson(parsed) : { [INVALID_JSON]: wellFormed(block.json) };
}

function asBlock(block: Block, changes: Obj): readonly ContentBlock[] {
  const fields = FIELDS[block.type] ?? [];
  const entries = Object.entries({ ...block.start, ...changes }).filter(([key, value]) => fields.includes(key) && value !== null && value !== undefined);
  return [Object.fromEntries(entries) as unknown as ContentBlock];
}

/** Later figures win; what is null or absent stays as it was. */
export function mergeUsage(before: Usage, raw: Obj): Usage {
  const searches = numberOf(objOf(raw['server_tool_use'])['web_search_requests']) ?? before.searches;
  return {
    input: numberOf(raw['input_tokens']) ?? before.input,
    output: numberOf(raw['output_tokens']) ?? before.output,
    cacheRead: numberOf(raw['cache_read_input_tokens']) ?? before.cacheRead,
    cacheWrite: numberOf(raw['cache_creation_input_tokens']) ?? before.cacheWrite,
    cacheWrite1h: numberOf(objOf(raw['cache_creation'])['ephemeral_1h_input_tokens']) ?? before.cacheWrite1h,
    ...(searches === undefined ? {} : { searches }),
  };
}

function detailOf(details: Obj): string | undefined {
  const parts = [stringOf(details['category']), stringOf(details['explanation'])].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? undefined : wellFormed(parts.join(': '));
}
