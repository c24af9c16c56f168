/** The part of a request that the rules are about; both our own `ModelRequest` and the body on the wire have it. */
export interface Checked {
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

type Record_ = Readonly<Record<string, unknown>>;

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const IMAGE_TYPES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
const USER_BLOCKS = new Set(['text', 'image', 'document', 'tool_result', 'search_result']);
const RESULT_BLOCKS = new Set(['text', 'image', 'document', 'search_result', 'tool_reference']);
const SERVER_RESULT = /^[a-z_]+_tool_result$/;
const ASSISTANT_BLOCKS = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use']);

/**
 * What the Messages API would refuse in a request, one line each; empty when it would take it. Beyond the API: content is
 * always a list of blocks, roles alternate, and results stand in the order of their calls.
 *
 * `answerLast` allows that the last message is the model's (a request that is only looked at, not sent).
 */
export function checkRequest(request: Checked, { answerLast = false } = {}): string[] {
  const faults: string[] = [];
  const { messages } = request;
  if (messages.length === 0) faults.push('messages: empty');
  if (messages.length > 0 && messages[0]?.role !== 'user') faults.push('messages.0: not the user\'s');
  const ids = new Set<string>();
  messages.forEach((message, at) => {
    const where = `messages.${at}`;
    const blocks = blocksOf(message.content);
    if (message.role !== 'user' && message.role !== 'assistant') faults.push(`${where}: role ${message.role}`);
    if (blocks === undefined) faults.push(`${where}: content is no list of blocks`);
    else if (blocks.length === 0) faults.push(`${where}: no blocks`);
    if (at > 0 && messages[at - 1]?.role === message.role) faults.push(`${where}: same role as the message before`);
    const before = blocksOf(messages[at - 1]?.content) ?? [];
    if (message.role === 'user') checkUser(blocks ?? [], messages[at - 1]?.role === 'assistant' ? before : [], where, faults);
    else checkAssistant(blocks ?? [], where, ids, faults);
  });
  checkEnd(messages, answerLast, faults);
  checkHead(request, faults);
  checkReferences(request, faults);
  illFormed(request, 'request', faults);
  return faults;
}

function blocksOf(content: unknown): readonly Record_[] | undefined {
  return Array.isArray(content) ? content as Record_[] : undefined;
}

function checkUser(blocks: readonly Record_[], before: readonly Record_[], where: string, faults: string[]): void {
  const asked = before.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
  const given = blocks.filter(({ type }) => type === 'tool_result').map((block) => block['tool_use_id']);
  if (JSON.stringify(asked) !== JSON.stringify(given)) faults.push(`${where}: calls [${asked.join()}] are answered by [${given.join()}]`);
  const firstOther = blocks.findIndex(({ type }) => type !== 'tool_result');
  if (firstOther !== -1 && blocks.slice(firstOther).some(({ type }) => type === 'tool_result')) faults.push(`${where}: a tool_result stands behind another block`);
  blocks.forEach((block, at) => {
    const here = `${where}.content.${at}`;
    if (!USER_BLOCKS.has(String(block['type']))) faults.push(`${here}: ${String(block['type'])} in a user message`);
    checkContent(block, here, faults);
    if (block['type'] === 'text' && Array.isArray(block['citations']) && block['citations'].length > 0) faults.push(`${here}: citations in a user message`);
    if (block['type'] === 'tool_result') checkResult(block, here, faults);
  });
}

function checkResult(result: Record_, where: string, faults: string[]): void {
  const content = blocksOf(result['content']);
  if (content === undefined) faults.push(`${where}: content is no list of blocks`);
  if (content?.length === 0) faults.push(`${where}: no content`);
  content?.forEach((block, at) => {
    const here = `${where}.content.${at}`;
    if (!RESULT_BLOCKS.has(String(block['type']))) faults.push(`${here}: ${String(block['type'])} in a tool_result`);
    if (result['is_error'] === true && block['type'] !== 'text') faults.push(`${here}: an error holds ${String(block['type'])}`);
    checkContent(block, here, faults);
  });
}

function checkAssistant(blocks: readonly Record_[], where: string, ids: Set<string>, faults: string[]): void {
  blocks.forEach((block, at) => {
    const here = `${where}.content.${at}`;
    const type = String(block['type']);
    if (!ASSISTANT_BLOCKS.has(type) && !(SERVER_RESULT.test(type) && type !== 'tool_result')) faults.push(`${here}: ${type} in an assistant message`);
    checkContent(block, here, faults);
    if (type === 'thinking' && (typeof block['thinking'] !== 'string' || typeof block['signature'] !== 'string' || block['signature'] === '')) faults.push(`${here}: thinking without signature`);
    if (type === 'tool_use') checkCall(block, here, ids, faults);
  });
  if (blocks.length > 0 && blocks.every(({ type }) => type === 'thinking' || type === 'redacted_thinking')) faults.push(`${where}: nothing but thinking`);
}

function checkCall(block: Record_, where: string, ids: Set<string>, faults: string[]): void {
  const id = String(block['id']);
  if (!/^[a-zA-Z0-9_-]+$/.test(id)) faults.push(`${where}: bad id "${id}"`);
  if (ids.has(id)) faults.push(`${where}: id "${id}" is used twice`);
  ids.add(id);
  if (!TOOL_NAME.test(String(block['name']))) faults.push(`${where}: bad tool name "${String(block['name'])}"`);
  const input = block['input'];
  if (typeof input !== 'object' || input === null || Array.isArray(input)) faults.push(`${where}: input is no object`);
}

function checkContent(block: Record_, where: string, faults: string[]): void {
  if (block['type'] === 'text' && (typeof block['text'] !== 'string' || block['text'].trim() === '')) faults.push(`${where}: blank text`);
  if (block['type'] !== 'image' && block['type'] !== 'document') return;
  const source = block['source'] as Record_ | undefined;
  const mime = String(source?.['media_type']);
  const known = block['type'] === 'image' ? IMAGE_TYPES.has(mime) : mime === 'application/pdf';
  if (source?.['type'] === 'base64' && (!known || typeof source['data'] !== 'string' || source['data'] === '')) faults.push(`${where}: bad ${block['type']} source (${mime})`);
}

function checkEnd(messages: Checked['messages'], answerLast: boolean, faults: string[]): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return;
  const blocks = blocksOf(last.content) ?? [];
  if (blocks.some(({ type }) => type === 'tool_use')) faults.push('messages: ends with calls that nobody answered');
  const paused = blocks.some((block) => block['type'] === 'server_tool_use');
  if (!answerLast && !paused) faults.push('messages: the last one is the model\'s');
}

function checkHead({ system, tools }: Checked, faults: string[]): void {
  if (Array.isArray(system)) for (const block of system as Record_[]) checkContent(block, 'system', faults);
  if (!Array.isArray(tools)) return;
  const names = (tools as Record_[]).map(({ name }) => String(name));
  for (const name of names) if (!TOOL_NAME.test(name)) faults.push(`tools: bad name "${name}"`);
  if (new Set(names).size !== names.length) faults.push('tools: a name is used twice');
}

function checkReferences({ tools, messages }: Checked, faults: string[]): void {
  const all = Array.isArray(tools) ? tools as Record_[] : [];
  const deferred = new Set(all.filter((tool) => tool['defer_loading'] === true).map(({ name }) => String(name)));
  if (all.length > 0 && deferred.size === all.length) faults.push('tools: all of them are deferred');
  messages.forEach((message, at) => {
    for (const block of blocksOf(message.content) ?? []) {
      const parts = block['type'] === 'tool_result' ? blocksOf(block['content']) ?? [] : [];
      const references = parts.filter(({ type }) => type === 'tool_reference');
      for (const part of references) if (!deferred.has(String(part['tool_name']))) faults.push(`messages.${at}: refers to ${String(part['tool_name'])}, which is no deferred tool`);
      if (references.length > 0 && references.length < parts.length) faults.push(`messages.${at}: references stand beside other content`);
    }
  });
}

function illFormed(value: unknown, where: string, faults: string[]): void {
  if (typeof value === 'string' && !value.isWellFormed()) faults.push(`${where}: a lone surrogate`);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!key.isWellFormed()) faults.push(`${where}: a lone surrogate in a key`);
    illFormed(inner, Array.isArray(value) ? where : `${where}.${key}`, faults);
  }
}

/** A request as one list of blocks with their roles: what may only grow from one request to the next. */
export function flatten(request: Checked): string[] {
  return request.messages.flatMap(({ role, content }) => (blocksOf(content) ?? []).map((block) => JSON.stringify([role, block])));
}
