import type { Entry } from '#domain/entry.ts';

const SAME_CALLS = 3;
const SAME_FAILURES = 5;

interface Done {
  readonly tool: string;
  readonly call: string;
  readonly failure: string | undefined;
}

/**
 * Says so when the calls after entry number `since` go round in a circle: the same call with the same result three times
 * in a row, or the same failure five times in a row whatever was asked. Different calls that succeed never count.
 */
export function repetition(log: readonly Entry[], since: number): string | undefined {
  const inputs = new Map<string, string>();
  const done: Done[] = [];
  for (const entry of log.slice(since)) {
    if (entry.type === 'assistant') {
      for (const block of entry.content) if (block.type === 'tool_use') inputs.set(block.id, JSON.stringify(block.input));
    }
    if (entry.type !== 'toolResult') continue;
    const { kind, content } = entry.result;
    const result = JSON.stringify([kind, content]);
    done.push({ tool: entry.tool, call: JSON.stringify([entry.tool, inputs.get(entry.callId), result]), failure: kind === 'failed' ? result : undefined });
  }
  const circle = run(done.map(({ call }) => call), SAME_CALLS);
  if (circle !== undefined) return `${done[circle]?.tool ?? 'A tool'} was called ${SAME_CALLS} times in a row with the same input and the same result`;
  const wall = run(done.map(({ failure }) => failure), SAME_FAILURES);
  return wall === undefined ? undefined : `${done[wall]?.tool ?? 'A tool'} failed ${SAME_FAILURES} times in a row in the same way`;
}

/** Where a run of `length` equal values ends; undefined values never make one. */
function run(values: readonly (string | undefined)[], length: number): number | undefined {
  let same = 0;
  for (const [at, value] of values.entries()) {
    same = value === undefined ? 0 : value === values[at - 1] ? same + 1 : 1;
    if (same >= length) return at;
  }
  return undefined;
}
