import type { ElicitResult } from '@modelcontextprotocol/client';
import type { Answer, ChoiceQuestion, Question } from '#domain/ports.ts';
import { oneLine } from '#lib/names.ts';
import { cutToLength } from '#lib/text.ts';
import { recordOf } from './lists.ts';

export interface ElicitDoors {
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer | undefined>;
  /** For the user's eyes: one line. */
  readonly notice: (text: string) => void;
}

type Value = string | number | boolean | string[];

interface Field {
  readonly name: string;
  readonly title: string;
  readonly what: string;
  readonly required: boolean;
  readonly type: 'text' | 'number' | 'integer' | 'boolean' | 'one' | 'some';
  /** Values with how they are shown. */
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly fallback: Value | undefined;
  readonly schema: Readonly<Record<string, unknown>>;
}

const DECLINED: ElicitResult = { action: 'decline' };
const CANCELLED: ElicitResult = { action: 'cancel' };
const MOST_FIELDS = 12;
const MOST_OPTIONS = 50;
const LONGEST_MESSAGE = 600;
const LEAVE_OUT = 'leave it out';
const MOST_ROUNDS = 3;

/** What a server wants to know of the person. Without one it is declined; what it says is shown as its own words. */
export async function elicit(server: string, params: unknown, doors: ElicitDoors, signal: AbortSignal): Promise<ElicitResult> {
  const fields = recordOf(params);
  const message = typeof fields['message'] === 'string' ? cutToLength(fields['message'].trim(), LONGEST_MESSAGE) : '';
  return fields['mode'] === 'url' ? await openAddress(server, message, fields['url'], doors, signal) : await fillForm(server, message, fieldsOf(fields['requestedSchema']), doors, signal);
}

async function openAddress(server: string, message: string, address: unknown, { ask, notice }: ElicitDoors, signal: AbortSignal): Promise<ElicitResult> {
  const url = addressIn(address);
  if (url === undefined) return DECLINED;
  const answer = await ask({ kind: 'confirm', title: `The MCP server ${oneLine(server)} asks you to open an address of ${url.host} in your browser. Will you?`, lines: [...(message === '' ? [] : [`It says: ${message}`]), url.href] }, signal);
  if (answer?.kind !== 'yes') return DECLINED;
  notice(`Open this address in your browser (the MCP server ${oneLine(server)} waits for it): ${url.href}`);
  return { action: 'accept' };
}

async function fillForm(server: string, message: string, fields: readonly Field[], { ask }: ElicitDoors, signal: AbortSignal): Promise<ElicitResult> {
  const who = `The MCP server ${oneLine(server)}`;
  if (fields.length === 0) {
    const answer = await ask({ kind: 'confirm', title: `${who} asks for a yes or no.`, lines: [message === '' ? 'It does not say what for.' : `It says: ${message}`] }, signal);
    return answer === undefined ? DECLINED : answer.kind === 'yes' ? { action: 'accept', content: {} } : DECLINED;
  }
  const content: Record<string, Value> = {};
  const wrong = new Map<string, string>();
  let open = fields;
  for (let round = 0; round < MOST_ROUNDS && open.length > 0; round += 1) {
    const questions = open.map((field, index) => questionOf(field, index === 0 ? message : '', wrong.get(field.name)));
    const answer = await ask({ kind: 'choices', questions, who }, signal);
    if (answer === undefined) return DECLINED;
    if (answer.kind !== 'chosen') return signal.aborted ? CANCELLED : DECLINED;
    wrong.clear();
    for (const [index, field] of open.entries()) {
      const read = valueOf(field, answer.answers[index] ?? []);
      if ('problem' in read) wrong.set(field.name, read.problem);
      else if (read.value !== undefined) content[field.name] = read.value;
    }
    open = open.filter(({ name }) => wrong.has(name));
  }
  return open.length === 0 ? { action: 'accept', content } : CANCELLED;
}

/** Why a content that nobody filled in here cannot be an answer, in a few words; undefined where it can. An address must be one that may be opened. */
export function misfit(params: unknown, content: Readonly<Record<string, unknown>>): string | undefined {
  const { mode, url, requestedSchema } = recordOf(params);
  if (mode === 'url') return addressIn(url) === undefined ? 'its address may not be opened' : undefined;
  for (const field of fieldsOf(requestedSchema)) {
    const value = content[field.name];
    if (value === undefined && !field.required) continue;
    const fits = typeof value === 'number' ? field.type === 'number' || field.type === 'integer' : typeof value === 'boolean' ? field.type === 'boolean' : Array.isArray(value) ? field.type === 'some' : typeof value === 'string' && (field.type === 'text' || field.type === 'one');
    const read = fits ? valueOf(field, (Array.isArray(value) ? value : [value]).map(String)) : { problem: value === undefined ? 'it wants an answer' : 'it is of another type' };
    if ('problem' in read) return `${oneLine(field.name, 40)}: ${read.problem}`;
  }
  return undefined;
}

function addressIn(address: unknown): URL | undefined {
  if (typeof address !== 'string' || address.length > 2048 || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  const local = url.protocol === 'http:' && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  return (url.protocol !== 'https:' && !local) || url.username !== '' || url.password !== '' ? undefined : url;
}

function fieldsOf(schema: unknown): readonly Field[] {
  const { properties, required } = recordOf(schema);
  const wanted = Array.isArray(required) ? required : [];
  return Object.entries(recordOf(properties)).slice(0, MOST_FIELDS).map(([name, given]) => {
    const field = recordOf(given);
    const text = (key: string): string => (typeof field[key] === 'string' ? field[key] : '');
    const { type, options } = kindOf(field);
    return { name, title: text('title') || name, what: text('description'), required: wanted.includes(name), type, options, fallback: fallbackOf(field['default']), schema: field };
  });
}

function fallbackOf(value: unknown): Value | undefined {
  if (Array.isArray(value)) return value.filter((one): one is string => typeof one === 'string');
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

function kindOf(field: Readonly<Record<string, unknown>>): Pick<Field, 'type' | 'options'> {
  if (field['type'] === 'array') return { type: 'some', options: optionsOf(recordOf(field['items'])) };
  const options = optionsOf(field);
  if (options.length > 0) return { type: 'one', options };
  if (field['type'] === 'boolean') return { type: 'boolean', options: [] };
  return { type: field['type'] === 'number' || field['type'] === 'integer' ? field['type'] : 'text', options: [] };
}

function optionsOf(field: Readonly<Record<string, unknown>>): Field['options'] {
  const titled = [field['oneOf'], field['anyOf']].find((list) => Array.isArray(list));
  const names = Array.isArray(field['enumNames']) ? field['enumNames'] : [];
  const found = titled !== undefined
    ? (titled as readonly unknown[]).map(recordOf).flatMap((one) => (typeof one['const'] === 'string' ? [{ value: one['const'], label: typeof one['title'] === 'string' ? one['title'] : one['const'] }] : []))
    : (Array.isArray(field['enum']) ? field['enum'] : []).flatMap((value: unknown, at: number) => (typeof value === 'string' ? [{ value, label: typeof names[at] === 'string' ? names[at] : value }] : []));
  return found.slice(0, MOST_OPTIONS);
}

function questionOf(field: Field, message: string, problem: string | undefined): ChoiceQuestion {
  const said = [...(message === '' ? [] : [message]), field.what === '' ? field.title : `${field.title}: ${cutToLength(field.what, 300)}`, ...(problem === undefined ? [] : [`(${problem})`])];
  const options = field.type === 'boolean' ? ['yes', 'no'] : field.options.map(({ label }) => label);
  const more = [
    ...(options.length === 0 && field.fallback !== undefined ? [String(field.fallback)] : []),
    ...(field.required ? [] : [LEAVE_OUT]),
  ];
  return { header: cutToLength(field.title, 40), question: said.join('\n'), several: field.type === 'some', options: [...options, ...more].map((label) => ({ label: cutToLength(label, 80), description: '' })) };
}

function valueOf(field: Field, answers: readonly string[]): { readonly value: Value | undefined } | { readonly problem: string } {
  const chosen = answers.filter((answer) => answer !== LEAVE_OUT || field.required);
  const [first] = chosen;
  if (first === undefined) return field.required ? { problem: 'it wants an answer' } : { value: undefined };
  const matching = (text: string): string | undefined => field.options.find(({ label, value }) => cutToLength(label, 80) === text || value === text)?.value;
  switch (field.type) {
    case 'boolean': return /^(?:y|yes|true)$/i.test(first) ? { value: true } : /^(?:n|no|false)$/i.test(first) ? { value: false } : { problem: 'yes or no' };
    case 'one': {
      const value = matching(first);
      return value === undefined ? { problem: 'one of the answers that it offers' } : { value };
    }
    case 'some': {
      const values = chosen.map(matching);
      return values.includes(undefined) ? { problem: 'answers that it offers' } : { value: values.filter((value) => value !== undefined) };
    }
    case 'number':
    case 'integer': return numberIn(field, first);
    case 'text': return textIn(field, first);
  }
}

function numberIn({ type, schema: { minimum, maximum } }: Field, text: string): { readonly value: number } | { readonly problem: string } {
  const value = Number(text.trim());
  if (text.trim() === '' || !Number.isFinite(value) || (type === 'integer' && !Number.isInteger(value))) return { problem: type === 'integer' ? 'a whole number' : 'a number' };
  if (typeof minimum === 'number' && value < minimum) return { problem: `at least ${minimum}` };
  return typeof maximum === 'number' && value > maximum ? { problem: `at most ${maximum}` } : { value };
}

const FORMATS: Readonly<Record<string, { readonly fits: RegExp; readonly what: string }>> = {
  email: { fits: /^[^\s@]+@[^\s@]+$/, what: 'an e-mail address' },
  uri: { fits: /^[a-z][a-z0-9+.-]*:\S+$/i, what: 'an address, such as https://example.com' },
  date: { fits: /^\d{4}-\d{2}-\d{2}$/, what: 'a date, such as 2026-01-31' },
  'date-time': { fits: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/, what: 'a time, such as 2026-01-31T12:00:00Z' },
};

function textIn({ schema: { minLength, maxLength, format } }: Field, text: string): { readonly value: string } | { readonly problem: string } {
  if (typeof minLength === 'number' && text.length < minLength) return { problem: `at least ${minLength} characters` };
  if (typeof maxLength === 'number' && text.length > maxLength) return { problem: `at most ${maxLength} characters` };
  const wanted = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return wanted === undefined || wanted.fits.test(text) ? { value: text } : { problem: wanted.what };
}
