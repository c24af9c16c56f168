import { resolve } from 'node:path';
import { forEachChild, parse, type Assignment, type Command, type ParsedScript, type Redirect, type Redirection, type SyntaxNode, type Word } from 'unbash';
import { messageOf } from '#lib/errors.ts';
import { isPlain, valueOf, type Doubt, type Value } from './words.ts';

/** One word of a command as it will be passed on, and why it may be another. */
export interface Token {
  readonly text: string;
  readonly doubt?: Doubt;
}

export interface SimpleCommand {
  readonly tokens: readonly Token[];
  readonly assignments: readonly { readonly name: string; readonly value: Value | undefined }[];
  readonly redirects: readonly FileRedirect[];
  /** Directories in which it may run. */
  readonly cwds: readonly string[];
  /** Text that it reads from a here-document or here-string. */
  readonly input: readonly string[];
}

export interface FileRedirect {
  readonly access: 'read' | 'write';
  readonly target: Value;
}

/** What the walk finds, in the order in which it stands there. */
export interface Found {
  command(command: SimpleCommand): void;
  /**
   * Something whose doing is not known. `opaque`: part of the text could not be read, so there may be commands in it that
   * nobody has looked at.
   */
  unsure(why: string, opaque: boolean): void;
}

export interface Start {
  readonly home: string;
  readonly cwds: readonly string[];
  /** How many scripts this one stands in. */
  readonly depth: number;
}

/** Scripts inside scripts (substitutions, `sh -c`) that are followed; what lies deeper is opaque. */
const DEEPEST = 24;
/** Directories that are kept apart; beyond, the directory is not known. */
const MOST_CWDS = 16;

/** The shell puts lines that end in a backslash together before it looks for operators: `$` and `(` may be one. */
const CUT_OPERATOR = /\$(?:\\\n)+|[<>&|;](?:\\\n)+[<>&|;(]/;

/** Walks shell text to every simple command, redirect and substitution. Never throws, never recurses deeper than the grammar's own limit. */
export function walkShell(source: string, start: Start, found: Found): void {
  const state: State = { home: start.home, cwds: start.cwds, depth: start.depth, found, documents: [], elsewhere: 0 };
  if (start.depth > DEEPEST) {
    found.unsure('it is nested too deeply to be read', true);
    return;
  }
  if (/(?:^|[^\\])(?:\\\\)*\\$/.test(source)) {
    // Whether the shell drops it or takes it for a part of the last word differs from place to place.
    found.unsure('it ends in a backslash', false);
    walkShell(source.slice(0, -1), start, found);
  }
  if (CUT_OPERATOR.test(source)) found.unsure('an operator in it is cut in two by a line end', true);
  let script: ParsedScript;
  try {
    script = parse(source);
  } catch (error) {
    found.unsure(`it cannot be read as shell text (${messageOf(error)})`, true);
    return;
  }
  visit(script, state);
  if (leavesOut(source, [...script.commands, ...state.documents])) found.unsure('part of it cannot be read as shell text', true);
}

interface State {
  readonly home: string;
  cwds: readonly string[];
  depth: number;
  readonly found: Found;
  /** Where here-documents stand in the source. */
  readonly documents: Range[];
  /** Inside a script whose positions are those of another text. */
  elsewhere: number;
}

interface Range {
  readonly pos: number;
  readonly end: number;
}

/** A tolerant parser may drop what it does not understand: between statements only separators and comments may stand. */
function leavesOut(source: string, ranges: readonly Range[]): boolean {
  let at = 0;
  for (const { pos, end } of ranges.toSorted((a, b) => a.pos - b.pos)) {
    if (pos > at && !BETWEEN.test(source.slice(at, pos))) return true;
    at = Math.max(at, end);
  }
  return !BETWEEN.test(source.slice(at));
}

const BETWEEN = /^(?:[\s;&]|\\\r?\n|#[^\n]*)*$/;

function visit(node: SyntaxNode, state: State): void {
  switch (node.type) {
    case 'Script': return visitScript(node, state);
    case 'Command': return visitCommand(node, state);
    case 'HereDoc': if (state.elsewhere === 0) state.documents.push(node.body, ...(node.closing === undefined ? [] : [node.closing])); break;
    case 'Word': if (isPlain(node)) return; break;
    case 'Redirected': {
      forEachChild(node, (child) => { visit(child, state); });
      const { redirects, input } = redirectsOf(node.redirects, state);
      if (redirects.length > 0 || input.length > 0) state.found.command({ tokens: [], assignments: [], redirects, cwds: state.cwds, input });
      return;
    }
    case 'Function': state.found.unsure('it defines a function', false); break;
    case 'Coproc': state.found.unsure('it starts a coprocess', false); break;
    case 'ArithmeticCommand':
    case 'ArithmeticFor': state.found.unsure('arithmetic may run what stands in a variable', false); break;
    case 'ArithmeticExpansion': if (!/^[$()[\]\d\s+\-*/%<>=!&|^~?:]*$/.test(node.text)) state.found.unsure(`\`${node.text}\` may run what stands in a variable`, false); break;
    case 'ProcessSubstitution': state.found.unsure(`\`${node.text}\` runs a command on the side`, false); break;
    case 'ParameterExpansion':
      if (node.prefix === '!' || node.index !== undefined || /^(?:Transform|Unknown|Names|Slice)$/.test(node.operation?.type ?? '') || (node.operation?.type === 'Default' && node.operation.operator.includes('='))) state.found.unsure(`\`${node.text}\` may run what stands in a variable`, false);
      break;
    case 'Select': state.found.unsure('it waits for a choice', false); break;
    case 'For': if (!/^[a-z][a-z0-9]*$/.test(node.name.text)) state.found.unsure(`the loop sets ${node.name.text}, which may mean something to a program`, false); break;
    case 'TestUnary': if (node.operator === '-v' || node.operator === '-R') state.found.unsure('`[[ -v … ]]` may run what stands in a subscript', false); break;
    case 'TestBinary': if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) state.found.unsure('the comparison of numbers may run what stands in them', false); break;
    case 'TestCommand': testCommand(node, state); break;
    default: break;
  }
  forEachChild(node, (child) => { visit(child, state); });
}

function visitScript(script: ParsedScript, state: State): void {
  if (script.errors !== undefined && script.errors.length > 0) state.found.unsure(`it cannot be read as shell text (${script.errors[0]?.message ?? 'error'})`, true);
  state.depth += 1;
  state.elsewhere += script.source === undefined ? 0 : 1;
  if (state.depth > DEEPEST) state.found.unsure('it is nested too deeply to be read', true);
  else forEachChild(script, (child) => { visit(child, state); });
  state.elsewhere -= script.source === undefined ? 0 : 1;
  state.depth -= 1;
}

function visitCommand(node: Command, state: State): void {
  forEachChild(node, (child) => { visit(child, state); });
  const words: Word[] = [];
  if (node.name !== undefined) words.push(node.name);
  for (const part of node.args) if (part.type === 'Word') words.push(part);
  const assignments: Assignment[] = node.prefix.filter((part) => part.type === 'Assignment');
  const { redirects, input } = redirectsOf(node.redirects, state);
  const tokens = [...words.flatMap((word) => tokensOf(word, state)), ...node.args.flatMap((part) => (part.type === 'Assignment' ? declared(part, state) : []))];
  state.found.command({
    tokens,
    assignments: assignments.map(({ name, value, index, append }) => ({ name, value: value.type === 'ArrayValue' || index !== undefined || append === true ? undefined : valueOf(value, state) })),
    redirects,
    cwds: state.cwds,
    input,
  });
  follow(tokens, state);
}

/** `alias a=…`, `export A=…`: what follows the equals sign is a word of the command. */
function declared(part: Assignment, state: State): readonly Token[] {
  if (part.value.type === 'ArrayValue') return [{ text: part.text, doubt: { kind: 'value', why: `the value of \`${part.name}\` is not known` } }];
  return tokensOf(part.value, state).map((token) => ({ ...token, text: `${part.name}=${token.text}` }));
}

function tokensOf(word: Word, state: State): readonly Token[] {
  const { texts, doubt } = valueOf(word, state);
  return texts.map((text) => (doubt === undefined ? { text } : { text, doubt }));
}

/** The files that `[[ … ]]` looks at, as if they were those of `test`. */
function testCommand(node: SyntaxNode, state: State): void {
  const tokens: Token[] = [{ text: 'test' }];
  const collect = (inner: SyntaxNode): void => {
    if (inner.type === 'Word') tokens.push(...tokensOf(inner, state));
    else if (inner.type === 'TestUnary') tokens.push({ text: inner.operator }, ...tokensOf(inner.operand, state));
    else if (inner.type === 'TestBinary') tokens.push(...tokensOf(inner.left, state), { text: inner.operator }, { text: inner.right.value });
    else forEachChild(inner, collect);
  };
  forEachChild(node, collect);
  state.found.command({ tokens, assignments: [], redirects: [], cwds: state.cwds, input: [] });
}

function redirectsOf(all: readonly Redirection[], state: State): { readonly redirects: readonly FileRedirect[]; readonly input: readonly string[] } {
  const redirects: FileRedirect[] = [];
  const input: string[] = [];
  for (const one of all) {
    if (one.type === 'HereDoc') input.push(one.body.text);
    else if (one.type === 'HereString') input.push(...(one.target === undefined ? [] : valueOf(one.target, state).texts));
    else redirects.push(...fileRedirect(one, state));
    const doubt = one.type === 'HereDoc' ? one.body.parts?.find((part) => part.type !== 'Literal' && part.type !== 'CommandExpansion') : undefined;
    if (doubt !== undefined) state.found.unsure(`the value of \`${doubt.text}\` is not known`, false);
    const told = one.type === 'HereString' && one.target !== undefined ? valueOf(one.target, state).doubt : undefined;
    if (told !== undefined && told.kind === 'value') state.found.unsure(told.why, false);
  }
  return { redirects, input };
}

/** `2>&1` and `>&-` open nothing; `>&file` does. */
function fileRedirect(redirect: Redirect, state: State): readonly FileRedirect[] {
  const { operator, target: word } = redirect;
  if (word === undefined) return [];
  const target = valueOf(word, state);
  if ((operator === '>&' || operator === '<&') && target.doubt === undefined && target.texts.every((text) => /^(?:\d+-?|-)$/.test(text))) return [];
  const access = operator === '<' || operator === '<&' ? 'read' : 'write';
  return operator === '<>' ? [{ access: 'read', target }, { access: 'write', target }] : [{ access, target }];
}

/**
 * After `cd` the rest may run in the new directory, or in the old one if it failed or ran in a subshell: both are kept. What
 * holds in all of them holds.
 */
function follow(tokens: readonly Token[], state: State): void {
  const texts = tokens.map(({ text }) => text);
  while (texts[0] === 'command' || texts[0] === 'builtin') texts.shift();
  const [program, ...args] = texts;
  if (program !== 'cd' && program !== 'pushd' && program !== 'popd') return;
  const operands = args.filter((arg) => arg === '-' || !arg.startsWith('-'));
  const target = operands[0] ?? (program === 'cd' ? state.home : '-');
  if (program === 'popd' || target === '-' || /^[+-]\d/.test(target) || tokens.some(({ doubt }) => doubt !== undefined)) {
    state.found.unsure('it is not known in which folder the rest runs', false);
    return;
  }
  const cwds = [...new Set([...state.cwds, ...state.cwds.map((cwd) => resolve(cwd, target))])];
  if (cwds.length > MOST_CWDS) state.found.unsure('it is not known in which folder the rest runs', false);
  else state.cwds = cwds;
}
