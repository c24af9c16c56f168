/** An error whose message is for the person at the keyboard: what is wrong, where, what to do. Shown without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** The message of whatever was thrown, on one line. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/\s+/g, ' ').trim() || 'unknown error';
}
