import { sha256 } from '#lib/hash.ts';
import { bare, blocksOf, invalid, list, obj, type Obj, type Refusal, text } from './shape.ts';

/** What a thinking block is bound to: the model, its place among the thinking of the conversation, all that stands before it, and itself. */
interface Bond {
  readonly model: string;
  readonly ordinal: number;
  readonly before: string;
  readonly own: string;
}

/** The conversation up to a point, as far as thinking is bound to it. `next` is the ordinal of the next thinking block. */
export interface Prefix {
  readonly hash: string;
  readonly next: number;
}

/** The prefix of the next reply to this request. */
export function prefixOf(body: Obj): Prefix {
  let prefix = startOf(body);
  for (const { role, block } of blocksIn(body)) prefix = extend(prefix, role, block);
  return prefix;
}

/** The prefix one block further on. Thinking counts; its bytes are bound by its own signature. */
export function extend(prefix: Prefix, role: string, block: Obj): Prefix {
  if (isThinking(block)) return { hash: prefix.hash, next: (bondOf(block)?.ordinal ?? prefix.next) + 1 };
  if (block['type'] === 'text' && text(block['text']).trim() === '') return prefix;
  return { hash: sha256(`${prefix.hash}\n${role}\n${JSON.stringify(bare(block))}`), next: prefix.next };
}

/** The signature that the server puts on a thinking block of its own. */
export function sign(model: string, prefix: Prefix, block: Obj): string {
  return Buffer.from(['bond', model, prefix.next, prefix.hash, ownHash(block)].join(' ')).toString('base64');
}

/**
 * Refuses a request in which a thinking block that this server signed no longer stands where it was written. Thinking may be
 * left out from the front of the conversation, not from its middle; blocks of another model are passed over, as the API drops them.
 */
export function checkBonds(body: Obj, model: string): Refusal | undefined {
  let prefix = startOf(body);
  let last: number | undefined;
  const latest = list(body['messages']).findLastIndex((message) => obj(message)['role'] === 'assistant');
  for (const { message, at, role, block } of blocksIn(body)) {
    const bond = isThinking(block) ? bondOf(block) : undefined;
    if (bond?.model === model) {
      const where = `messages.${message}.content.${at}`;
      if (bond.own !== ownHash(block)) return message === latest ? modified(where) : broken(where);
      if (bond.before !== prefix.hash || (last !== undefined && bond.ordinal !== last + 1)) return broken(where);
    }
    prefix = extend(prefix, role, block);
    if (isThinking(block)) last = prefix.next - 1;
  }
  return undefined;
}

function modified(where: string): Refusal {
  return invalid(`${where}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`);
}

function broken(where: string): Refusal {
  return invalid(`${where}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation: its system prompt, tools or earlier messages have changed.`);
}

function bondOf(block: Obj): Bond | undefined {
  const signature = text(block['type'] === 'redacted_thinking' ? block['data'] : block['signature']);
  const [mark, model, ordinal, before, own] = Buffer.from(signature, 'base64').toString('utf8').split(' ');
  if (mark !== 'bond' || model === undefined || before === undefined || own === undefined) return undefined;
  return { model, ordinal: Number(ordinal), before, own };
}

/** Redacted thinking carries its bond in its data, which cannot be part of its own hash. */
function ownHash(block: Obj): string {
  return sha256(block['type'] === 'redacted_thinking' ? 'redacted' : text(block['thinking']));
}

function isThinking(block: Obj): boolean {
  return block['type'] === 'thinking' || block['type'] === 'redacted_thinking';
}

function startOf(body: Obj): Prefix {
  const tools = list(body['tools']).map(obj).filter((tool) => tool['defer_loading'] !== true).map(bare);
  return { hash: sha256(JSON.stringify([blocksOf(body['system']).map(bare), tools])), next: 0 };
}

/** A reference stands for the tool that it names: another definition would be another conversation. */
function definedIn(block: Obj, tools: readonly Obj[]): Obj {
  if (block['type'] !== 'tool_result' || !Array.isArray(block['content'])) return block;
  return { ...block, content: list(block['content']).map(obj).map((part) => (part['type'] === 'tool_reference' ? { ...part, tool: tools.find(({ name }) => name === part['tool_name']) } : part)) };
}

function* blocksIn(body: Obj): Generator<{ readonly message: number; readonly at: number; readonly role: string; readonly block: Obj }> {
  const deferred = list(body['tools']).map(obj).filter((tool) => tool['defer_loading'] === true);
  for (const [message, entry] of list(body['messages']).entries()) {
    const { role, content } = obj(entry);
    for (const [at, block] of blocksOf(content).entries()) yield { message, at, role: text(role), block: definedIn(block, deferred) };
  }
}
