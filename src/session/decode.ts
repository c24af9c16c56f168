import type { Json } from '#lib/brand.ts';
import { isTooDeep } from '#lib/json-depth.ts';
import { type Entry, PERMISSION_MODES } from '#domain/entry.ts';

type Fields = Readonly<Record<string, Json>>;

const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: Json | undefined): boolean => typeof value === 'string';
const isList = (value: Json | undefined, each: (item: Json) => boolean): boolean => Array.isArray(value) && value.every(each);
const isPart = (part: Json): boolean => isFields(part) && (part['type'] === 'text' ? isText(part['text'])
  : part['type'] === 'media' && isText(part['mime']) && isFields(part['blob']) && isText(part['blob']['hash']));
/** What a reply is made of: what these four kinds must hold, others go back to the server as they came. */
function isReplyBlock(block: Json): boolean {
  if (!isFields(block)) return false;
  switch (block['type']) {
    case 'text': return isText(block['text']);
    case 'thinking': return isText(block['thinking']);
    case 'redacted_thinking': return isText(block['data']);
    case 'tool_use': return isText(block['id']) && isText(block['name']) && block['input'] !== undefined;
    default: return isText(block['type']);
  }
}
const isTextBlock = (block: Json): boolean => isFields(block) && block['type'] === 'text' && isText(block['text']);
const isUsage = (usage: Json | undefined): boolean => isFields(usage) && ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'].every((key) => typeof usage[key] === 'number');
const isTouch = (touch: Json): boolean => isFields(touch) && isText(touch['path']) && isText(touch['hash']) && isText(touch['how']);
const isTextList = (value: Json | undefined): boolean => isList(value, isText);
const isTool = (tool: Json): boolean => isFields(tool) && isText(tool['name']);
const isCard = (card: Json | undefined): boolean => isFields(card) && isText(card['title']) && isOptional(card['detail'], isText) && isList(card['body'], isCardBlock);
const isOptional = (value: Json | undefined, fits: (value: Json) => boolean): boolean => value === undefined || fits(value);

function isCardBlock(block: Json): boolean {
  if (!isFields(block)) return false;
  switch (block['type']) {
    case 'text':
    case 'markdown':
    case 'code': return isText(block['text']);
    case 'diff': return isText(block['patch']);
    case 'list': return isTextList(block['items']);
    case 'table': return isTextList(block['head']) && isList(block['rows'], isTextList) && isOptional(block['align'], isTextList);
    default: return false;
  }
}

function isResult(result: Json | undefined): boolean {
  return isFields(result) && isText(result['kind']) && isList(result['content'], isPart) && isCard(result['card'])
    && isOptional(result['files'], (files) => isList(files, isTouch)) && isOptional(result['loads'], (loads) => isList(loads, isTool));
}

const isOneOf = (value: Json | undefined, words: readonly string[]): boolean => words.some((word) => word === value);

/** Files are named after a task's id. */
function isTask(task: Json | undefined): boolean {
  return isFields(task) && typeof task['id'] === 'string' && /^[\w-]{1,64}$/.test(task['id']) && isText(task['title']) && isText(task['file'])
    && isOneOf(task['kind'], ['shell', 'agent']) && isOneOf(task['state'], ['running', 'done', 'failed', 'stopped', 'lost'])
    && isOptional(task['exitCode'], (code) => typeof code === 'number') && ['name', 'agent', 'result'].every((key) => isOptional(task[key], isText));
}

const isSkill = (skill: Json): boolean => isFields(skill) && isText(skill['name']) && isOptional(skill['mentions'], isText);

function isTarget(target: Json | undefined): boolean {
  if (!isFields(target)) return false;
  if (target['type'] === 'glob') return isText(target['pattern']);
  return target['type'] === 'command' ? isText(target['command']) : isText(target['path']);
}

function isAttachment(attachment: Json | undefined): boolean {
  if (!isFields(attachment) || !isText(attachment['id'])) return false;
  switch (attachment['kind']) {
    case 'file': return isTarget(attachment['target']) && isText(attachment['form']);
    case 'memory': return isText(attachment['text']) && isText(attachment['slug']);
    case 'text': return isText(attachment['text']) && isText(attachment['as']);
    case 'todo': return isList(attachment['items'], (item) => isFields(item) && typeof item['id'] === 'number' && isText(item['text']) && isText(item['state']));
    default: return false;
  }
}

/** What each type of entry must hold at least, so that no fold over it can fail. */
const SHAPES: Readonly<Record<Entry['type'], (entry: Fields) => boolean>> = {
  head: (e) => isList(e['system'], isTextBlock) && isList(e['tools'], isTool) && isText(e['model']),
  prompt: (e) => isText(e['text']) && isOptional(e['media'], (media) => isList(media, isPart)) && isOptional(e['shown'], isText) && isOptional(e['skill'], isSkill) && isOptional(e['mentions'], isText),
  hookContext: (e) => isText(e['event']) && isText(e['hook']) && isText(e['text']),
  queued: (e) => isText(e['text']),
  unqueued: (e) => isText(e['target']),
  reminder: (e) => isText(e['source']) && isText(e['form']) && isList(e['parts'], isPart) && e['snapshot'] !== undefined
    && (e['moment'] === 'prompt' || e['moment'] === 'step') && isOptional(e['files'], (files) => isList(files, isTouch))
    && isOptional(e['userTexts'], (texts) => isList(texts, isText)),
  assistant: (e) => isList(e['content'], isReplyBlock) && isUsage(e['usage']) && isText(e['stop']) && isText(e['model']),
  toolResult: (e) => isText(e['callId']) && isText(e['tool']) && isResult(e['result']),
  attach: (e) => isAttachment(e['attachment']),
  detach: (e) => isText(e['attachmentId']),
  compaction: (e) => isText(e['summary']) && typeof e['tokensBefore'] === 'number' && isUsage(e['usage']) && isText(e['model']),
  exclude: (e) => isText(e['target']) && (e['what'] === 'entry' || e['what'] === 'media'),
  restore: (e) => isText(e['target']),
  rewind: (e) => isText(e['to']),
  strip: (e) => isText(e['reason']),
  mode: (e) => PERMISSION_MODES.some((mode) => mode === e['mode']),
  option: (e) => isText(e['name']) && e['value'] !== undefined,
  spent: (e) => isText(e['what']) && isText(e['model']) && isUsage(e['usage']) && typeof e['requests'] === 'number',
  task: (e) => isTask(e['task']),
  taskRead: (e) => isText(e['task']) && typeof e['upTo'] === 'number',
  plan: (e) => isText(e['file']) && isText(e['text']) && isOneOf(e['state'], ['proposed', 'approved', 'rejected']),
  cwd: (e) => isText(e['path']),
  shell: (e) => isText(e['command']) && isText(e['output']),
  command: (e) => isText(e['line']) && isCard(e['card']),
  notice: (e) => isText(e['text']),
};

/** One line of a log as an entry, or undefined when it is none: damaged, of another shape, or of a type that we do not know. */
export function decodeEntry(line: string): Entry | undefined {
  if (isTooDeep(line)) return undefined;
  let value: Json;
  try {
    value = JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
  if (!isFields(value) || !isText(value['id']) || !isText(value['at'])) return undefined;
  const type = value['type'];
  if (typeof type !== 'string' || !Object.hasOwn(SHAPES, type)) return undefined;
  return SHAPES[type as Entry['type']](value) ? (value as unknown as Entry) : undefined;
}
