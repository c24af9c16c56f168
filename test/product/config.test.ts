import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { product } from '../support/product.ts';

describe('settings on the command line', () => {
  it('are shown and written by /config, and checked first', async () => {
    const { run, home } = product();
    expect(await run(['-p', '/config set theme light'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^theme: light/) as string });
    expect(JSON.parse(readFileSync(join(home, 'settings.json'), 'utf8'))).toEqual({ theme: 'light' });
    expect(await run(['-p', '/config theme'])).toMatchObject({ code: 0, stdout: expect.stringContaining(join(home, 'settings.json')) as string });
    expect(await run(['-p', '/config set theme blue'])).toMatchObject({ code: 2, stdout: '', stderr: 'pinion: "theme" must be one of dark, light, plain.\n' });
  });

  it('come from --settings too, where what is wrong is bad input', async () => {
    const { run } = product({ 'mine.json': '{"compactAt":12345}' });
    expect(await run(['-p', '--settings', 'mine.json', '/config compactAt'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^compactAt: 12345[\s\S]*mine\.json/) as string });
    for (const [given, problem] of [['none.json', 'there is no such file'], ['{"theme":', 'is no JSON'], ['{"theme":1}', '"theme" must be one of']] as const) {
      const { code, stdout, stderr } = await run(['-p', '--settings', given, 'hi']);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^pinion: --settings[^\n]*\n$/);
      expect(stderr).toContain(problem);
    }
  });

  it('are chosen from a list on a screen', async () => {
    const { open, home } = product();
    const terminal = open({ columns: 40, rows: 24, args: ['--settings', '{"theme":"plain"}'] });
    await terminal.waitFor('Go on with the demo model');
    terminal.type('\r');
    await terminal.waitFor('> Ask, or /');
    terminal.enter('/config ');
    await terminal.waitFor('type to narrow');
    terminal.type('diffTool');
    await terminal.waitFor(/^› diffTool/m);
    terminal.type('\r');
    await terminal.waitFor(/^. {0,2}(?:› )?terminal/m);
    terminal.type('\x1b[B\r');
    await terminal.waitFor('diffTool: terminal');
    expect(JSON.parse(readFileSync(join(home, 'settings.json'), 'utf8'))).toEqual({ diffTool: 'terminal' });
    terminal.enter('/exit');
    await terminal.expectLeft();
  });
});
