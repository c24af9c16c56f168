/** Titles (OSC 0, 1, 2), messages to the desktop (9, 99, 777) and the bell; ended by BEL or ST; without controls inside. */
const SAFE = /^(?:\u001b\](?:0|1|2|9|99|777);[^\u0000-\u001f\u007f-\u009f]{0,2000}(?:\u0007|\u001b\\)|\u0007)+$/;
const MOST = 8192;

/** The sequence, where it is made of nothing but what may be sent to a terminal; else undefined. */
export function safeSequence(text: string): string | undefined {
  return text.length <= MOST && SAFE.test(text) ? text : undefined;
}
