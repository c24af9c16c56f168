import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Call, CallId, ProposedFile } from '#domain/tool.ts';
import { createIde, type Ide } from '#ide/ide.ts';
import { pathsOf } from '../attachments/world.ts';
import { tempFolder } from '../support/temp.ts';

export const SIGNAL = new AbortController().signal;
export const call = (tool = 'Edit', input: Call['input'] = {}): Call => ({ id: 'toolu_1' as CallId, tool, input });

export interface IdeBench {
  readonly work: string;
  readonly locks: string;
  readonly ide: Ide;
  readonly said: string[];
  readonly mentions: string[];
  readonly amended: string[];
  changes(): number;
  /** What calls would leave, by the name of their tool. */
  readonly proposals: Map<string, ProposedFile>;
}

/** A wing over a real folder; editors lay their locks in `locks`. */
export function ideBench(files: Readonly<Record<string, string>> = {}, denied: readonly string[] = []): IdeBench {
  const work = tempFolder(files);
  const locks = join(tempFolder(), 'ide');
  const said: string[] = [];
  const mentions: string[] = [];
  const amended: string[] = [];
  const proposals = new Map<string, ProposedFile>();
  let changes = 0;
  const ide = createIde({
    folders: [locks], cwd: work, version: '1.2.3', paths: pathsOf(work, denied), showsDiffs: () => true,
    onChange: () => { changes += 1; }, say: (text) => { said.push(text); },
    onMention: (path, lines) => { mentions.push(`${path}${lines === undefined ? '' : `#${lines.from}-${lines.to}`}`); },
    propose: ({ tool }) => Promise.resolve(proposals.get(tool)), ran: () => Promise.resolve(), amend: (_call, _proposed, text) => { amended.push(text); },
  });
  onTestFinished(() => { ide.close(); });
  return { work, locks, ide, said, mentions, amended, proposals, changes: () => changes };
}
