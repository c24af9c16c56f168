import type { ContentBlock, Effort, MessageParam, TextBlock } from '#domain/content.ts';
import type { ModelFacts } from '#domain/model.ts';
import type { BlockPlace, CacheMarks, ModelRequest } from '#domain/request.ts';
import type { Obj } from './json.ts';
import type { Quirk } from './quirks.ts';
import { wellFormedJson } from './well-formed.ts';

export interface Sending {
  readonly body: Obj;
  readonly betas: readonly string[];
}

export interface BodyOptions {
  readonly facts: ModelFacts;
  readonly quirks: ReadonlySet<Quirk>;
  /** Beta names of the user's own. */
  readonly betas: readonly string[];
  /** How much of the thinking comes back: its summary, or the notes between calls only (a beta). */
  readonly display: 'summarized' | 'updates';
  /** Most tokens of a reply; default {@link outputLimit}. */
  readonly maxTokens?: number;
}

export const UPDATES_BETA = 'thinking-display-updates-2026-08-18';
const OUTPUT_TOKENS = 32_000;
/** Thinking counts as output: the upper efforts need room for it. */
const OUTPUT_TOKENS_HIGH = 64_000;
const THINKING_BUDGET = 8_000;
const EPHEMERAL = { type: 'ephemeral' } as const;
const FOR_AN_HOUR = { type: 'ephemeral', ttl: '1h' } as const;
type Mark = typeof EPHEMERAL | typeof FOR_AN_HOUR;

/** Most tokens that a reply may have, thinking included: what a request asks for and what the fit reserves. */
export function outputLimit(facts: ModelFacts, effort: Effort | undefined): number {
  return Math.min(facts.maxOutput, effort === 'xhigh' || effort === 'max' ? OUTPUT_TOKENS_HIGH : OUTPUT_TOKENS);
}

/** What goes over the wire for a request: blocks as they are, cache marks set, and only what model and server take. */
export function bodyOf(request: ModelRequest, marks: CacheMarks, options: BodyOptions): Sending {
  const { facts, quirks } = options;
  const effort = effortOf(request, facts, quirks);
  const limit = Math.min(options.maxTokens ?? outputLimit(facts, effort), facts.maxOutput, limitIn(quirks));
  const marked = !quirks.has('cache_control');
  const hourUpTo = quirks.has('cache_control.ttl') ? undefined : marks.hourUpTo;
  const whole = referring(request.messages, quirks);
  const messages = marked ? markMessages(whole, marks.blocks, hourUpTo) : whole;
  const { thinking, betas } = thinkingOf(request, options, limit);
  const tools = [...request.tools.map((tool) => without(tool, quirks)), ...request.serverTools ?? []];
  return {
    body: wellFormedJson({
      model: facts.id,
      max_tokens: limit,
      ...(request.system.length > 0 ? { system: marked && marks.system !== false ? markLast(request.system, hourUpTo !== undefined || (marks.system === '1h' && !quirks.has('cache_control.ttl')) ? FOR_AN_HOUR : EPHEMERAL) : request.system } : {}),
      ...(tools.length > 0 ? { tools } : {}),
      messages: quirks.has('system-role') ? inlineSystem(messages) : messages,
      ...(thinking === undefined ? {} : { thinking }),
      ...(effort === undefined ? {} : { output_config: { effort } }),
      stream: true,
    }),
    betas: [...new Set([...options.betas, ...betas])].filter((beta) => !quirks.has(`beta:${beta}`)),
  };
}

function effortOf(request: ModelRequest, facts: ModelFacts, quirks: ReadonlySet<Quirk>): Effort | undefined {
  const effort = request.effort ?? facts.defaultEffort;
  return effort !== undefined && facts.efforts.includes(effort) && !quirks.has('output_config') ? effort : undefined;
}

function thinkingOf(request: ModelRequest, { facts, quirks, display }: BodyOptions, limit: number): { thinking?: Obj; betas: readonly string[] } {
  if (facts.thinking === 'none' || quirks.has('thinking')) return { betas: [] };
  const updates = display === 'updates' && facts.thinking === 'adaptive' && !quirks.has(`beta:${UPDATES_BETA}`);
  const shown = quirks.has('thinking.display') ? {} : { display: updates ? 'updates' : 'summarized' };
  const betas = updates && !quirks.has('thinking.display') ? [UPDATES_BETA] : [];
  if (facts.thinking === 'adaptive') return { thinking: { type: 'adaptive', ...shown }, betas };
  const budget = Math.min(THINKING_BUDGET, limit - 1_024);
  // A model with a budget wants every open tool round to have begun with its thinking.
  if (budget < 1_024 || inUnthoughtRound(request.messages)) return { betas: [] };
  return { thinking: { type: 'enabled', budget_tokens: budget }, betas };
}

function inUnthoughtRound(messages: readonly MessageParam[]): boolean {
  if (!blocksIn(messages.at(-1)).some(({ type }) => type === 'tool_result')) return false;
  const first = blocksIn(messages.at(-2))[0]?.type;
  return first !== 'thinking' && first !== 'redacted_thinking';
}

function blocksIn(message: MessageParam | undefined): readonly ContentBlock[] {
  return message === undefined || typeof message.content === 'string' ? [] : message.content;
}

function limitIn(quirks: ReadonlySet<Quirk>): number {
  const limits = [...quirks].flatMap((quirk) => /^max_tokens:(\d+)$/.exec(quirk)?.[1] ?? []);
  return Math.min(Number.POSITIVE_INFINITY, ...limits.map(Number));
}

function without(tool: object, quirks: ReadonlySet<Quirk>): object {
  return Object.fromEntries(Object.entries(tool).filter(([field]) => !quirks.has(`tools.${field}`) && !(field === 'defer_loading' && loadsPlainly(quirks))));
}

/** For servers that know nothing of tools that are loaded on demand: a result that refers to some says so in words. */
function referring(messages: readonly MessageParam[], quirks: ReadonlySet<Quirk>): readonly MessageParam[] {
  if (!loadsPlainly(quirks)) return messages;
  return messages.map((message) => {
    const { content } = message;
    return message.role !== 'user' || typeof content === 'string' ? message : { ...message, content: content.map(inWords) };
  });
}

function loadsPlainly(quirks: ReadonlySet<Quirk>): boolean {
  return quirks.has('tool_reference') || quirks.has('tools.defer_loading');
}

function inWords(block: ContentBlock): ContentBlock {
  if (block.type !== 'tool_result' || !Array.isArray(block.content)) return block;
  return { ...block, content: block.content.map((part) => (part.type === 'tool_reference' ? { type: 'text', text: `${part.tool_name} is loaded.` } : part)) };
}

function markLast(system: readonly TextBlock[], mark: Mark): readonly TextBlock[] {
  return system.map((block, at) => (at === system.length - 1 ? { ...block, cache_control: mark } : block));
}

function markMessages(messages: readonly MessageParam[], places: readonly BlockPlace[], hourUpTo: BlockPlace | undefined): readonly MessageParam[] {
  const markAt = (message: number, block: number): Mark => (
    hourUpTo !== undefined && (message < hourUpTo.message || (message === hourUpTo.message && block <= hourUpTo.block)) ? FOR_AN_HOUR : EPHEMERAL);
  return messages.map((message, m) => {
    const here = places.filter(({ message: at }) => at === m).map(({ block }) => block);
    const { content } = message;
    if (here.length === 0 || typeof content === 'string') return message;
    return { ...message, content: content.map((block, b) => (here.includes(b) ? markBlock(block, markAt(m, b)) : block)) } as MessageParam;
  });
}

/** Thinking and blank text cannot bear a mark. */
function markBlock(block: ContentBlock, mark: Mark): ContentBlock {
  if (block.type === 'thinking' || block.type === 'redacted_thinking' || (block.type === 'text' && block.text === '')) return block;
  return { ...block, cache_control: mark };
}

/** For servers that do not know system messages among the others: their text stands at the end of the user message before. */
function inlineSystem(messages: readonly MessageParam[]): readonly MessageParam[] {
  const inlined: MessageParam[] = [];
  for (const message of messages) {
    const last = inlined.at(-1);
    if (message.role !== 'system' || last === undefined) { inlined.push(message); continue; }
    const text = typeof message.content === 'string' ? message.content : message.content.map((block) => block.text).join('\n\n');
    const before = typeof last.content === 'string' ? [{ type: 'text' as const, text: last.content }] : last.content;
    inlined[inlined.length - 1] = { ...last, content: [...before, { type: 'text', text: `<system>\n${text}\n</system>` }] } as MessageParam;
  }
  return inlined;
}
