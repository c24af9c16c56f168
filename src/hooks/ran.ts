/** What a hook's run came to. Texts are cut at {@link MOST_OUTPUT} characters each. */
export interface Ran {
  readonly kind: 'done' | 'failed' | 'timedOut' | 'cancelled';
  readonly stdout: string;
  readonly stderr: string;
  /** Of a command that ended by itself. */
  readonly exitCode?: number;
  /** Why it failed, one line. */
  readonly problem?: string;
}

export const MOST_OUTPUT = 1024 * 1024;

export function failedRun(problem: string): Ran {
  return { kind: 'failed', stdout: '', stderr: '', problem };
}
