import type { EditorView } from '#domain/editor.ts';
import type { Asker } from '#domain/ports.ts';
import type { Arguments } from '#cli/arguments.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';

export interface EditorOptions {
  readonly place: Place;
  readonly args: Arguments;
  readonly configuration: Configuration;
  /** A mention that the editor wants put into the line that is being written. */
  readonly onMention: (text: string) => void;
  readonly onNotice: (text: string) => void;
}

export interface EditorWing extends EditorView {
  /** Looks for an editor and connects, in the background. Never throws. */
  start(): void;
  /** Shows changes that are asked about in the editor as well; whoever answers first decides. */
  asker(asker: Asker): Asker;
  close(): void;
}

/** The editor that the user works in beside this program. */
export function wireEditor(_options: EditorOptions): EditorWing {
  return {
    name: () => undefined, selection: () => undefined, openFile: () => undefined, diagnostics: () => Promise.resolve([]),
    start: () => undefined, asker: (asker) => asker, close: () => undefined,
  };
}
