/** What one of several generators did: it yielded an event, or ended with a result. */
export interface Step<T, R> {
  readonly from: number;
  readonly event?: T;
  readonly result?: R;
}

/** Runs generators side by side and yields what each does as it comes; `from` is its place in the list. */
export async function* merge<T, R>(works: readonly AsyncGenerator<T, R>[]): AsyncGenerator<Step<T, R>> {
  const next = async (from: number, work: AsyncGenerator<T, R>): Promise<{ from: number; work: AsyncGenerator<T, R>; step: IteratorResult<T, R> }> => ({ from, work, step: await work.next() });
  const pending = new Map(works.map((work, from) => [from, next(from, work)]));
  while (pending.size > 0) {
    const { from, work, step } = await Promise.race(pending.values());
    if (step.done === true) {
      pending.delete(from);
      yield { from, result: step.value };
    } else {
      pending.set(from, next(from, work));
      yield { from, event: step.value };
    }
  }
}
