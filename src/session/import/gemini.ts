import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '#lib/errors.ts';
import { documentName, withFrontMatter } from './documents.ts';
import { finding, foundIn, type Finding, type Importer } from './found.ts';
import { documentsIn, type Fields, fieldsAt, isFields, leaveRest, readSettings, textAt, textsAt } from './read.ts';
import { addRule, commandRule, toolRule } from './rules.ts';
import { addServers } from './servers.ts';
import { addModel, instructions } from './words.ts';

const KNOWN = ['mcpServers', 'mcp', 'tools', 'allowedTools', 'excludeTools', 'coreTools', 'model', 'general', 'context', 'contextFileName', 'ui', 'theme', 'security', 'selectedAuthType', 'allowMCPServers', 'excludeMCPServers'];
const READ_HERE = ['AGENTS.md', 'CLAUDE.md'];

export default {
  id: 'gemini',
  label: 'Gemini CLI',
  async read({ userHome, project, memory }) {
    const found = finding();
    const folder = join(project ?? userHome, '.gemini');
    const file = join(folder, 'settings.json');
    const fields = await readSettings(file, 'json', found);
    if (fields !== undefined) take(fields, file, found);
    await takeCommands(join(folder, 'commands'), found);
    instructions(project === undefined ? join(folder, 'GEMINI.md') : join(project, 'GEMINI.md'), project === undefined ? memory : 'AGENTS.md', found);
    if (existsSync(join(folder, 'policies'))) found.left.push(`policies: their rules have priorities, which rules here have not (${join(folder, 'policies')})`);
    if (existsSync(join(folder, 'oauth_creds.json'))) found.left.push(`keys: they are not copied (${join(folder, 'oauth_creds.json')})`);
    return foundIn(found);
  },
} satisfies Importer as Importer;

/** Settings of both shapes: in groups, and flat as they were before. */
function take(fields: Fields, file: string, into: Finding): void {
  const tools = fieldsAt(fields, 'tools');
  const mcp = fieldsAt(fields, 'mcp');
  const excluded = [...textsAt(mcp, 'excluded'), ...textsAt(fields, 'excludeMCPServers')];
  const allowed = [...textsAt(mcp, 'allowed'), ...textsAt(fields, 'allowMCPServers')];
  addServers(fieldsAt(fields, 'mcpServers'), file, into, (name) => (excluded.includes(name) || (allowed.length > 0 && !allowed.includes(name)) ? 'it is switched off there' : undefined));
  for (const [name, server] of Object.entries(fieldsAt(fields, 'mcpServers'))) if (isFields(server)) takeTools(name, server, file, into);
  for (const rule of [...textsAt(tools, 'allowed'), ...textsAt(fields, 'allowedTools')]) takeRule(rule, 'allow', file, into);
  for (const rule of [...textsAt(tools, 'exclude'), ...textsAt(fields, 'excludeTools')]) takeRule(rule, 'deny', file, into);
  if (textsAt(tools, 'core').length > 0 || textsAt(fields, 'coreTools').length > 0) into.left.push(`tools.core: all tools are offered here; deny rules take some away (${file})`);
  addModel(textAt(fields, 'model') ?? textAt(fieldsAt(fields, 'model'), 'name'), file, into);
  const mode = textAt(fieldsAt(fields, 'general'), 'defaultApprovalMode') ?? textAt(tools, 'approvalMode');
  if (mode === 'auto_edit' || mode === 'plan') into.settings.push({ key: 'permissions.defaultMode', value: mode === 'plan' ? 'plan' : 'acceptEdits', from: file });
  else if (mode !== undefined && mode !== 'default') into.left.push(`the approval mode ${mode}: what asks nothing is chosen anew at each start, by --permission-mode (${file})`);
  const theme = textAt(fields, 'theme') ?? textAt(fieldsAt(fields, 'ui'), 'theme');
  if (theme !== undefined && /light/i.test(theme)) into.settings.push({ key: 'theme', value: 'light', from: file });
  const names = [...textsAt(fields, 'contextFileName'), ...textsAt(fieldsAt(fields, 'context'), 'fileName')];
  for (const name of names) (READ_HERE.includes(name) ? into.anyway : into.left).push(READ_HERE.includes(name) ? `instructions in ${name}` : `instructions in ${name}: they are not read; a line @${name} in AGENTS.md brings them in (${file})`);
  leaveRest(fields, KNOWN, file, into);
}

function takeTools(name: string, server: Fields, from: string, into: Finding): void {
  for (const tool of textsAt(server, 'excludeTools')) into.rules.push({ list: 'deny', rule: `mcp__${name}__${tool}`, from });
  if (textsAt(server, 'includeTools').length > 0) into.left.push(`includeTools of the server ${name}: all of its tools are offered here; deny rules take some away (${from})`);
  if (server['trust'] === true) into.left.push(`trust of the server ${name}: its tools ask here until you allow them (${from})`);
}

/** `run_shell_command(git status)` is meant for commands that begin so. */
function takeRule(text: string, list: 'allow' | 'deny', from: string, into: Finding): void {
  const [, name = '', spec] = /^\s*([\w.-]+)\s*(?:\(([\s\S]*)\))?\s*$/.exec(text) ?? [];
  const tool = toolRule(name, list);
  addRule(spec === undefined ? tool : tool === 'Bash' ? commandRule(spec, list) : undefined, list, text, from, into);
}

async function takeCommands(folder: string, into: Finding): Promise<void> {
  const { parse } = await import('smol-toml');
  for (const { name, path, text } of documentsIn(folder, '.toml', into)) {
    const file = documentName(name, path, into);
    if (file === undefined) continue;
    try {
      const { prompt, description } = parse(text);
      if (typeof prompt !== 'string') throw new Error('it has no prompt');
      const body = bodyOf(prompt);
      if (body === undefined) into.left.push(`the command ${name}: it puts arguments into a shell command (${path})`);
      else into.documents.push({ kind: 'commands', name: file, from: path, text: withFrontMatter({ description: typeof description === 'string' ? description : undefined }, body) });
    } catch (error) {
      into.left.push(`the command ${name} cannot be read: ${messageOf(error).slice(0, 120)} (${path})`);
    }
  }
}

/** `{{args}}`, `!{command}` and `@{path}` in our words. Arguments in a shell command are quoted there and not here: undefined. */
function bodyOf(prompt: string): string | undefined {
  let unsafe = false;
  const body = prompt.replaceAll(/!\{((?:[^{}]|\{[^{}]*\}|\{\{[^{}]*\}\})*)\}/g, (_, command: string) => {
    if (/\{\{\s*args\s*\}\}/.test(command) || /[`\n]/.test(command)) unsafe = true;
    return `!\`${command.trim()}\``;
  });
  return unsafe ? undefined : body.replaceAll(/@\{([^{}]+)\}/g, '@$1').replaceAll(/\{\{\s*args\s*\}\}/g, '$ARGUMENTS');
}
