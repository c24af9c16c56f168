import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { finding, foundIn, type Finding, type Importer } from './found.ts';
import { type Fields, fieldsAt, isFields, leaveRest, readSettings, textAt } from './read.ts';

/** Keys that mean the same here and are not read from its files. */
const SAME = ['model', 'effortLevel', 'outputStyle', 'autoCompactEnabled', 'respectGitignore', 'plansDirectory', 'promptCacheTtl', 'autoMemoryEnabled', 'autoConnectIde', 'diffTool'];
/** Keys that are read from its files as they stand. */
const READ = ['permissions', 'env', 'hooks', 'statusLine', 'claudeMdExcludes', 'disableAllHooks', 'allowedHttpHookUrls', 'httpHookAllowedEnvVars', 'enableAllProjectMcpServers', 'enabledMcpjsonServers', 'disabledMcpjsonServers'];
const HELPERS = ['apiKeyHelper', 'awsAuthRefresh', 'awsCredentialExport', 'otelHeadersHelper'];
const FOLDERS: readonly (readonly [string, string])[] = [['skills', 'skills'], ['commands', 'commands'], ['agents', 'agents'], ['output-styles', 'output styles'], ['rules', 'rules']];

export default {
  id: 'claude',
  label: 'Claude Code',
  async read({ userHome, env, project }) {
    const found = finding();
    const folder = project === undefined ? env['CLAUDE_CONFIG_DIR'] || join(userHome, '.claude') : join(project, '.claude');
    for (const name of project === undefined ? ['settings.json'] : ['settings.json', 'settings.local.json']) {
      const file = join(folder, name);
      const fields = await readSettings(file, 'json', found);
      if (fields !== undefined) take(fields, file, found);
    }
    if (project === undefined) await takeState(join(userHome, '.claude.json'), found);
    else if (existsSync(join(project, '.mcp.json'))) found.anyway.push('the servers of .mcp.json, once you agree to each');
    const kinds = FOLDERS.filter(([name]) => existsSync(join(folder, name))).map(([, what]) => what);
    if (kinds.length > 0) found.anyway.push(`${kinds.join(', ')} of ${folder}`);
    for (const file of project === undefined ? [join(folder, 'CLAUDE.md')] : [join(project, 'CLAUDE.md'), join(folder, 'CLAUDE.md')]) if (existsSync(file)) found.anyway.push(`instructions: ${file}`);
    return foundIn(found);
  },
} satisfies Importer as Importer;

function take(fields: Fields, file: string, into: Finding): void {
  const read = READ.filter((key) => key in fields);
  if (read.length > 0) into.anyway.push(`${read.join(', ')} of ${file}`);
  for (const key of SAME) {
    const value = fields[key];
    if (value !== undefined) into.settings.push({ key, value, from: file });
  }
  const { fallbackModel: fallback } = fields;
  if (typeof fallback === 'string' || (Array.isArray(fallback) && fallback.every((one) => typeof one === 'string'))) into.settings.push({ key: 'fallbackModel', value: fallback, from: file });
  const theme = textAt(fields, 'theme');
  if (theme !== undefined) into.settings.push({ key: 'theme', value: theme.startsWith('light') ? 'light' : 'dark', from: file });
  for (const key of HELPERS.filter((one) => one in fields)) into.left.push(`${key}: keys come from the environment or /login, no helper is run for them (${file})`);
  leaveRest(fields, [...SAME, ...READ, ...HELPERS, 'fallbackModel', 'theme'], file, into);
}

/** Its state file is large, and only two things of it concern us. */
async function takeState(file: string, into: Finding): Promise<void> {
  const state = await readSettings(file, 'json', into);
  if (state === undefined) return;
  const servers = Object.keys(fieldsAt(state, 'mcpServers')).length + Object.values(fieldsAt(state, 'projects')).filter(isFields).reduce((sum, project) => sum + Object.keys(fieldsAt(project, 'mcpServers')).length, 0);
  if (servers > 0) into.anyway.push(`the MCP servers of ${file}`);
  const theme = textAt(state, 'theme');
  if (theme !== undefined && !into.settings.some(({ key }) => key === 'theme')) into.settings.push({ key: 'theme', value: theme.startsWith('light') ? 'light' : 'dark', from: file });
}
