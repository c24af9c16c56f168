/** Wakes whoever waits for something to change. A ring that nobody waits for is kept for the next one who does. */
export interface Bell {
  ring(): void;
  heard(): Promise<void>;
}

export function createBell(): Bell {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async heard() {
      if (!rung) await new Promise<void>((resolve) => { wake = resolve; });
      wake = undefined;
      rung = false;
    },
  };
}
