import { checkDocument, checkImage, checkPictures, type Picture } from './media.ts';
import type { ModelRules } from './models.ts';
import { blocksOf, invalid, isObj, list, obj, type Obj, type Refusal, text } from './shape.ts';

const ID = /^[a-zA-Z0-9_-]+$/;
/** Blocks, the role that may send them, and the fields that they may have beside `type` and `cache_control`. */
const BLOCKS: Readonly<Record<string, { readonly roles: readonly string[]; readonly fields: readonly string[] }>> = {
  text: { roles: ['user', 'assistant', 'system'], fields: ['text', 'citations'] },
  image: { roles: ['user'], fields: ['source', 'transformations'] },
  document: { roles: ['user'], fields: ['source', 'title', 'context', 'citations'] },
  search_result: { roles: ['user'], fields: ['source', 'title', 'content', 'citations'] },
  tool_result: { roles: ['user'], fields: ['tool_use_id', 'content', 'is_error', 'toolset_name'] },
  thinking: { roles: ['assistant'], fields: ['thinking', 'signature'] },
  redacted_thinking: { roles: ['assistant'], fields: ['data'] },
  tool_use: { roles: ['assistant'], fields: ['id', 'name', 'input', 'caller', 'toolset_name'] },
  server_tool_use: { roles: ['assistant'], fields: ['id', 'name', 'input', 'caller'] },
  web_search_tool_result: { roles: ['assistant'], fields: ['tool_use_id', 'content', 'caller'] },
  web_fetch_tool_result: { roles: ['assistant'], fields: ['tool_use_id', 'content', 'caller'] },
};
const RESULT_PARTS: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'citations'], image: ['source', 'transformations'], document: ['source', 'title', 'context', 'citations'],
  search_result: ['source', 'title', 'content', 'citations'], tool_reference: ['tool_name'],
};

/** One message after merging neighbours of one role, with the place where its first part stood. */
interface Turn {
  readonly role: string;
  readonly at: number;
  readonly blocks: readonly Obj[];
}

/** The rules of `messages`: shape of each block, then what holds between them. */
export function checkMessages(body: Obj, rules: ModelRules): Refusal | undefined {
  if (!Array.isArray(body['messages'])) return invalid('messages: Field required');
  const messages = list(body['messages']).map(obj);
  if (messages.length === 0) return invalid('messages: at least one message is required');
  if (messages.length > 100_000) return invalid('messages: List should have at most 100000 items');
  const pictures: Picture[] = [];
  for (const [at, message] of messages.entries()) {
    const refusal = checkMessage(message, at, pictures);
    if (refusal !== undefined) return refusal;
  }
  if (messages[0]?.['role'] !== 'user') return invalid('messages: first message must use the "user" role');
  return checkSystemMessages(messages, rules)
    ?? checkLast(messages, rules)
    ?? checkPairs(turnsOf(messages))
    ?? checkPictures(pictures, rules.window);
}

function checkMessage(message: Obj, at: number, pictures: Picture[]): Refusal | undefined {
  const role = text(message['role']);
  const where = `messages.${at}`;
  if (!['user', 'assistant', 'system'].includes(role)) return invalid(`${where}.role: Input should be 'user', 'assistant' or 'system'`);
  const extra = Object.keys(message).find((field) => field !== 'role' && field !== 'content');
  if (extra !== undefined) return invalid(`${where}.${extra}: Extra inputs are not permitted`);
  const { content } = message;
  if (typeof content !== 'string' && !Array.isArray(content)) return invalid(`${where}.content: Input should be a valid list`);
  if (content.length === 0) return invalid(`${where}: all messages must have non-empty content except for the optional final assistant message`);
  for (const [index, entry] of blocksOf(content).entries()) {
    const refusal = checkBlock(entry, role, `${where}.content.${index}`, pictures);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function checkBlock(block: Obj, role: string, where: string, pictures: Picture[]): Refusal | undefined {
  const type = text(block['type']);
  const rule = BLOCKS[type];
  if (rule === undefined) return invalid(`${where}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${Object.keys(BLOCKS).map((tag) => `'${tag}'`).join(', ')}`);
  if (!rule.roles.includes(role)) return invalid(`${where}: \`${type}\` blocks are not allowed in \`${role}\` messages`);
  const extra = Object.keys(block).find((field) => field !== 'type' && field !== 'cache_control' && !rule.fields.includes(field));
  if (extra !== undefined) return invalid(`${where}.${type}.${extra}: Extra inputs are not permitted`);
  switch (type) {
    case 'text': return checkText(block, role, where);
    case 'image': return checkPicture(block, where, pictures);
    case 'document': return checkDocument(obj(block['source']), where);
    case 'tool_result': return checkResult(block, where, pictures);
    case 'tool_use': return checkUse(block, where);
    case 'thinking': {
      if (typeof block['thinking'] !== 'string') return invalid(`${where}.thinking.thinking: Field required`);
      if (text(block['signature']) === '') return invalid(`${where}.thinking.signature: Field required`);
      return undefined;
    }
    case 'redacted_thinking': return text(block['data']) === '' ? invalid(`${where}.redacted_thinking.data: Field required`) : undefined;
    default: return undefined;
  }
}

function checkText(block: Obj, role: string, where: string): Refusal | undefined {
  if (typeof block['text'] !== 'string') return invalid(`${where}.text.text: Field required`);
  if (block['text'] === '') return invalid('messages: text content blocks must be non-empty');
  if (block['text'].trim() === '') return invalid('messages: text content blocks must contain non-whitespace text');
  if (role === 'user' && list(block['citations']).length > 0) return invalid(`${where}.text.citations: Extra inputs are not permitted`);
  return undefined;
}

function checkPicture(block: Obj, where: string, pictures: Picture[]): Refusal | undefined {
  const looked = checkImage(obj(block['source']), where);
  if ('status' in looked) return looked;
  pictures.push(looked);
  return undefined;
}

function checkUse(block: Obj, where: string): Refusal | undefined {
  if (!ID.test(text(block['id']))) return invalid(`${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  if (!/^[a-zA-Z0-9_-]{1,200}$/.test(text(block['name']))) return invalid(`${where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'`);
  return isObj(block['input']) ? undefined : invalid(`${where}.tool_use.input: Input should be a valid dictionary`);
}

function checkResult(block: Obj, where: string, pictures: Picture[]): Refusal | undefined {
  if (!ID.test(text(block['tool_use_id']))) return invalid(`${where}.tool_result.tool_use_id: Field required`);
  const { content } = block;
  if (content === undefined || typeof content === 'string') return undefined;
  if (!Array.isArray(content)) return invalid(`${where}.tool_result.content: Input should be a valid list`);
  for (const [index, part] of blocksOf(content).entries()) {
    const type = text(part['type']);
    const fields = RESULT_PARTS[type];
    const inside = `${where}.content.${index}`;
    if (fields === undefined) return invalid(`${where}.tool_result.content.${index}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${Object.keys(RESULT_PARTS).map((tag) => `'${tag}'`).join(', ')}`);
    const extra = Object.keys(part).find((field) => field !== 'type' && field !== 'cache_control' && !fields.includes(field));
    if (extra !== undefined) return invalid(`${where}.tool_result.content.${index}.${type}.${extra}: Extra inputs are not permitted`);
    if (type !== 'text' && block['is_error'] === true) return invalid(`${where}.tool_result: all content must be type \`text\` if \`is_error\` is true`);
    const refusal = type === 'text' ? checkText(part, 'user', inside)
      : type === 'image' ? checkPicture(part, inside, pictures)
        : type === 'document' ? checkDocument(obj(part['source']), inside) : undefined;
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function checkSystemMessages(messages: readonly Obj[], rules: ModelRules): Refusal | undefined {
  for (const [at, message] of messages.entries()) {
    if (message['role'] !== 'system') continue;
    if (!rules.systemMessages) return invalid(`messages.${at}: role 'system' is not supported on this model`);
    const next = messages[at + 1]?.['role'];
    if (next === 'user') return invalid(`messages.${at}: a 'system' message must be last or followed by an 'assistant' message`);
    const before = messages.slice(0, at).findLast(({ role }) => role !== 'system');
    if (before?.['role'] !== 'user') return invalid(`messages.${at}: a 'system' message must follow a 'user' message`);
  }
  return undefined;
}

function checkLast(messages: readonly Obj[], rules: ModelRules): Refusal | undefined {
  const last = messages.at(-1);
  // A reply that the server itself paused is gone on with.
  if (last?.['role'] !== 'assistant' || rules.prefill || blocksOf(last['content']).some(({ type }) => type === 'server_tool_use')) return undefined;
  return invalid('This model does not support assistant message prefill. The conversation must end with a user message.');
}

function turnsOf(messages: readonly Obj[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [at, message] of messages.entries()) {
    if (message['role'] === 'system') continue;
    const role = text(message['role']);
    const blocks = blocksOf(message['content']);
    const last = turns.at(-1);
    if (last?.role === role) turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...blocks] };
    else turns.push({ role, at, blocks });
  }
  return turns;
}

/** Each call is answered exactly once, in the next message, results first and in the order of the calls. */
function checkPairs(turns: readonly Turn[]): Refusal | undefined {
  const seen = new Set<string>();
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1];
    const asked = before?.role === 'assistant' ? callsOf(before) : [];
    const refusal = turn.role === 'assistant' ? checkCalls(turn, turns[index + 1], seen) : checkResults(turn, asked);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function checkCalls(turn: Turn, next: Turn | undefined, seen: Set<string>): Refusal | undefined {
  const calls = callsOf(turn);
  for (const id of calls) {
    if (seen.has(id)) return invalid(`messages.${turn.at}: \`tool_use\` ids must be unique`);
    seen.add(id);
  }
  const answered = next === undefined ? [] : leadingResults(next);
  const open = calls.filter((id) => !answered.includes(id));
  if (open.length === 0) return undefined;
  return invalid(`messages.${turn.at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`);
}

function checkResults(turn: Turn, asked: readonly string[]): Refusal | undefined {
  const results = turn.blocks.flatMap((block, at) => (block['type'] === 'tool_result' ? [{ id: text(block['tool_use_id']), at }] : []));
  const seen = new Set<string>();
  for (const { id, at } of results) {
    if (!asked.includes(id)) return invalid(`messages.${turn.at}.content.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`);
    if (seen.has(id)) return invalid(`messages.${turn.at}.content.${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`);
    seen.add(id);
  }
  if (results.some(({ id }, at) => id !== asked[at])) return invalid(`messages.${turn.at}: \`tool_result\` blocks must stand in the order of their \`tool_use\` blocks: ${asked.join(', ')}`);
  return undefined;
}

function callsOf(turn: Turn): readonly string[] {
  return turn.blocks.flatMap((block) => (block['type'] === 'tool_use' ? [text(block['id'])] : []));
}

function leadingResults(turn: Turn): readonly string[] {
  const end = turn.blocks.findIndex((block) => block['type'] !== 'tool_result');
  return turn.blocks.slice(0, end === -1 ? undefined : end).map((block) => text(block['tool_use_id']));
}
