import type { SkillPort } from '#domain/skills.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';
import type { ToolWing } from './wire-tools.ts';

export interface SkillOptions {
  readonly place: Place;
  readonly configuration: Configuration;
  readonly tools: () => ToolWing;
}

/** Skills and Markdown commands of the user and, once it is trusted, of the folder. */
export function wireSkills(_options: SkillOptions): SkillPort {
  return { list: () => Promise.resolve([]), load: () => Promise.resolve({ problem: 'there are no skills' }) };
}
