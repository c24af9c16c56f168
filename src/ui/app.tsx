import { Box } from 'ink';
import { useSyncExternalStore } from 'react';
import type { Picture } from './desk.ts';
import type { LineNames } from './line-names.ts';
import type { Store } from './store.ts';
import { Lines, Transcript } from './transcript.tsx';

/** The whole screen. It draws pictures and knows nothing else: keys, state and layout are decided before. */
export function App({ pictures, names }: { readonly pictures: Store<Picture>; readonly names: LineNames }) {
  const { printed, above, composer, below } = useSyncExternalStore(pictures.subscribe, pictures.get);
  names.tidy();
  return (
    <Box flexDirection="column">
      <Transcript printed={printed} />
      <Lines lines={[...above, ...composer, ...below].map(names.of)} />
    </Box>
  );
}
