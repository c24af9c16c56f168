import { oneLine } from '#lib/names.ts';
import type { Rule, Turn } from './rule.ts';
import type { View } from './view.ts';
import { lastOf, linesOf, readText, sorry } from './words.ts';

/** What `/init` sends, or a wish in plain words. */
const INIT = /^(?:Look at this project and write `AGENTS\.md`|(?:write|create|make) (?:an |the )?`?AGENTS\.md`? for (?:this|the|my) project\b)/i;
const MANIFEST = 'package.json';
const MOST = 20;

/** Instructions for a project, as far as rules can know them: its manifest and what lies at its top. */
export const initRule: Rule = { id: 'init', example: 'Write AGENTS.md for this project', tools: ['Glob', 'Read', 'Write'], anyLength: true, reply: init };

function init(view: View): Turn | undefined {
  if (!INIT.test(view.ask)) return undefined;
  const listed = lastOf(view, 'Glob');
  if (listed === undefined) return { call: { tool: 'Glob', input: { pattern: '*' } } };
  if (listed.failed) return { say: sorry('look at the project', listed) };
  const names = linesOf(listed.text).filter((line) => !line.startsWith('[') && line !== 'No files found.').sort();
  const there = names.find((name) => /^(?:AGENTS|CLAUDE)\.md$/i.test(name));
  if (there !== undefined) return { say: `There is ${there} already. I am the demo model, a set of rules: I cannot judge what is missing in it. With a key (/login) a real model improves it; /memory edit opens it in your editor.` };
  const read = lastOf(view, 'Read');
  if (read === undefined && names.includes(MANIFEST)) return { call: { tool: 'Read', input: { file_path: MANIFEST } } };
  const written = lastOf(view, 'Write');
  if (written?.failed === true) return { say: sorry('write AGENTS.md', written) };
  if (written !== undefined) return { say: 'I wrote AGENTS.md: the scripts of the manifest and the files at the top. I am the demo model, a set of rules: how the parts fit together is for you or a real model (/login) to add. /memory edit opens it.' };
  return { call: { tool: 'Write', input: { file_path: 'AGENTS.md', content: textOf(read === undefined || read.failed ? '' : readText(read.text).body, names) } } };
}

function textOf(manifest: string, names: readonly string[]): string {
  const { name, description, scripts } = fieldsOf(manifest);
  const some = Object.entries(scripts).slice(0, MOST).map(([script, command]) => `- \`npm run ${oneLine(script)}\`: ${oneLine(command)}`);
  return [
    `# ${oneLine(name)}`, ...(description === '' ? [] : ['', oneLine(description, 500)]),
    ...(some.length === 0 ? [] : ['', '## Commands', '', ...some]),
    ...(names.length === 0 ? [] : ['', '## At the top', '', ...names.slice(0, MOST).map((file) => `- ${file}`)]), '',
  ].join('\n');
}

interface Fields { readonly name: string; readonly description: string; readonly scripts: Readonly<Record<string, string>> }

function fieldsOf(manifest: string): Fields {
  const fields = objectIn(parsed(manifest));
  const text = (key: string): string => { const value = fields[key]; return typeof value === 'string' ? value : ''; };
  const scripts = Object.entries(objectIn(fields['scripts'])).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  return { name: text('name') || 'This project', description: text('description'), scripts: Object.fromEntries(scripts) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Readonly<Record<string, unknown>> : {};
}
