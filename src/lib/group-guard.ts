/** Ends a group of processes when this program is gone, however it went. */
export interface GroupGuard {
  /** `pid` leads the group; the mark names it to `release`. Called before the group is started, without a pid, no moment goes unguarded. */
  watch(mark: string, pid?: number): void;
  /** A program that has this in its environment is known by its mark from its first moment on, before anybody knows its pid. */
  environment(mark: string): Readonly<Record<string, string>>;
  release(mark: string): void;
}
