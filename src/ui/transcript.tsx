import { Box, Static, Text } from 'ink';
import { memo } from 'react';
import type { Printed } from './history.ts';

/** Names of lines. One `Text` a line: ink remembers every text that it measured, and most lines come again. */
export function Lines({ lines }: { readonly lines: readonly string[] }) {
  return (
    <Box flexDirection="column">
      {lines.map((line, index) => <Text key={index} wrap="truncate">{line}</Text>)}
    </Box>
  );
}

const print = ({ key, text }: Printed) => <Text key={key}>{text}</Text>;

/** What is finished, printed once. Memoised with a stable child: a parent's redraw must not pass ink's throttle by way of `Static`. */
export const Transcript = memo(function Transcript({ printed }: { readonly printed: readonly Printed[] }) {
  return <Static items={[...printed]}>{print}</Static>;
});
