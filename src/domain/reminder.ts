import { defuse } from '#lib/defuse.ts';
import type { Brand, Json } from '#lib/brand.ts';
import type { Part } from './content.ts';
import type { FileTouch } from './tool.ts';

export type SourceId = Brand<'SourceId'>;

/** When sources may speak: the user sent something, or tools have just run. */
export type Moment = 'prompt' | 'step';

export type Form = 'full' | 'brief' | 'delta' | 'gone';

/** What a source said at a moment, as the log keeps it. */
export interface ReminderBody {
  readonly type: 'reminder';
  readonly moment: Moment;
  readonly source: SourceId;
  readonly form: Form;
  /** Goes into the moment's one `<system-reminder>` block; media stand beside it. */
  readonly parts: readonly Part[];
  /** The user's own words that this reminder delivers (queued while the model worked): a text block of their own, last. */
  readonly userTexts?: readonly string[];
  /** What the source saw, in JSON: a later delta is reckoned from it. */
  readonly snapshot: Json;
  /** Files of which this reminder gave the model bytes. */
  readonly files?: readonly FileTouch[];
}

export const REMINDER_TAG = 'system-reminder';

/** The one maker of `<system-reminder>` text: bodies joined by blank lines, in shelf order; look-alike tags inside are defused. */
export function renderReminder(bodies: readonly string[]): string {
  return `<${REMINDER_TAG}>\n${defuse(bodies.join('\n\n'), REMINDER_TAG)}\n</${REMINDER_TAG}>`;
}
