/** JSON as it came over the wire, looked at with care. */
export type Obj = Readonly<Record<string, unknown>>;

/** What the API answers instead of a reply. */
export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly details?: Obj;
}

export function invalid(message: string, details?: Obj): Refusal {
  return { status: 400, type: 'invalid_request_error', message, ...(details === undefined ? {} : { details }) };
}

export function isObj(value: unknown): value is Obj {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function obj(value: unknown): Obj {
  return isObj(value) ? value : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Content as blocks: a plain string is one text block. */
export function blocksOf(content: unknown): readonly Obj[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : list(content).map(obj);
}

/** A block as the conversation knows it: without its cache mark. */
export function bare(block: Obj): Obj {
  const { cache_control: _, ...rest } = block;
  return rest;
}
