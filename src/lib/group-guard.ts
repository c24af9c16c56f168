/** Ends a group of processes when this program is gone, however it went. */
export interface GroupGuard {
  /** `pid` leads the group; the mark names it to `release`. Called before the group is started, without a pid, no moment goes unguarded. */
  watch(mark: string, pid?: number): void;
  release(mark: string): void;
}
