import { countTokens, MAX_CACHE_MARKS } from '#client/demo/cache.ts';
import { checkBonds } from './binding.ts';
import { checkMessages } from './messages.ts';
import { MODELS, type ModelRules } from './models.ts';
import { blocksOf, invalid, isObj, list, obj, type Obj, type Refusal, text } from './shape.ts';

const FIELDS = [
  'model', 'max_tokens', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'stream', 'stop_sequences', 'metadata',
  'cache_control', 'diagnostics', 'service_tier', 'speed', 'container', 'inference_geo',
];
const BETA_FIELDS: Readonly<Record<string, string>> = { context_management: 'context-management-2025-06-27', compaction: 'compact-2026-09-04', fallbacks: 'server-side-fallback-2026-07-01' };
const TOOL_FIELDS = ['name', 'description', 'input_schema', 'type', 'cache_control', 'strict', 'defer_loading', 'eager_input_streaming', 'input_examples', 'allowed_callers'];

export interface CheckOptions {
  readonly models?: Readonly<Record<string, ModelRules>>;
  readonly betas?: readonly string[];
  /** `count_tokens` takes no `max_tokens`. */
  readonly counting?: boolean;
  /** Leave the length of the prompt unchecked. */
  readonly anyLength?: boolean;
}

/** Everything for which the API answers a request with 400 or 404, in about its own words; undefined for a request that it would take. */
export function checkRequest(body: unknown, { models = MODELS, betas = [], counting = false, anyLength = false }: CheckOptions = {}): Refusal | undefined {
  if (!isObj(body)) return invalid('Input should be a valid dictionary');
  const known = Object.keys(body).find((field) => !FIELDS.includes(field) && !betas.includes(BETA_FIELDS[field] ?? '-'));
  if (known !== undefined) return invalid(`${known}: Extra inputs are not permitted`);
  if (typeof body['model'] !== 'string') return invalid('model: Field required');
  const rules = models[body['model']];
  if (rules === undefined) return { status: 404, type: 'not_found_error', message: `model: ${body['model']}` };
  return (counting ? undefined : checkMaxTokens(body, rules))
    ?? checkSystem(body['system'])
    ?? checkTools(body)
    ?? checkToolChoice(body, rules)
    ?? checkThinking(body, rules, betas)
    ?? checkEffort(body, rules)
    ?? checkMessages(body, rules)
    ?? checkReferences(body)
    ?? checkMarks(body)
    ?? (anyLength ? undefined : checkLength(body, rules))
    ?? (rules.bound ? checkBonds(body, body['model']) : undefined);
}

function checkMaxTokens(body: Obj, rules: ModelRules): Refusal | undefined {
  const most = body['max_tokens'];
  if (most === undefined) return invalid('max_tokens: Field required');
  if (typeof most !== 'number' || !Number.isInteger(most)) return invalid('max_tokens: Input should be a valid integer');
  if (most < 1) return invalid('max_tokens: must be greater than or equal to 1');
  if (most > rules.maxOutput) return invalid(`max_tokens: ${most} > ${rules.maxOutput}, which is the maximum allowed number of output tokens for ${text(body['model'])}`);
  return undefined;
}

function checkSystem(system: unknown): Refusal | undefined {
  if (system === undefined || typeof system === 'string') return undefined;
  if (!Array.isArray(system)) return invalid('system: Input should be a valid list');
  for (const [at, block] of blocksOf(system).entries()) {
    if (block['type'] !== 'text') return invalid(`system.${at}.type: Input should be 'text'`);
    if (text(block['text']).trim() === '') return invalid('system: text content blocks must be non-empty');
    const extra = Object.keys(block).find((field) => !['type', 'text', 'cache_control', 'citations'].includes(field));
    if (extra !== undefined) return invalid(`system.${at}.${extra}: Extra inputs are not permitted`);
  }
  return undefined;
}

function checkTools(body: Obj): Refusal | undefined {
  const names = new Set<string>();
  for (const [at, entry] of list(body['tools']).entries()) {
    const tool = obj(entry);
    if (typeof tool['type'] === 'string' && tool['type'] !== 'custom') {
      const refusal = checkServerTool(tool, `tools.${at}`);
      if (refusal !== undefined) return refusal;
      continue;
    }
    const name = text(tool['name']);
    const where = `tools.${at}.custom`;
    if (name === '') return invalid(`${where}.name: Field required`);
    if (name.length > 64) return invalid(`${where}.name: String should have at most 64 characters`);
    if (!/^[a-zA-Z0-9_-]+$/.test(name)) return invalid(`${where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`);
    if (names.has(name)) return invalid('tools: Tool names must be unique.', { error_code: 'tool_name_conflict', tool_name: name });
    names.add(name);
    if (!isObj(tool['input_schema'])) return invalid(`${where}.input_schema: Field required`);
    if (tool['input_schema']['type'] !== 'object') return invalid(`${where}.input_schema.type: Input should be 'object'`);
    if (tool['defer_loading'] === true && tool['cache_control'] !== undefined) return invalid(`${where}: tools with defer_loading cannot have cache_control`);
    const extra = Object.keys(tool).find((field) => !TOOL_FIELDS.includes(field));
    if (extra !== undefined) return invalid(`${where}.${extra}: Extra inputs are not permitted`);
  }
  const tools = list(body['tools']).map(obj);
  if (tools.length > 0 && tools.every((tool) => tool['defer_loading'] === true)) return invalid('tools: at least one tool must have defer_loading=false');
  return undefined;
}

const SEARCH_FIELDS = ['type', 'name', 'max_uses', 'allowed_domains', 'blocked_domains', 'user_location', 'cache_control', 'defer_loading', 'strict', 'allowed_callers'];

function checkServerTool(tool: Obj, where: string): Refusal | undefined {
  const type = text(tool['type']);
  if (type !== 'web_search_20250305') return invalid(`${where}: Input tag '${type}' found using 'type' does not match any of the expected tags: 'custom', 'web_search_20250305'`);
  if (tool['name'] !== 'web_search') return invalid(`${where}.${type}.name: Input should be 'web_search'`);
  const extra = Object.keys(tool).find((field) => !SEARCH_FIELDS.includes(field));
  if (extra !== undefined) return invalid(`${where}.${type}.${extra}: Extra inputs are not permitted`);
  if (tool['allowed_domains'] !== undefined && tool['blocked_domains'] !== undefined) return invalid(`${where}.${type}: only one of allowed_domains and blocked_domains may be given`);
  return undefined;
}

/** A result may refer to declared deferred tools only, and hold nothing beside. */
function checkReferences(body: Obj): Refusal | undefined {
  const deferred = new Set(list(body['tools']).map(obj).filter((tool) => tool['defer_loading'] === true).map(({ name }) => name));
  for (const [at, message] of list(body['messages']).map(obj).entries()) {
    for (const [index, block] of blocksOf(message['content']).entries()) {
      const parts = block['type'] === 'tool_result' ? blocksOf(block['content']) : [];
      const references = parts.filter(({ type }) => type === 'tool_reference');
      const where = `messages.${at}.content.${index}.tool_result`;
      const unknown = references.find((part) => !deferred.has(part['tool_name']));
      if (unknown !== undefined) return invalid(`${where}: Tool reference '${text(unknown['tool_name'])}' not found in available tools`, { error_code: 'tool_reference_unresolved' });
      if (references.length > 0 && references.length < parts.length) return invalid(`${where}: \`tool_reference\` blocks cannot be mixed with other content`);
    }
  }
  return undefined;
}

function checkToolChoice(body: Obj, rules: ModelRules): Refusal | undefined {
  if (body['tool_choice'] === undefined) return undefined;
  const choice = obj(body['tool_choice']);
  const type = text(choice['type']);
  if (!['auto', 'any', 'tool', 'none'].includes(type)) return invalid(`tool_choice: Input tag '${type}' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'`);
  if (list(body['tools']).length === 0) return invalid('tool_choice: tools must be provided when tool_choice is set');
  const forced = type === 'any' || type === 'tool';
  if (forced && !rules.forcedToolChoice) return invalid('tool_choice: type "tool" and "any" are not supported for this model.');
  if (forced && obj(body['thinking'])['type'] === 'enabled') return invalid('Thinking may not be enabled when tool_choice forces tool use.');
  if (type === 'tool' && !list(body['tools']).some((tool) => obj(tool)['name'] === choice['name'])) return invalid(`tool_choice.tool: tool '${text(choice['name'])}' not found in provided tools`);
  return undefined;
}

function checkThinking(body: Obj, rules: ModelRules, betas: readonly string[]): Refusal | undefined {
  if (body['thinking'] === undefined) return undefined;
  const thinking = obj(body['thinking']);
  const type = text(thinking['type']);
  if (!['adaptive', 'disabled', 'enabled', 'between_tools'].includes(type)) {
    return invalid(`thinking: Input tag '${type}' found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'`);
  }
  if (!rules.thinking.includes(type)) return invalid(`thinking.type: "${type}" is not supported on this model.`);
  const allowed = ['type', ...(type === 'adaptive' || type === 'enabled' ? ['display', 'block_binding'] : []), ...(type === 'enabled' ? ['budget_tokens'] : [])];
  const extra = Object.keys(thinking).find((field) => !allowed.includes(field));
  if (extra !== undefined) return invalid(`thinking.${type}.${extra}: Extra inputs are not permitted`);
  if (thinking['block_binding'] !== undefined && !betas.includes('thinking-binding-controls-2026-08-01')) return invalid(`thinking.${type}.block_binding: Extra inputs are not permitted`);
  const displays = ['summarized', 'omitted', ...(betas.includes('thinking-display-updates-2026-08-18') ? ['updates'] : [])];
  const display = thinking['display'];
  if (display !== undefined && display !== null && !displays.includes(text(display))) return invalid(`thinking.${type}.display: Input should be ${displays.map((value) => `'${value}'`).join(' or ')}`);
  const effort = text(obj(body['output_config'])['effort']);
  if (type === 'disabled' && ['xhigh', 'max'].includes(effort)) return invalid(`thinking.type: "disabled" is not supported with effort "${effort}".`);
  if (type !== 'enabled') return undefined;
  const budget = thinking['budget_tokens'];
  if (typeof budget !== 'number') return invalid('thinking.enabled.budget_tokens: Field required');
  if (budget < 1_024) return invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  if (typeof body['max_tokens'] === 'number' && budget >= body['max_tokens']) return invalid('`max_tokens` must be greater than `thinking.budget_tokens`.');
  return undefined;
}

function checkEffort(body: Obj, rules: ModelRules): Refusal | undefined {
  const config = obj(body['output_config']);
  const extra = Object.keys(config).find((field) => !['effort', 'format'].includes(field));
  if (extra !== undefined) return invalid(`output_config.${extra}: Extra inputs are not permitted`);
  const { effort } = config;
  if (effort === undefined || effort === null) return undefined;
  if (!['low', 'medium', 'high', 'xhigh', 'max'].includes(text(effort))) return invalid("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'");
  if (rules.efforts.length === 0) return invalid('This model does not support the effort parameter.');
  if (!rules.efforts.includes(text(effort))) return invalid(`output_config.effort: "${text(effort)}" is not supported on this model.`);
  return undefined;
}

function checkMarks(body: Obj): Refusal | undefined {
  const inMessages = list(body['messages']).flatMap((message, m) => blocksOf(obj(message)['content']).map((block, b) => ({ block, where: `messages.${m}.content.${b}` })));
  const marked = [
    ...list(body['tools']).map((tool, at) => ({ block: obj(tool), where: `tools.${at}` })),
    ...blocksOf(body['system']).map((block, at) => ({ block, where: `system.${at}` })),
    ...inMessages,
  ].filter(({ block }) => block['cache_control'] !== undefined && block['cache_control'] !== null);
  const count = marked.length + (body['cache_control'] === undefined ? 0 : 1);
  if (count > MAX_CACHE_MARKS) return invalid(`A maximum of ${MAX_CACHE_MARKS} blocks with cache_control may be provided. Found ${count}.`);
  let short = false;
  for (const { block, where } of marked) {
    const mark = obj(block['cache_control']);
    if (mark['type'] !== 'ephemeral') return invalid(`${where}.cache_control.type: Input should be 'ephemeral'`);
    if (mark['ttl'] !== undefined && mark['ttl'] !== '5m' && mark['ttl'] !== '1h') return invalid(`${where}.cache_control.ephemeral.ttl: Input should be '5m' or '1h'`);
    if (block['type'] === 'thinking' || block['type'] === 'redacted_thinking') return invalid(`${where}.${text(block['type'])}.cache_control: Extra inputs are not permitted`);
    if (block['type'] === 'text' && block['text'] === '') return invalid(`${where}.text: cache_control cannot be set for empty text blocks`);
    if (mark['ttl'] === '1h' && short) return invalid(`${where}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.`);
    short ||= mark['ttl'] !== '1h';
  }
  return undefined;
}

function checkLength(body: Obj, rules: ModelRules): Refusal | undefined {
  const tokens = countTokens({ ...body, model: text(body['model']), messages: body['messages'] });
  return tokens > rules.window ? invalid(`prompt is too long: ${tokens} tokens > ${rules.window} maximum`) : undefined;
}
