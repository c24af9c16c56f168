/** UTF-8 bytes that one token of a result is taken to be. */
export const BYTES_PER_TOKEN = 4;
