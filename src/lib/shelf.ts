/**
 * Checks that no two things of a shelf's list bear one id, and gives the list back in its own order.
 * Throws at start-up: a doubled id is a mistake in our own code.
 */
export function shelf<T extends { readonly id: string }>(name: string, things: readonly T[]): readonly T[] {
  const seen = new Set<string>();
  for (const { id } of things) {
    if (seen.has(id)) throw new Error(`two things on the shelf "${name}" bear the id "${id}"`);
    seen.add(id);
  }
  return things;
}
