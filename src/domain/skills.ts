import type { Json } from '#lib/brand.ts';
import type { Part } from './content.ts';
import type { Session } from './session.ts';
import type { FileTouch } from './tool.ts';

/** A skill or Markdown command as it is listed: nothing of its body. */
export interface SkillView {
  /** By which the model and the user call it; unique. Letters, digits, `.`, `_`, `-`; `:` behind the name of a folder. */
  readonly name: string;
  /** What it is for and when to use it, on one line; empty when the file says nothing. At most 1,536 characters. */
  readonly description: string;
  readonly scope: 'user' | 'project' | 'nested';
  readonly form: 'skill' | 'command';
  /** Real path of its Markdown file. */
  readonly file: string;
  /** How a person finds the folder that brings it along: `packages/a` for a nested one. */
  readonly from?: string;
  readonly modelMayUse: boolean;
  readonly userMayUse: boolean;
  /** Not named to the model yet: it is for certain paths, and none of them was touched. */
  readonly dormant?: boolean;
  readonly argumentHint?: string;
  /** Hooks that run while it is followed, as its file says. */
  readonly hooks?: Json;
  /** UTF-8 bytes of its text. */
  readonly bytes: number;
}

/** A skill's text with arguments put in and its commands run, ready for the model. */
export interface LoadedSkill {
  readonly view: SkillView;
  readonly text: string;
  /** The part of the text in which mentions (`@path`) count: what its commands put out is not in it. */
  readonly mentions: string;
  /** What its mentions brought along. Empty for one that the user called: there they are the prompt's own. */
  readonly parts: readonly Part[];
  readonly notes: readonly string[];
  readonly files: readonly FileTouch[];
}

export interface SkillPort {
  /** What may be used now: the user's and (in a trusted folder) the project's, and those of folders whose files the session has touched. */
  list(session: Session, signal: AbortSignal): Promise<readonly SkillView[]>;
  /** Its commands (`!`) run only where the gate allows them. `problem`: one line, why it cannot be used. */
  load(name: string, args: string, by: 'user' | 'model', session: Session, signal: AbortSignal): Promise<LoadedSkill | { readonly problem: string }>;
}
