import type { TaskView } from '#domain/tasks.ts';
import { collectOutput } from './output.ts';
import { openKept } from './task-file.ts';

/** Output that the model was not given yet, and up to which byte it then was. */
export interface Reading {
  readonly task: TaskView;
  readonly text: string;
  readonly upTo: number;
}

const MOST_OUTPUT = 30_000;
const TAIL_BYTES = 4000;
const TAIL_UNITS = 1500;
const TAIL_LINES = 12;

/** Reads what is new of a task. `problem`: why its output cannot be kept at present. */
export async function readOutput(task: TaskView, problem?: string): Promise<Reading> {
  const kept = openKept(task.file);
  if (kept === undefined) return { task, text: task.bytes > task.readBytes || task.state !== 'running' ? '[its output is no longer kept]' : '', upTo: task.readBytes };
  try {
    const output = collectOutput({ shown: MOST_OUTPUT });
    let upTo = Math.max(task.readBytes, kept.gone);
    let open: Buffer = Buffer.alloc(0);
    for await (const piece of kept.from(upTo)) {
      const bytes: Buffer = open.length === 0 ? piece : Buffer.concat([open, piece]);
      const whole = wholeCharacters(bytes);
      output.push(bytes.subarray(0, whole));
      open = bytes.subarray(whole);
      upTo += whole;
    }
    // Of a task that has ended nothing more comes that could make a character of it.
    if (task.state !== 'running' && open.length > 0) {
      output.push(open);
      upTo += open.length;
    }
    const gone = kept.gone > task.readBytes ? `[${kept.gone - task.readBytes} bytes of output that came before are no longer kept]\n` : '';
    const text = output.end().text;
    return { task, text: `${gone}${text}${problem === undefined ? '' : `\n[further output cannot be kept: ${problem}]`}`, upTo };
  } finally {
    kept.close();
  }
}

/** Up to where the bytes are whole characters of UTF-8; what is none anyway counts as whole. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
    if (byte < 0x80) return bytes.length;
  }
  return bytes.length;
}

/** How much a task put out, and its last lines. */
export interface Look {
  readonly bytes: number;
  readonly tail: string;
}

/** Looks at tasks; at one that has ended once only. */
export function createLooks(): (path: string, runs: boolean) => Look {
  const ended = new Map<string, Look>();
  return (path, runs) => {
    const look = ended.get(path) ?? lookAt(path);
    if (!runs) ended.set(path, look);
    return look;
  };
}

function lookAt(path: string): Look {
  const kept = openKept(path);
  if (kept === undefined) return { bytes: 0, tail: '' };
  try {
    const bytes = kept.last(TAIL_BYTES);
    const start = bytes.length < TAIL_BYTES ? 0 : bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
    const output = collectOutput({ shown: TAIL_BYTES });
    output.push(bytes.subarray(Math.max(0, start)));
    const lines = output.end().text.trimEnd().split('\n').slice(-TAIL_LINES);
    while (lines.length > 1 && lines.join('\n').length > TAIL_UNITS) lines.shift();
    return { bytes: kept.to, tail: lines.join('\n').slice(-TAIL_UNITS).toWellFormed() };
  } finally {
    kept.close();
  }
}
