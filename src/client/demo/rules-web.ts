import type { Rule, Turn } from './rule.ts';
import type { View } from './view.ts';
import { fenced, lastOf, linesOf, someOf, sorry } from './words.ts';

const FETCH = /^(?:fetch|open|get|read|load|show|look at)(?: me)?(?: (?:the|this))?(?: (?:page|url|site|website|web page|address))?:? <?(https?:\/\/[^\s<>]+?)>?[.!?]?$/i;
const PAGE = /^Page "[^\n]*" \([^\n]*\), ([^\n]+)\n<(document-[a-z0-9-]+)>\n([\s\S]*)\n<\/\2>/;
const SHOWN_LINES = 20;

/** Requests that need the web. */
export const webRules: readonly Rule[] = [
  { id: 'fetch', example: 'Fetch https://example.com', tools: ['ToolSearch', 'WebFetch'], needs: 'a network', reply: fetchPage },
];

function fetchPage(view: View): Turn | undefined {
  const url = FETCH.exec(view.ask)?.[1];
  if (url === undefined) return undefined;
  const done = lastOf(view, 'WebFetch');
  if (done === undefined) return { call: { tool: 'WebFetch', input: { url } } };
  if (done.failed) return { say: sorry(`fetch ${url}`, done) };
  const [, size = '', , body = ''] = PAGE.exec(done.text) ?? [];
  if (size === '') return { say: done.text };
  return { say: [`${url} has ${size}. It begins:`, '', fenced(someOf(linesOf(body), SHOWN_LINES), 'markdown')].join('\n') };
}
