// History, a live part and a composer, drawn by ink through our stdout. Keys: `+` prints a line for good, `t` streams,
// `g` makes the live part ten lines taller, `c` takes it away, `q` ends; everything else is typed.
import { Box, render, Static, Text } from 'ink';
import { memo, useSyncExternalStore } from 'react';
import { width } from '#lib/terminal.ts';
import { composerLines } from '#ui/composer-lines.ts';
import { createComposer } from '#ui/composer-store.ts';
import { keyTable } from '#ui/keys.ts';
import { openTerminal } from '#ui/terminal.ts';
import { themeOf } from '#ui/theme.ts';

const keys = keyTable();
const theme = themeOf('dark', process.env);
interface State { readonly printed: readonly string[]; readonly live: readonly string[]; readonly version: number }
let state: State = { printed: [], live: [], version: 0 };
const listeners = new Set<() => void>();
const change = (next: Partial<State>): void => {
  state = { ...state, ...next, version: state.version + 1 };
  for (const listener of listeners) listener();
};

const terminal = openTerminal({
  stdin: process.stdin, stdout: process.stdout, measure: width,
  onInput(event) {
    if (event.type === 'key' && event.text === '+') change({ printed: [...state.printed, `history ${state.printed.length}`] });
    else if (event.type === 'key' && event.text === 'g') change({ live: [...state.live, ...Array.from({ length: 10 }, (_, index) => `live ${state.live.length + index}`)] });
    else if (event.type === 'key' && event.text === 'c') change({ live: [] });
    else if (event.type === 'key' && event.text === 't') stream(0);
    else if (event.type === 'key' && event.text === 'q') end();
    else composer.input(event);
  },
});
const composer = createComposer({ keys, columns: terminal.screen.columns, measure: width });
composer.subscribe(() => { change({}); });
terminal.screen.on('resize', () => {
  composer.resize(terminal.screen.columns);
  change({});
});

function stream(count: number): void {
  if (count === 300) {
    change({ printed: [...state.printed, 'streamed'] });
    return;
  }
  const room = Math.max(10, state.live.length);
  change(count % 3 === 0 ? { live: [...state.live, `delta ${count}`].slice(-room) } : { live: [...state.live.slice(0, -1), `delta ${count}`] });
  // A pause now and then, as models make them.
  setTimeout(stream, count % 50 === 49 ? 400 : 2, count + 1);
}
function end(): void {
  instance.unmount();
  terminal.close();
}

const History = memo(({ items }: { readonly items: readonly string[] }) => <Static items={[...items]}>{(item) => <Text key={item}>{item}</Text>}</Static>);
function App() {
  useSyncExternalStore((listener) => { listeners.add(listener); return () => { listeners.delete(listener); }; }, () => state.version);
  const { columns, rows } = terminal.screen.window;
  return (
    <Box flexDirection="column">
      <History items={state.printed} />
      {state.live.length === 0 ? null : <Text wrap="truncate">{state.live.join('\n')}</Text>}
      <Text wrap="truncate">{composerLines(composer.get(), { columns, rows, theme, measure: width, keys }).join('\n')}</Text>
      <Text>status</Text>
    </Box>
  );
}
const instance = render(<App />, { stdout: terminal.screen, exitOnCtrlC: false, patchConsole: false });
