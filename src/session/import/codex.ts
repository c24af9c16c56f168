import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandText, documentName, firstPlaceIsZero } from './documents.ts';
import { finding, foundIn, type Finding, type Importer } from './found.ts';
import { documentsIn, type Fields, fieldsAt, isFields, leaveRest, readSettings, textAt, textsAt } from './read.ts';
import { addServer, argsOf, namedTexts } from './servers.ts';
import { addModel, instructions } from './words.ts';

const EFFORTS: Readonly<Record<string, string>> = { minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh' };

export default {
  id: 'codex',
  label: 'Codex',
  async read({ userHome, env, project, memory }) {
    const found = finding();
    const folder = project === undefined ? env['CODEX_HOME'] || join(userHome, '.codex') : join(project, '.codex');
    const file = join(folder, 'config.toml');
    const fields = await readSettings(file, 'toml', found);
    if (fields !== undefined) take(fields, file, found);
    takePrompts(join(folder, 'prompts'), found);
    if (project === undefined) instructions(join(folder, 'AGENTS.md'), memory, found);
    if (existsSync(join(folder, 'hooks.json'))) found.left.push(`hooks: their events have the same names here; put them under "hooks" of your settings (${join(folder, 'hooks.json')})`);
    if (existsSync(join(folder, 'rules'))) found.left.push(`rules: they are programs of their own (${join(folder, 'rules')})`);
    if (existsSync(join(folder, 'auth.json'))) found.left.push(`keys: they are not copied (${join(folder, 'auth.json')})`);
    return foundIn(found);
  },
} satisfies Importer as Importer;

function take(fields: Fields, file: string, into: Finding): void {
  addModel(textAt(fields, 'model'), file, into);
  const effort = textAt(fields, 'model_reasoning_effort');
  const ours = effort === undefined || !Object.hasOwn(EFFORTS, effort) ? undefined : EFFORTS[effort];
  if (ours !== undefined) into.settings.push({ key: 'effortLevel', value: ours, from: file });
  else if (effort !== undefined) into.left.push(`model_reasoning_effort ${effort}: there is no such effort here (${file})`);
  const policy = textAt(fields, 'approval_policy');
  const sandbox = textAt(fields, 'sandbox_mode');
  if (policy === 'never' || sandbox === 'danger-full-access') into.left.push(`${policy === 'never' ? 'approval_policy never' : 'sandbox_mode danger-full-access'}: what asks nothing is chosen anew at each start, by --permission-mode (${file})`);
  else if (policy !== undefined || sandbox !== undefined) into.left.push(`approval_policy, sandbox_mode: here writing and running ask, whatever a sandbox allows; Shift-Tab changes the mode (${file})`);
  for (const [name, server] of Object.entries(fieldsAt(fields, 'mcp_servers'))) takeServer(name, isFields(server) ? server : {}, file, into);
  leaveRest(fields, ['model', 'model_reasoning_effort', 'approval_policy', 'sandbox_mode', 'sandbox_workspace_write', 'mcp_servers', 'projects'], file, into);
}

function takeServer(name: string, server: Fields, from: string, into: Finding): void {
  if (server['enabled'] === false) {
    into.left.push(`the server ${name}: it is switched off there (${from})`);
    return;
  }
  const passed = Object.fromEntries(textsAt(server, 'env_vars').map((variable) => [variable, `\${${variable}}`]));
  const bearer = textAt(server, 'bearer_token_env_var');
  const fromEnv = Object.fromEntries(Object.entries(namedTexts(server, 'env_http_headers')).map(([header, variable]) => [header, `\${${variable}}`]));
  const command = textAt(server, 'command');
  const url = textAt(server, 'url');
  const timeout = server['tool_timeout_sec'];
  addServer({
    name, from, ...(command !== undefined && { command, args: argsOf(server['args']), env: { ...passed, ...namedTexts(server, 'env') } }), ...(url !== undefined && { url }),
    headers: { ...namedTexts(server, 'http_headers'), ...fromEnv, ...(bearer !== undefined && { Authorization: `Bearer \${${bearer}}` }) }, ...(typeof timeout === 'number' && { timeout: timeout * 1000 }),
  }, into);
  for (const tool of textsAt(server, 'disabled_tools')) into.rules.push({ list: 'deny', rule: `mcp__${name}__${tool}`, from });
  if (textsAt(server, 'enabled_tools').length > 0) into.left.push(`enabled_tools of the server ${name}: all of its tools are offered here; deny rules take some away (${from})`);
  if (textAt(server, 'cwd') !== undefined) into.left.push(`cwd of the server ${name}: servers start in the project (${from})`);
}

function takePrompts(folder: string, into: Finding): void {
  for (const { name, path, text } of documentsIn(folder, '.md', into)) {
    const file = documentName(name, path, into);
    if (file === undefined) continue;
    if (/\$(?!ARGUMENTS\b)[A-Z][A-Z_]+\b/.test(text)) into.left.push(`the prompt ${name}: it takes arguments by name, as NAME=value (${path})`);
    else into.documents.push({ kind: 'commands', name: file, from: path, text: commandText(firstPlaceIsZero(text)) });
  }
}
