import { Box } from 'ink';
import { useSyncExternalStore } from 'react';
import { ComposerView } from './composer.tsx';
import type { Picture } from './desk.ts';
import type { Store } from './store.ts';
import { Lines, Transcript } from './transcript.tsx';

/** The whole screen. It draws pictures and knows nothing else: keys, state and layout are decided before. */
export function App({ pictures }: { readonly pictures: Store<Picture> }) {
  const { printed, above, composer, below } = useSyncExternalStore(pictures.subscribe, pictures.get);
  return (
    <Box flexDirection="column">
      <Transcript printed={printed} />
      <Lines lines={above} />
      {composer.length === 0 ? null : <ComposerView lines={composer} />}
      <Lines lines={below} />
    </Box>
  );
}
