import { describe, expect, it } from 'vitest';
import { Answered, parseArguments, splitRules, UsageError } from '#cli/arguments.ts';

describe('the command line', () => {
  it('is read', () => {
    expect(parseArguments([])).toMatchObject({ print: false, continue: false, outputFormat: 'text', pin: [], allowedTools: [], disallowedTools: [], addDir: [], trust: false });
    expect(parseArguments(['-p', 'hi', '--output-format', 'json', '--pin', 'a', '--pin', 'b', '--max-turns', '3', '--permission-mode', 'plan', '--add-dir', '..', '--trust', '--model', 'opus']))
      .toMatchObject({ print: true, prompt: 'hi', outputFormat: 'json', pin: ['a', 'b'], maxTurns: 3, permissionMode: 'plan', addDir: ['..'], trust: true, model: 'opus' });
    expect(parseArguments(['-c', '-p', '/compact'])).toMatchObject({ continue: true, print: true, prompt: '/compact' });
    expect(parseArguments(['-r', 'abc', '-p', 'x'])).toMatchObject({ resume: 'abc', prompt: 'x' });
    const id = '5b1f3d2a-9c64-4f6b-8f0e-2f6a1c7d9e10';
    expect(parseArguments(['-p', '--output-format', 'stream-json', '--input-format', 'stream-json', '--permission-prompt-tool', 'stdio', '--session-id', id.toUpperCase(), '--no-session-persistence', '--fallback-model', 'haiku', '--system-prompt', 's']))
      .toMatchObject({ permissionPromptTool: 'stdio', sessionId: id, sessionPersistence: false, fallbackModel: 'haiku', systemPrompt: 's' });
    expect(parseArguments(['-c', '--fork-session', '--session-id', id])).toMatchObject({ forkSession: true, sessionId: id });
    expect(parseArguments(['-r'])).toMatchObject({ resume: true });
    expect(parseArguments(['--dangerously-skip-permissions'])).toMatchObject({ permissionMode: 'bypassPermissions' });
  });
  it('splits rules outside of brackets, in both spellings of the flag', () => {
    expect(splitRules('Bash(git log *),Edit Read(src/**, x)')).toEqual(['Bash(git log *)', 'Edit', 'Read(src/**, x)']);
    expect(parseArguments(['--allowedTools', 'Edit,Write', '--disallowed-tools', 'Bash']).allowedTools).toEqual(['Edit', 'Write']);
    expect(parseArguments(['--disallowedTools', 'Bash']).disallowedTools).toEqual(['Bash']);
  });
  it.each([
    [['--nonsense'], /unknown option '--nonsense'/],
    [['--max-turns', '0'], /whole number from 1/],
    [['--output-format', 'xml', '-p', 'x'], /Allowed choices are text, json/],
    [['--permission-mode', 'yolo'], /Allowed choices/],
    [['--output-format', 'json'], /goes with -p/],
    [['-c', '-r', 'x'], /use one of them/],
    [['-p', '-r'], /needs the id/],
    [['two', 'words'], /put it in quotes/],
    [['--pin'], /argument missing/],
    [['-p', 'x', '--include-partial-messages'], /goes with -p --output-format stream-json/],
    [['-p', 'x', '--input-format', 'stream-json'], /goes with -p --output-format stream-json/],
    [['--session-id', 'x'], /UUID/],
    [['-c', '--session-id', '5b1f3d2a-9c64-4f6b-8f0e-2f6a1c7d9e10'], /--fork-session/],
    [['--fork-session'], /-c or -r/],
    [['--no-session-persistence'], /goes with -p/],
    [['-p', 'x', '--output-format', 'stream-json', '--permission-prompt-tool', 'stdio'], /--input-format stream-json/],
    [['-p', 'x', '--permission-prompt-tool', 'mcp__x__y'], /stdio/],
  ])('%j is wrong, in one line', (argv, message) => {
    expect(() => parseArguments(argv)).toThrow(UsageError);
    expect(() => parseArguments(argv)).toThrow(message);
    try {
      parseArguments(argv);
    } catch (error) {
      expect(String(error)).not.toContain('\n');
    }
  });
  it.each([80, 40])('draws help for %i columns', (columns) => {
    const help = helpAt(columns);
    expect(help.split('\n').filter((line) => line.length > columns)).toEqual([]);
    expect([...help.matchAll(/^(\S[\w ]*):$/gm)].map(([, head]) => head)).toEqual(['Arguments', 'Print mode', 'Session', 'Model', 'Connections', 'Permissions', 'About']);
    expect(help).not.toContain('default: false');
    expect(help.match(/^ {2}\S/gm)?.length).toBeGreaterThan(15);
  });
  it('answers help and version itself', () => {
    expect(() => parseArguments(['--version'])).toThrow(Answered);
    try {
      parseArguments(['--help']);
    } catch (error) {
      expect(error).toBeInstanceOf(Answered);
      expect((error as Answered).message).toContain('--pin <path>');
      expect((error as Answered).message).toContain('Exit codes');
      expect((error as Answered).message).not.toContain('allowedTools');
    }
  });
});

function helpAt(columns: number): string {
  try {
    parseArguments(['--help'], columns);
  } catch (error) {
    if (error instanceof Answered) return error.message;
  }
  throw new Error('help is an answer');
}
