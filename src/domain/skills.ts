import type { Session } from './session.ts';
import type { FileTouch } from './tool.ts';

/** A skill or Markdown command as it is listed: nothing of its body. */
export interface SkillView {
  /** By which the model and the user call it; unique. */
  readonly name: string;
  /** What it is for and when to use it, on one line; empty when the file says nothing. */
  readonly description: string;
  readonly scope: 'user' | 'project' | 'nested';
  readonly form: 'skill' | 'command';
  /** Real path of its Markdown file. */
  readonly file: string;
  readonly modelMayUse: boolean;
  readonly userMayUse: boolean;
  readonly argumentHint?: string;
}

/** A skill's text with arguments put in and its commands run, ready for the model. */
export interface LoadedSkill {
  readonly view: SkillView;
  readonly text: string;
  readonly notes: readonly string[];
  readonly files: readonly FileTouch[];
}

export interface SkillPort {
  /** What may be used now: the user's and (in a trusted folder) the project's, and those of folders whose files the session has touched. */
  list(session: Session, signal: AbortSignal): Promise<readonly SkillView[]>;
  /** Its commands (`!`) run only where the gate allows them. `problem`: one line, why it cannot be used. */
  load(name: string, args: string, by: 'user' | 'model', session: Session, signal: AbortSignal): Promise<LoadedSkill | { readonly problem: string }>;
}
