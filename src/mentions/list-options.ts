export interface ListOptions {
  /** Absolute. */
  readonly root: string;
  /** Whether what `.gitignore` files leave out is left out here. */
  readonly respectGitignore: boolean;
}

/** Folders of version control: nothing in them is a project's file. */
export const NEVER_LISTED: readonly string[] = ['.git', '.hg', '.svn'];
