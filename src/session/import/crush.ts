import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { finding, foundIn, type Finding, type Importer } from './found.ts';
import { type Fields, fieldsAt, isFields, leaveRest, readSettings, textAt, textsAt } from './read.ts';
import { addRule, toolRule } from './rules.ts';
import { addServer, argsOf, namedTexts } from './servers.ts';
import { addModel } from './words.ts';

export default {
  id: 'crush',
  label: 'Crush',
  async read({ userHome, env, project }) {
    const found = finding();
    const folder = join(env['XDG_CONFIG_HOME'] || join(userHome, '.config'), 'crush');
    for (const file of project === undefined ? [join(folder, 'crush.json')] : [join(project, 'crush.json'), join(project, '.crush.json')]) {
      const fields = await readSettings(file, 'json', found);
      if (fields !== undefined) take(fields, file, found);
    }
    const script = project === undefined ? join(folder, 'crushrc') : join(project, 'crushrc');
    if (existsSync(script)) {
      found.files.push(script);
      found.left.push(`${script}: it is a program, which is not run`);
    }
    return foundIn(found);
  },
} satisfies Importer as Importer;

function take(fields: Fields, file: string, into: Finding): void {
  for (const [name, server] of Object.entries(fieldsAt(fields, 'mcp'))) takeServer(name, isFields(server) ? server : {}, file, into);
  for (const tool of textsAt(fieldsAt(fields, 'permissions'), 'allowed_tools')) addRule(toolRule(tool, 'allow'), 'allow', tool, file, into);
  for (const tool of textsAt(fieldsAt(fields, 'options'), 'disabled_tools')) addRule(toolRule(tool, 'deny'), 'deny', tool, file, into);
  const large = fieldsAt(fieldsAt(fields, 'models'), 'large');
  if (textAt(large, 'provider') === 'anthropic') addModel(textAt(large, 'model'), file, into);
  const languages = Object.keys(fieldsAt(fields, 'lsp'));
  if (languages.length > 0) into.left.push(`language servers (${languages.slice(0, 6).join(', ')}): those that are installed are found by themselves (${file})`);
  for (const path of textsAt(fieldsAt(fields, 'options'), 'context_paths')) into.left.push(`instructions in ${path}: a line @${path} in AGENTS.md brings them in (${file})`);
  if (Object.keys(fieldsAt(fields, 'providers')).length > 0) into.left.push(`providers and their keys: they are not copied (${file})`);
  leaveRest(fields, ['mcp', 'permissions', 'options', 'models', 'lsp', 'providers'], file, into);
}

function takeServer(name: string, server: Fields, from: string, into: Finding): void {
  if (server['disabled'] === true) {
    into.left.push(`the server ${name}: it is switched off there (${from})`);
    return;
  }
  const command = textAt(server, 'command');
  const url = textAt(server, 'url');
  const type = textAt(server, 'type') === 'sse' ? { type: 'sse' as const } : {};
  addServer({
    name, from, ...type, ...(command !== undefined && { command, args: argsOf(server['args']), env: namedTexts(server, 'env') }), ...(url !== undefined && { url }), headers: namedTexts(server, 'headers'),
    ...(typeof server['timeout'] === 'number' && { timeout: server['timeout'] * 1000 }),
  }, into);
  for (const tool of textsAt(server, 'disabled_tools')) into.rules.push({ list: 'deny', rule: `mcp__${name}__${tool}`, from });
}
