import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Json } from '#lib/brand.ts';
import { DEFAULT_MODEL } from '#domain/model.ts';
import { sources } from '#attachments/sources/list.ts';
import { rules } from '#client/demo/rules.ts';
import { commands } from '#commands/list.ts';
import { resultOf } from '#headless/result.ts';
import { settingKeys } from '#session/setting-keys.ts';
import { type Layer, mergeLayers } from '#session/settings.ts';
import { tools } from '#tools/kinds/list.ts';
import { keyTable } from '#ui/keys.ts';
import { product } from '../support/product.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = (path: string): string => readFileSync(`${root}${path}`, 'utf8');
const README = text('README.md');

/** What stands between `<!-- name -->` and `<!-- /name -->`. */
function section(name: string): string {
  const found = new RegExp(`<!-- ${name} -->\\n([\\s\\S]*?)<!-- /${name} -->`).exec(README)?.[1];
  if (found === undefined) throw new Error(`README.md has no part between <!-- ${name} --> and <!-- /${name} -->`);
  return found.trim();
}

/** Cells of the table in a section, without its head. */
const rowsOf = (name: string): readonly (readonly string[])[] => section(name).split('\n').slice(2)
  .map((line) => line.replace(/^\| | \|$/g, '').split(/(?<!\\)\|/).map((cell) => cell.trim()));
const codesIn = (cell: string | undefined): readonly string[] => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

const code = (words: string): string => (words.includes('`') ? `\`\` ${words} \`\`` : `\`${words}\``);
const escape = (cell: string): string => cell.replaceAll('|', String.raw`\|`);
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => [
  `| ${head.join(' | ')} |`.replace('|  |', '| |'), `|${'---|'.repeat(head.length)}`, ...rows.map((row) => `| ${row.map(escape).join(' | ')} |`),
].join('\n');

/** The right text is part of the failure: it can be copied into README.md as it is. */
function expectSection(name: string, right: string): void {
  expect(section(name), `README.md is no longer true. Between <!-- ${name} --> and <!-- /${name} --> there must be:\n\n${right}\n`).toBe(right);
}

describe('the tables of the README are those of the definitions', () => {
  it('keys', () => {
    const { help } = keyTable();
    expectSection('keys', table(['key', '', 'its name in the settings'], help.filter(({ editing }) => editing !== true).map(({ keys, what, action }) => [keys, what, action === undefined ? '' : code(action)])));
    expectSection('editing', `${help.filter(({ editing }) => editing === true).map(({ keys, action = '' }) => `${code(action)} ${keys}`).join('; ')}.`);
  });

  it('commands', () => {
    const rows = commands.map(({ id, aliases = [], usage, summary }) => [
      code(`/${id}${usage === undefined ? '' : ` ${usage}`}`), `${summary}${aliases.length === 0 ? '' : ` (also ${aliases.map((alias) => code(`/${alias}`)).join(', ')})`}`,
    ]);
    expectSection('commands', table(['command', ''], rows));
  });

  it('flags', () => {
    const options = [...helpText().matchAll(/^(?!Arguments)[A-Z][\w ]*:\n((?: {2}.*\n)+)/gm)].map(([, group = '']) => group).join('');
    expect(options).toContain('--print');
    const rows = options.split(/\n(?= {2}-)/).map((option) => /^\s*(\S.*?) {2,}([\s\S]*)$/.exec(option)).map((found) => [
      code(found?.[1] ?? ''), (found?.[2] ?? '').replace(/\s+/g, ' ').trim(),
    ]);
    expectSection('flags', table(['flag', ''], rows));
  });

  it('the demo model, with fifteen examples or more', () => {
    const rows = rules.map(({ example, tools, needs }) => [code(example), `${tools.join(', ')}${needs === undefined ? '' : `${tools.length === 0 ? '' : ' '}(needs ${needs})`}`]);
    expect(rows.length).toBeGreaterThanOrEqual(15);
    expectSection('demo', table(['a prompt', 'tools'], rows));
  });

  it('kinds of reminders', () => {
    const rows = sources.map(({ id, on, cadence, limits }) => [code(id), firstSentence(id), [...on].join(', '), often(cadence), limits.tokens.toLocaleString('en')]);
    expectSection('reminders', table(['kind', 'what it says', 'with', 'how often', 'at most (tokens)'], rows));
  });

  it('tools', () => {
    const rows = tools.map(({ id, description, ...tool }) => [code(id), /^[\s\S]+?\.(?= |\n|$)/.exec(description)?.[0] ?? '', 'deferred' in tool && tool.deferred !== undefined ? 'on demand' : 'from the start']);
    expectSection('tools', table(['tool', '', 'loaded'], rows));
  });

  it('fields of the JSON answer', () => {
    const result = resultOf({ sessionId: '', entries: [], outcome: { kind: 'answered' }, durationMs: 0, usd: 0, apiMs: 0, models: {}, uuid: '', model: '', denials: [] });
    expect(rowsOf('fields').flatMap(([field]) => codesIn(field))).toEqual(Object.keys(result));
    expect(codesIn(rowsOf('fields').find(([field]) => field === '`usage`')?.[1])).toEqual(Object.keys(result.usage));
  });
});

/** As the built program prints it. */
function helpText(): string {
  const { status, stdout } = spawnSync(process.execPath, [`${root}bin/pinion.js`, '--help'], { cwd: root, encoding: 'utf8' });
  expect(status).toBe(0);
  return stdout;
}

/** Of the comment that stands above a source's definition. */
function firstSentence(id: string): string {
  const file = `src/attachments/sources/${id.replaceAll('_', '-')}.ts`;
  const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport default defineSource/.exec(text(file))?.[1]?.replace(/^\s*\* ?/gm, '').replace(/\s+/g, ' ').trim();
  const sentence = /^.+?\.(?= |$)(?! and )/.exec(comment ?? '')?.[0];
  if (sentence === undefined) throw new Error(`${file}: the definition wants a comment whose first sentence says what the model is told`);
  return sentence;
}

function often(cadence: (typeof sources)[number]['cadence']): string {
  if (cadence === 'once') return 'once';
  if (cadence === 'always') return 'whenever there is something';
  if (cadence === 'onChange') return 'first, then what changed';
  if ('everySteps' in cadence) return `every ${cadence.everySteps} steps, each ${cadence.fullEvery}th time whole`;
  return `${cadence.sinceWrite} steps after the last write, then every ${cadence.between}`;
}

describe('settings', () => {
  const layer = (fields: Readonly<Record<string, Json>>): Layer => ({ scope: 'user', file: 'settings.json', root: '/', take: 'all', fields });

  it('are told of in the table that /config shows', () => {
    expectSection('settings', table(['key', 'default', ''], settingKeys().map(({ key, fallback, what }) => [code(key), fallback, what])));
  });

  it('shows defaults that change nothing when they are written down', () => {
    const plain = mergeLayers([]).settings;
    for (const [cell, shown] of rowsOf('settings')) {
      const [key = ''] = codesIn(cell);
      const value = jsonIn(codesIn(shown)[0]);
      if (value === undefined) continue;
      const [outer = '', inner] = key.split('.');
      expect(mergeLayers([layer({ [outer]: inner === undefined ? value : { [inner]: value } })]), key).toEqual({ settings: plain, warnings: [] });
    }
    expect(codesIn(rowsOf('settings').find(([key]) => key === '`model`')?.[1])).toEqual([DEFAULT_MODEL]);
  });

  it('has an example that can be used as it is', () => {
    const example = /```json\n([\s\S]*?)```/.exec(README)?.[1] ?? '';
    const { settings, warnings } = mergeLayers([layer(JSON.parse(example) as Record<string, Json>)]);
    expect(warnings).toEqual([]);
    expect(keyTable(settings.keys).faults).toEqual([]);
    expect(sources.map(({ id }) => id as string)).toEqual(expect.arrayContaining([...settings.remindersOff]));
  });
});

const LAMP = [
  '/** Seconds between two flashes of the lamp. */', 'export const PERIOD = 12;', '', '/** Whether the lamp is lit at this second. */', 'export function isLit(second) {', '  return second % PERIOD < 2;', '}', '',
].join('\n');

/** The status bar without its figures, which change with every word of a tool's description. */
const numberless = (line: string): string => (line.startsWith('demo · ') ? line.replace(/[\d.,]+/g, '0') : line);

function jsonIn(shown: string | undefined): Json | undefined {
  try {
    return shown === undefined ? undefined : JSON.parse(shown) as Json;
  } catch {
    return undefined;
  }
}

describe('the rest of the README', () => {
  it('names every environment variable that the program reads', () => {
    const files = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
    const read = files.flatMap((name) => [...text(`src/${name}`).matchAll(/(?:\benv\[|\bset\(|\bread\(|settingOf\(env, )'([A-Z][A-Z0-9_]+)'/g)].map(([, variable = '']) => variable));
    expect(read).toContain('PINION_HOME');
    const named = rowsOf('environment').flatMap(([cell]) => codesIn(cell));
    expect(named).toEqual(expect.arrayContaining([...new Set(read)]));
    expect(new Set(named).size).toBe(named.length);
  });

  it('has a floor plan with every room, and no other', () => {
    const folders = (path: string): readonly string[] => readdirSync(`${root}${path}`).filter((name) => statSync(`${root}${path}/${name}`).isDirectory()).map((name) => `${path}/${name}`);
    const rooms = ['bin', 'commands', 'test', ...folders('src')];
    expect(rowsOf('plan').map(([room]) => codesIn(room)[0] ?? '').toSorted()).toEqual(rooms.toSorted());
  });

  it('has a library example that does what it says', () => {
    const example = /```js\n([\s\S]*?)```/.exec(README)?.[1] ?? '';
    const said = [...example.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, words = '']) => words);
    expect(said.length).toBeGreaterThan(2);
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', example], { cwd: root, encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: `${said.join('\n')}\n`, stderr: '' });
  });

  it('begins with what is seen when the same is typed, in 80 columns', async () => {
    const frame = (/```text\n([\s\S]*?)```/.exec(README)?.[1] ?? '').trimEnd().split('\n');
    const { cwd, open } = product({ 'lighthouse/src/lamp.js': LAMP, 'lighthouse/README.md': '# Lighthouse\n\nA small lamp.\n' });
    const folder = join(cwd, 'lighthouse');
    spawnSync('git', ['init', '-q', '-b', 'main', folder]);
    const terminal = open({ rows: 60, cwd: folder });
    await terminal.waitFor('Go on with the demo model');
    terminal.type('\r');
    for (const typed of frame.flatMap((line) => /^› (?!\d yes)(.*)$/.exec(line)?.slice(1) ?? [])) {
      await terminal.waitFor((screen) => screen.some((line) => line.startsWith('> Ask, or /')) && !screen.some((line) => line.includes('Esc interrupts')));
      // Completion takes the first Enter.
      terminal.enter(`${typed} `);
      await terminal.waitFor(`› ${typed}`);
    }
    await terminal.waitFor('Enter takes it');
    await terminal.waitFor(/^demo · .*\b1 pin.*cache [1-9]/m);
    await terminal.settled();
    // A machine under load may keep a reminder waiting beyond its second, which is said.
    const lines = terminal.lines();
    const shown = lines.filter((line, i) => ![line, line === '' ? lines[i - 1] ?? '' : ''].some((one) => /^▲ reminder \w+: no answer within/.test(one)));
    const from = shown.findIndex((line) => line === frame[0]);
    expect(shown.slice(from, from + frame.length).map(numberless)).toEqual(frame.map(numberless));
  });

  it('fits the page: what is to be read, besides the tables in which things are looked up', () => {
    expect(README.split('\n').filter((line) => !line.startsWith('|')).length).toBeLessThanOrEqual(420);
  });

  it('links to files that are there', () => {
    const links = [...README.matchAll(/\]\((?!https?:|#)([^)#]+)\)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(0);
    for (const path of links) expect(statSync(`${root}${path}`).isFile(), path).toBe(true);
  });
});
