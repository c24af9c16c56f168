import { Text } from 'ink';
import { memo, type ReactElement } from 'react';

/**
 * The composer drawn: lines of `composerLines`, which fit the columns already. It takes no keys and holds no state; the real
 * cursor is put where the lines' mark says by the stdout object, with the frame, because ink's own cursor is lost whenever
 * another component alone is drawn anew.
 */
export const ComposerView = memo(function ComposerView({ lines }: { readonly lines: readonly string[] }): ReactElement {
  return <Text wrap="truncate">{lines.join('\n')}</Text>;
});
