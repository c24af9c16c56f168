/**
 * Options that a program may be given without a question. `short` is a getopt string: after a letter, `:` takes a text, `@` a
 * path, `?` a text that may be attached. `long` names are separated by blanks, with the same signs after them. What does not
 * stand here is not known, abbreviations included.
 */
export interface OptionTable {
  readonly short?: string;
  readonly long?: string;
  /** `-20` is a number of lines or commits. */
  readonly digits?: boolean;
  /** Options end at the first operand. */
  readonly strict?: boolean;
}

export interface ReadOptions {
  readonly operands: readonly string[];
  /** Values of options that take a path. */
  readonly paths: readonly string[];
  /** Each option that was given, without hyphens and value. */
  readonly used: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  /** The operands that stand after `--`. */
  readonly afterDashes: readonly string[] | undefined;
}

type Arity = '' | ':' | '@' | '?';

const tables = new WeakMap<OptionTable, ReadonlyMap<string, Arity>>();

/** Reads arguments by a table, or says which option is not in it. */
export function readOptions(args: readonly string[], table: OptionTable): ReadOptions | { readonly unknown: string } {
  const known = arities(table);
  const state = { operands: [] as string[], paths: [] as string[], used: new Set<string>(), values: new Map<string, string>() };
  let afterDashes: string[] | undefined;
  const take = (name: string, arity: Arity, value: string): void => {
    state.values.set(name, value);
    if (arity === '@') state.paths.push(value);
  };
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === '--') {
      afterDashes = args.slice(at + 1);
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      if (table.strict === true) return { ...state, operands: args.slice(at), afterDashes };
      state.operands.push(word);
      continue;
    }
    if (table.digits === true && /^-\d+$/.test(word)) continue;
    const read = word.startsWith('--') ? readLong(word, known, args[at + 1]) : readShort(word, known, args[at + 1]);
    if (read === undefined) return { unknown: word };
    for (const name of read.names) state.used.add(name);
    if (read.value !== undefined) take(read.names.at(-1) ?? '', read.arity, read.value);
    if (read.tookNext) at += 1;
  }
  return { ...state, operands: [...state.operands, ...(afterDashes ?? [])], afterDashes };
}

interface ReadWord {
  readonly names: readonly string[];
  readonly arity: Arity;
  readonly value?: string;
  readonly tookNext: boolean;
}

function readLong(word: string, known: ReadonlyMap<string, Arity>, next: string | undefined): ReadWord | undefined {
  const equals = word.indexOf('=');
  const name = equals < 0 ? word.slice(2) : word.slice(2, equals);
  const arity = name.length > 1 ? known.get(name) : undefined;
  if (arity === undefined || (equals >= 0 && arity === '')) return undefined;
  if (equals >= 0) return { names: [name], arity, value: word.slice(equals + 1), tookNext: false };
  if (arity === '' || arity === '?') return { names: [name], arity, tookNext: false };
  return next === undefined ? undefined : { names: [name], arity, value: next, tookNext: true };
}

function readShort(word: string, known: ReadonlyMap<string, Arity>, next: string | undefined): ReadWord | undefined {
  const names: string[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const name = word[at] ?? '';
    const arity = known.get(name);
    if (arity === undefined) return undefined;
    names.push(name);
    if (arity === '') continue;
    const rest = word.slice(at + 1);
    if (rest !== '' || arity === '?') return { names, arity, value: rest, tookNext: false };
    return next === undefined ? undefined : { names, arity, value: next, tookNext: true };
  }
  return { names, arity: '', tookNext: false };
}

function arities(table: OptionTable): ReadonlyMap<string, Arity> {
  const known = tables.get(table);
  if (known !== undefined) return known;
  const made = new Map<string, Arity>();
  for (const [, name, arity] of (table.short ?? '').matchAll(/([^:@?\s])([:@?]?)/g)) made.set(name ?? '', (arity ?? '') as Arity);
  for (const [, name, arity] of (table.long ?? '').matchAll(/([^:@?\s]+)([:@?]?)/g)) made.set(name ?? '', (arity ?? '') as Arity);
  tables.set(table, made);
  return made;
}
