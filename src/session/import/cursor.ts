import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { finding, foundIn, type Finding, type Importer } from './found.ts';
import { documentsIn, filesBelow, type Fields, fieldsAt, leaveRest, readSettings, textsAt } from './read.ts';
import { commandText, documentName } from './documents.ts';
import { addRule, commandRule, pathPatternRule } from './rules.ts';
import { addServers } from './servers.ts';

export default {
  id: 'cursor',
  label: 'Cursor',
  async read({ userHome, project }) {
    const found = finding();
    const folder = join(project ?? userHome, '.cursor');
    const servers = join(folder, 'mcp.json');
    const fields = await readSettings(servers, 'json', found);
    if (fields !== undefined) addServers(fieldsAt(fields, 'mcpServers'), servers, found);
    const settings = join(folder, project === undefined ? 'cli-config.json' : 'cli.json');
    const rules = await readSettings(settings, 'json', found);
    if (rules !== undefined) takeRules(rules, settings, found);
    for (const { name, path, text } of documentsIn(join(folder, 'commands'), '.md', found)) {
      const file = documentName(name, path, found);
      if (file !== undefined) found.documents.push({ kind: 'commands', name: file, from: path, text: commandText(text) });
    }
    const own = filesBelow(join(folder, 'rules'), '.mdc').length;
    if (own > 0) {
      found.files.push(join(folder, 'rules'));
      found.left.push(`rules: put what holds for all files into AGENTS.md, the rest into .claude/rules with their globs as "paths" (${join(folder, 'rules')})`);
    }
    if (project !== undefined && existsSync(join(project, '.cursorrules'))) {
      found.files.push(join(project, '.cursorrules'));
      found.left.push('instructions: .cursorrules is not read; a line @.cursorrules in AGENTS.md brings it in');
    }
    return foundIn(found);
  },
} satisfies Importer as Importer;

function takeRules(fields: Fields, file: string, into: Finding): void {
  for (const list of ['allow', 'deny'] as const) {
    for (const text of textsAt(fieldsAt(fields, 'permissions'), list)) {
      const [, name = '', spec = ''] = /^\s*(\w+)\(([\s\S]*)\)\s*$/.exec(text) ?? [];
      const rule = name === 'Shell' ? commandRule(spec, list) : name === 'Read' ? pathPatternRule('Read', spec, list) : name === 'Write' ? pathPatternRule('Edit', spec, list) : undefined;
      addRule(rule, list, text, file, into);
    }
  }
  leaveRest(fields, ['permissions', 'version'], file, into);
}
