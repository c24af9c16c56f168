import { join } from 'node:path';
import type { Json } from '#lib/brand.ts';
import { readFrontMatter } from '#lib/front-matter.ts';
import { documentName, firstPlaceIsZero, withFrontMatter } from './documents.ts';
import { finding, foundIn, type Finding, type Importer } from './found.ts';
import { documentsIn, type Fields, fieldsAt, isFields, leaveRest, readSettings, textAt, textsAt } from './read.ts';
import { addRule, commandPatternRule, type NEEDLESS, pathPatternRule, toolRule } from './rules.ts';
import { addServer, namedTexts } from './servers.ts';
import { addModel, claudeModel, instructions } from './words.ts';

const KNOWN = ['model', 'mcp', 'permission', 'permissions', 'command', 'agent', 'mode', 'instructions', 'provider'];
/** Their tools that an agent can be without, and ours. */
const TOOLS: Readonly<Record<string, string>> = { write: 'Write', edit: 'Edit', patch: 'Edit', bash: 'Bash', read: 'Read', grep: 'Grep', glob: 'Glob', list: 'Glob', webfetch: 'WebFetch', todowrite: 'TodoWrite', task: 'Task', skill: 'Skill' };
type List = 'allow' | 'ask' | 'deny';
const isList = (value: Json | undefined): value is List => value === 'allow' || value === 'ask' || value === 'deny';

export default {
  id: 'opencode',
  label: 'opencode',
  async read({ userHome, env, project, memory }) {
    const found = finding();
    const folder = project === undefined ? join(env['XDG_CONFIG_HOME'] || join(userHome, '.config'), 'opencode') : join(project, '.opencode');
    for (const name of ['opencode.json', 'opencode.jsonc']) {
      for (const place of project === undefined ? [folder] : [project, folder]) {
        const file = join(place, name);
        const fields = await readSettings(file, 'json', found);
        if (fields !== undefined) take(fields, file, found);
      }
    }
    for (const name of ['command', 'commands']) await takeCommands(join(folder, name), found);
    for (const name of ['agent', 'agents']) await takeAgents(join(folder, name), found);
    if (project === undefined) instructions(join(folder, 'AGENTS.md'), memory, found);
    return foundIn(found);
  },
} satisfies Importer as Importer;

function take(fields: Fields, file: string, into: Finding): void {
  addModel(textAt(fields, 'model'), file, into);
  for (const [name, server] of Object.entries(fieldsAt(fields, 'mcp'))) takeServer(name, isFields(server) ? server : {}, file, into);
  takePermission(fields['permission'], file, into);
  for (const rule of Array.isArray(fields['permissions']) ? fields['permissions'] as readonly Json[] : []) {
    if (!isFields(rule) || !isList(rule['effect'])) continue;
    const action = textAt(rule, 'action') ?? '';
    takeRule(action === 'shell' ? 'bash' : action, textAt(rule, 'resource') ?? '*', rule['effect'], file, into);
  }
  for (const [name, command] of Object.entries(fieldsAt(fields, 'command'))) if (isFields(command)) addCommand(name, textAt(command, 'template') ?? '', textAt(command, 'description'), file, into);
  for (const [name, agent] of Object.entries({ ...fieldsAt(fields, 'mode'), ...fieldsAt(fields, 'agent') })) if (isFields(agent)) addAgent(name, agent, textAt(agent, 'prompt') ?? '', file, into);
  for (const path of textsAt(fields, 'instructions')) into.left.push(`instructions in ${path}: a line @${path} in AGENTS.md brings them in (${file})`);
  if (Object.keys(fieldsAt(fields, 'provider')).length > 0) into.left.push(`providers and their keys: they are not copied (${file})`);
  leaveRest(fields, KNOWN, file, into);
}

function takeServer(name: string, server: Fields, from: string, into: Finding): void {
  if (server['enabled'] === false) {
    into.left.push(`the server ${name}: it is switched off there (${from})`);
    return;
  }
  const [command, ...args] = textsAt(server, 'command');
  const url = textAt(server, 'url');
  addServer({
    name, from, ...(command !== undefined && { command, args, env: namedTexts(server, 'environment') }), ...(url !== undefined && { url }), headers: namedTexts(server, 'headers'),
    ...(typeof server['timeout'] === 'number' && { timeout: server['timeout'] }),
  }, into);
}

/** One word for all, or a word or patterns for each tool. There the last that fits decides; here what forbids goes first, then what asks. */
function takePermission(permission: Json | undefined, from: string, into: Finding): void {
  if (isList(permission)) takeRule('*', '*', permission, from, into);
  if (!isFields(permission)) return;
  for (const [tool, said] of Object.entries(permission)) {
    if (isList(said)) takeRule(tool, '*', said, from, into);
    if (!isFields(said)) continue;
    const allows = Object.values(said).includes('allow');
    for (const [pattern, list] of Object.entries(said)) {
      // What is asked about anyway; a rule that forbids all would go before what is allowed.
      if (!isList(list) || (pattern === '*' && list === 'ask')) continue;
      if (pattern === '*' && list === 'deny' && allows) into.left.push(`the deny rule ${tool} *: it would go before what is allowed; whatever is not allowed asks (${from})`);
      else takeRule(tool, pattern, list, from, into);
    }
  }
}

function takeRule(tool: string, pattern: string, list: List, from: string, into: Finding): void {
  const what = pattern === '*' ? tool : `${tool} ${pattern}`;
  if (tool === '*' && list !== 'deny') {
    if (list === 'allow') into.left.push(`permission allow for everything: what asks nothing is chosen anew at each start, by --permission-mode (${from})`);
    return;
  }
  addRule(ruleOf(tool, pattern, list), list, what, from, into);
}

function ruleOf(tool: string, pattern: string, list: List): string | undefined | typeof NEEDLESS {
  if (pattern === '*') return toolRule(tool, list);
  switch (toolRule(tool, 'deny')) {
    case 'Bash': return commandPatternRule(pattern, list);
    case 'Edit': return pathPatternRule('Edit', pattern, list);
    case 'Read': return pathPatternRule('Read', pattern, list);
    default: return undefined;
  }
}

async function takeCommands(folder: string, into: Finding): Promise<void> {
  for (const { name, path, text } of documentsIn(folder, '.md', into)) {
    const { fields, body } = await readFrontMatter(text);
    addCommand(name, body, textAt(fields, 'description'), path, into);
  }
}

function addCommand(name: string, template: string, description: string | undefined, from: string, into: Finding): void {
  const file = documentName(name, from, into);
  if (file !== undefined && template.trim() !== '') into.documents.push({ kind: 'commands', name: file, from, text: withFrontMatter({ description }, firstPlaceIsZero(template)) });
}

async function takeAgents(folder: string, into: Finding): Promise<void> {
  for (const { name, path, text } of documentsIn(folder, '.md', into)) {
    const { fields, body } = await readFrontMatter(text);
    addAgent(name, fields, body, path, into);
  }
}

function addAgent(name: string, fields: Fields, prompt: string, from: string, into: Finding): void {
  const file = documentName(name, from, into);
  if (file === undefined) return;
  const mode = textAt(fields, 'mode');
  if (mode === 'primary') into.left.push(`the agent ${name}: it is one to talk to, here agents are asked by the model (${from})`);
  else if (prompt.trim() === '' || prompt.trim().startsWith('{file:')) into.left.push(`the agent ${name}: it has no text of its own (${from})`);
  else {
    const without = Object.entries(fieldsAt(fields, 'tools')).flatMap(([tool, on]) => (on === false && Object.hasOwn(TOOLS, tool) ? [TOOLS[tool] ?? ''] : []));
    const denied = Object.entries(fieldsAt(fields, 'permission')).flatMap(([tool, said]) => (said === 'deny' && Object.hasOwn(TOOLS, tool) ? [TOOLS[tool] ?? ''] : []));
    const all = [...new Set([...without, ...denied])];
    const model = textAt(fields, 'model');
    into.documents.push({
      kind: 'agents', name: file, from,
      text: withFrontMatter({ name: name.split('/').at(-1), description: textAt(fields, 'description'), disallowedTools: all.length === 0 ? undefined : all.join(', '), model: model === undefined ? undefined : claudeModel(model) }, prompt),
    });
  }
}
