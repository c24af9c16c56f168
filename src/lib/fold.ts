/**
 * A fold over an append-only list, remembered per list and carried on from where it stood: asking again after one more
 * element costs one step. `step` must return a new state and leave the old one as it was.
 *
 * A list that became shorter is folded anew; a list of the same or greater length is taken to begin as before.
 */
export function defineFold<T, S>(initial: S, step: (state: S, element: T, index: number) => S): (list: readonly T[]) => S {
  const remembered = new WeakMap<readonly T[], { length: number; state: S }>();
  return (list) => {
    const at = remembered.get(list);
    let { length, state } = at !== undefined && at.length <= list.length ? at : { length: 0, state: initial };
    for (; length < list.length; length += 1) state = step(state, list[length] as T, length);
    remembered.set(list, { length, state });
    return state;
  };
}
