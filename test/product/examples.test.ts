import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { runIn } from '../support/checkout.ts';
import { call, say } from '../support/messages-server/reply.ts';
import { startServer } from '../support/messages-server/server.ts';
import { tempFolder } from '../support/temp.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLES = join(root, 'test/examples');
const names = readdirSync(EXAMPLES).filter((name) => name.endsWith('.ts')).sort();

/** What each prints, with the model that stands in the left column. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  'attachments.ts': /^true\nmemory:tone file:notes\.txt file:src\/index\.ts todo:list\n[^]*French[^]*\ntrue true true\ntrue false\n$/,
  'one-question.ts': /1\.2\.3/,
  'own-source.ts': /^The weather is sunny\.\n\(nothing\)\nThe weather was sunny and is rainy now\.\nNothing is known of the weather any more\.\n$/,
  'own-tool.ts': /^asked: Lamp kitchen on\nIt is on\.\nkitchen: on\n$/,
  'query.ts': /^answered head prompt assistant toolResult assistant\n$/,
  'resuming.ts': /^true memory:name\ntrue\ninterrupted\n$/,
  'watching.ts': /^reply: \d+ tokens from pinion-demo\ntool: Read package\.json\nreply: \d+ tokens from pinion-demo\ncost: \$0, \d+ tokens in, \d+ out\n$/,
};

/** A project of somebody's that has the package. */
function project(): string {
  const folder = tempFolder({ 'package.json': '{ "name": "lighthouse", "version": "1.2.3", "type": "module" }' });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/pinion'));
  symlinkSync(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'));
  return folder;
}

describe('an example', () => {
  it('is tried for each, and the README names each', () => {
    expect(Object.keys(PRINTS)).toEqual(names);
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    for (const name of names) expect(readme).toContain(`\`${name}\``);
  });

  it.each(names)('%s runs with the built package and says what it promises', async (name) => {
    // Node 20 runs no TypeScript by itself: its types are taken off, and nothing else.
    const folder = project();
    const { code: program } = await transform(readFileSync(join(EXAMPLES, name), 'utf8'), { loader: 'ts', target: 'node20' });
    writeFileSync(join(folder, name.replace(/ts$/, 'js')), program);
    const server = name === 'own-tool.ts' ? await startServer({ script: [{ content: [call('Lamp', { room: 'kitchen', on: true })] }, say('It is on.')] }) : undefined;
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, PINION_HOME: join(folder, 'home'), ...(server !== undefined && { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'sk-ant-test' }) };
    const { code, stdout, stderr } = await runIn(folder, process.execPath, [name.replace(/ts$/, 'js')], env);
    await server?.close();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(PRINTS[name] ?? /^$/);
    expect(server?.all.flatMap(({ refusal }) => (refusal === undefined ? [] : [refusal])) ?? []).toEqual([]);
  });
});
