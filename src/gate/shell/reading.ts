/** What a program that only looks is going to look at; or why it is not sure that it only looks. */
export type Reading =
  | {
    readonly paths: readonly string[];
    /** Folders that it reads through to the bottom. */
    readonly trees?: readonly { readonly path: string; readonly hidden: boolean }[];
  }
  | { readonly why: string };
