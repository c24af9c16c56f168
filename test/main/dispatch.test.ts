import { describe, expect, it } from 'vitest';
import { commands } from '#commands/list.ts';
import type { CommandContext } from '#domain/command.ts';
import { commandLine, dispatch, findCommand } from '#main/dispatch.ts';
import { LogSession } from '#session/session.ts';

describe('a line that begins with a slash', () => {
  it('is a command with its arguments', () => {
    expect(commandLine('/todo add  write\ntests ')).toEqual({ name: 'todo', args: 'add  write\ntests' });
    expect(commandLine('/help')).toEqual({ name: 'help', args: '' });
    expect(commandLine('/?')).toEqual({ name: '?', args: '' });
    expect(commandLine('/git:review-2.x_é @a.ts')).toEqual({ name: 'git:review-2.x_é', args: '@a.ts' });
  });
  it('is a prompt when it names a path or is no line of that form', () => {
    expect(commandLine('/etc/hosts looks odd')).toBeUndefined();
    expect(commandLine('what is /help?')).toBeUndefined();
  });
  it('finds commands by their other names too', () => {
    expect(findCommand(commands, 'quit')?.id).toBe('exit');
    expect(findCommand(commands, 'nothing')).toBeUndefined();
  });
  it('with an unknown name suggests the nearest, or the list', async () => {
    const context = { commands, session: new LogSession('s') } as unknown as CommandContext;
    expect(await dispatch({ name: 'pinn', args: '' }, context)).toEqual({ type: 'refuse', message: 'There is no command /pinn. Did you mean /pin?' });
    expect(await dispatch({ name: 'xyzzyxyzzy', args: '' }, context)).toEqual({ type: 'refuse', message: 'There is no command /xyzzyxyzzy. /help lists the commands.' });
  });
});
