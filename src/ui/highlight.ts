import type { HLJSApi } from 'highlight.js';
import type { Role, Theme } from './theme.ts';

/** Code beyond this many lines stays plain: colouring it would hold up a frame. */
const MOST_LINES = 2000;
const REMEMBERED = 200;

/** Colours code of a language line for line: as many lines come back as went in. Plain until its grammars are loaded. */
export interface Highlighter {
  (code: string, language: string | undefined, theme: Theme): string;
  /** Loads the grammars, once. Resolves when colours are there. */
  load(): Promise<void>;
}

const ROLES: readonly (readonly [RegExp, Role])[] = [
  [/^(comment|quote|doctag)/, 'comment'],
  [/^(keyword|selector-tag|operator|tag|section)/, 'keyword'],
  [/^(string|regexp|char|addition|code)/, 'string'],
  [/^(number|literal|symbol|bullet|link)/, 'literal'],
  [/^(title|function|attr|property|name|selector)/, 'name'],
  [/^(type|class|built_in|builtin|params-type)/, 'type'],
  [/^(meta|deletion)/, 'meta'],
];

function roleOf(scope: string): Role | undefined {
  return ROLES.find(([pattern]) => pattern.test(scope))?.[1];
}

/** A node of highlight.js's token tree: text, or a scope with children. */
type Node = string | { readonly scope?: string; readonly children: readonly Node[] };

/** Paints line by line, so that no colour runs over a line's end. */
function paint(node: Node, role: Role | undefined, theme: Theme): string {
  if (typeof node !== 'string') {
    const own = node.scope === undefined ? role : node.scope === 'subst' ? undefined : roleOf(node.scope) ?? role;
    return node.children.map((child) => paint(child, own, theme)).join('');
  }
  return role === undefined ? node : node.split('\n').map((line) => theme(role, line)).join('\n');
}

/** A highlighter with a memory of its own. */
export function createHighlighter(): Highlighter {
  let hljs: HLJSApi | undefined;
  let loading: Promise<void> | undefined;
  const remembered = new Map<string, Node>();

  const treeOf = (api: HLJSApi, code: string, language: string): Node => {
    const key = `${language}\n${code}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const { _emitter } = api.highlight(code, { language, ignoreIllegals: true });
    const tree = (_emitter as unknown as { readonly rootNode: Node }).rootNode;
    if (remembered.size >= REMEMBERED) remembered.delete(remembered.keys().next().value ?? '');
    remembered.set(key, tree);
    return tree;
  };

  const highlight = (code: string, language: string | undefined, theme: Theme): string => {
    const name = language?.toLowerCase();
    if (hljs === undefined || name === undefined || hljs.getLanguage(name) === undefined) return code;
    if (code.split('\n', MOST_LINES + 1).length > MOST_LINES) return code;
    return paint(treeOf(hljs, code, name), undefined, theme);
  };
  const load = (): Promise<void> => {
    loading ??= import('./grammars.ts').then((grammars) => { hljs = grammars.createGrammars(); });
    return loading;
  };
  return Object.assign(highlight, { load });
}
