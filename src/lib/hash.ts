import { createHash } from 'node:crypto';

/** SHA-256 of the bytes (UTF-8 for a string), 64 lower-case hex digits. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
