import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandTree, type Node, SHELLS } from '#cli/completion.ts';
import { completionScript } from '#cli/completion-scripts.ts';
import { tempFolder } from '../support/temp.ts';

const tree = commandTree();
const all = (node: Node): readonly Node[] => [node, ...node.children.flatMap(all)];
const FILES = { 'src/a.ts': '', 'package.json': '{}', 'a b.txt': '' };
/** What the program answers when it is asked. */
const ASKED = `pinion() { case "$3" in models) printf 'opus\\tnewest\\nclaude-x\\tX\\n' ;; sessions) printf '0f00-1\\tone\\n0f00-2\\ttwo\\n' ;; servers) printf 'files\\tuser\\n' ;; esac; }`;

/** What bash offers for each of these lines; the cursor is behind the last word. */
function inBash(lines: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
  const asks = lines.map((words) => `COMP_WORDS=(${words.map(quoted).join(' ')}); COMP_CWORD=${words.length - 1}; _pinion; printf '%s\\n' "\${COMPREPLY[@]}"; echo ----`);
  const { stdout, stderr } = spawnSync('/bin/bash', ['--norc', '-c', `${ASKED}\n${completionScript('bash', tree)}\n${asks.join('\n')}`], { encoding: 'utf8', cwd: tempFolder(FILES), env: { PATH: process.env['PATH'] ?? '' } });
  expect(stderr.replaceAll(/.*compopt: not currently executing.*\n/g, '')).toBe('');
  return stdout.split('----\n').slice(0, -1).map((block) => block.split('\n').filter((word) => word !== '').sort());
}

describe('the command line, as its definitions tell it', () => {
  it('has the flags of help and no hidden ones, and the programs within the program', () => {
    const names = tree.flags.flatMap((flag) => flag.names);
    expect(names).toEqual(expect.arrayContaining(['-p', '--print', '--model', '--pin', '--settings', '--help']));
    expect(names).not.toContain('--allowedTools');
    expect(new Set(names).size).toBe(names.length);
    expect(tree.children.map(({ path }) => path.join(' '))).toEqual(['mcp', 'acp', 'completion']);
    expect(all(tree).map(({ path }) => path.join(' '))).toEqual(expect.arrayContaining(['mcp add', 'mcp test', 'mcp list']));
  });

  it('knows what follows a flag', () => {
    const value = (name: string): unknown => tree.flags.find(({ names }) => names.includes(name))?.value;
    expect(value('--output-format')).toEqual(['text', 'json', 'stream-json']);
    expect(value('--model')).toBe('models');
    expect(value('-r')).toBe('sessions');
    for (const flag of ['--pin', '--settings', '--mcp-config']) expect(value(flag), flag).toBe('files');
    expect(value('--add-dir')).toBe('folders');
    expect(value('--max-turns')).toBe('any');
    expect(value('--print')).toBeUndefined();
  });
});

describe('bash', () => {
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['a flag', ['pinion', '--permission-m'], ['--permission-mode']],
    ['the words of a flag', ['pinion', '--permission-mode', 'a'], ['acceptEdits', 'auto']],
    ['the words of a flag behind =', ['pinion', '--output-format', '=', 'j'], ['json']],
    ['the words of a flag right behind =', ['pinion', '--output-format', '='], ['json', 'stream-json', 'text']],
    ['a model', ['pinion', '-p', '--model', ''], ['claude-x', 'opus']],
    ['a session', ['pinion', '-r', '0f00-2'], ['0f00-2']],
    ['a file', ['pinion', '--pin', 'pack'], ['package.json']],
    ['a file with a blank in its name', ['pinion', '--settings', 'a'], ['a b.txt']],
    ['a folder', ['pinion', '--add-dir', ''], ['src']],
    ['nothing for what nobody can guess', ['pinion', '--max-turns', ''], []],
    ['a program within the program', ['pinion', ''], ['acp', 'completion', 'mcp']],
    ['nothing for a prompt', ['pinion', '-p', 'f'], []],
    ['what mcp can do', ['pinion', 'mcp', 'ad'], ['add', 'add-json']],
    ['flags of what mcp can do', ['pinion', 'mcp', 'add', '--tr'], ['--transport']],
    ['words of these', ['pinion', 'mcp', 'add', '-t', 's'], ['sse', 'stdio']],
    ['a server', ['pinion', 'mcp', 'test', ''], ['files']],
    ['no server where a new one is named', ['pinion', 'mcp', 'add', ''], []],
    ['a shell', ['pinion', 'completion', ''], ['bash', 'fish', 'zsh']],
    ['flags of acp, not of the program', ['pinion', 'acp', '--p'], ['--permission-mode']],
    ['nothing behind --', ['pinion', 'mcp', 'add', 'x', '--', '--tr'], []],
    ['nothing for a word that is none', ['pinion', '--permission-mode', '$(touch x)'], []],
  ];
  let offered: readonly (readonly string[])[] | undefined;

  it.each(cases.map(([what, , words], at) => [what, words, at] as const))('completes %s', (_, words, at) => {
    offered ??= inBash(cases.map(([, line]) => line));
    expect(offered[at]).toEqual(words);
  });
});

describe('the scripts', () => {
  it.each(SHELLS.filter((shell) => existsSync(`/bin/${shell}`) || existsSync(`/usr/bin/${shell}`)))('is read by %s without complaint', (shell) => {
    const { status, stderr } = spawnSync(shell, ['-n'], { input: completionScript(shell, tree), encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it.each(SHELLS)('for %s names every flag', (shell) => {
    const script = completionScript(shell, tree);
    for (const { names } of all(tree).flatMap((node) => node.flags)) for (const name of names) expect(script).toContain(shell === 'fish' ? ` ${name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`} ` : name);
  });
});
