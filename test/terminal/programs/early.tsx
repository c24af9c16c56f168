// The composer alone first; ink after as many ms as the argument says. What is sent is printed.
import { Box, render, Static, Text } from 'ink';
import { useSyncExternalStore } from 'react';
import { width } from '#lib/terminal.ts';
import { composerLines } from '#ui/composer-lines.ts';
import { startEarly } from '#ui/early.ts';
import { keyTable } from '#ui/keys.ts';
import { themeOf } from '#ui/theme.ts';

const early = startEarly({ stdin: process.stdin, stdout: process.stdout, env: process.env });
const keys = keyTable();
const theme = themeOf('dark', process.env);
setTimeout(() => {
  const { terminal, composer } = early;
  early.handOver();
  let sent: readonly string[] = [];
  const listeners = new Set<() => void>();
  const changed = (): void => { for (const listener of listeners) listener(); };
  terminal.screen.measureWith(width);
  composer.measureWith(width);
  composer.connect({
    submit(text) { sent = [...sent, `sent: ${text}`]; changed(); }, interrupt: () => false, cycleMode() { sent = [...sent, 'mode']; changed(); },
    takeBack: () => undefined, queue: () => false, background: () => false, completeFile: async (query) => ({ items: [{ insert: `${query}.ts`, label: `${query}.ts` }], more: false }), completeCommand: async () => [],
    exit() { instance.unmount(); terminal.leave(0); }, view: () => undefined, openEditor: async () => undefined,
  });
  terminal.listen((event) => { composer.input(event); });
  function App() {
    const state = useSyncExternalStore(composer.subscribe, composer.get);
    const printed = useSyncExternalStore((listener) => { listeners.add(listener); return () => { listeners.delete(listener); }; }, () => sent);
    return (
      <Box flexDirection="column">
        <Static items={[...printed]}>{(line, index) => <Text key={index}>{line}</Text>}</Static>
        <Text wrap="truncate">{composerLines(state, { ...terminal.screen.window, theme, measure: width, keys }).join('\n')}</Text>
        <Text>ready</Text>
      </Box>
    );
  }
  const instance = render(<App />, { stdout: terminal.screen, exitOnCtrlC: false, patchConsole: false });
}, Number(process.argv[2]));
