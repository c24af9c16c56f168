import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import type { Answer, Asker, Question } from '#domain/ports.ts';
import type { Call, ProposedFile } from '#domain/tool.ts';
import { messageOf } from '#lib/errors.ts';
import { oneLine } from '#lib/names.ts';
import type { EditorLink } from './link.ts';

export interface DiffDoors {
  /** The editor to show changes in; undefined when there is none, or it is not to be used for that. */
  link(): EditorLink | undefined;
  /** The file as the call would leave it; undefined for calls that cannot be shown so. */
  propose(call: Call): Promise<ProposedFile | undefined>;
  /** The user has changed the text in the editor and saved it: this is to be written instead. */
  amend(call: Call, proposed: ProposedFile, text: string): void;
  /** Resolves when a call that was allowed has run, or does not within a few seconds. */
  ran(call: Call): Promise<void>;
  /** One line for the person. */
  say(text: string): void;
}

type Permission = Extract<Question, { readonly kind: 'permission' }>;

const CLOSE_MS = 1000;
/** UTF-16 units of a text that is shown. */
const MOST_SHOWN = 2 * 1024 * 1024;

/**
 * Asks about changes of files in the terminal and in the editor at once; the first answer counts, and the other place is closed.
 * Saved in the editor is yes, closed or rejected is no. What goes wrong there leaves the question in the terminal as it is.
 */
export function inBothPlaces(asker: Asker, doors: DiffDoors): Asker {
  return {
    async ask(question, signal) {
      const link = question.kind === 'permission' ? doors.link() : undefined;
      if (question.kind !== 'permission' || link === undefined) return asker.ask(question, signal);
      const id = randomBytes(3).toString('hex');
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      const inTerminal = asker.ask(question, until);
      // By these marks the plug-ins tell a change that is asked about from a file.
      const tab: Tab = { name: (file) => `✻ [Pinion] ${file} (${id}) ⧉`, shown: undefined };
      const inEditor = answerOf(question, link, { doors, tab, signal: until });
      let answer: Answer | undefined;
      try {
        answer = await firstOf(inTerminal, inEditor);
        return answer;
      } finally {
        over.abort(new Error('answered elsewhere'));
        void closeTab(tab, question.call, answer, link, doors);
      }
    },
  };
}

/** The terminal's answer, whatever it is, or the editor's if it gives one earlier. */
function firstOf(inTerminal: Promise<Answer | undefined>, inEditor: Promise<Answer | undefined>): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    inTerminal.then(resolve, reject);
    inEditor.then((answer) => { if (answer !== undefined) resolve(answer); }, () => undefined);
  });
}

interface Tab {
  readonly name: (file: string) => string;
  /** Its name, once the editor was asked to show it. */
  shown: string | undefined;
}

interface Asking {
  readonly doors: DiffDoors;
  readonly tab: Tab;
  readonly signal: AbortSignal;
}

/** Of what was agreed to when it is written: an editor looks at the file anew when its tab goes. */
async function closeTab({ shown }: Tab, call: Call, answer: Answer | undefined, link: EditorLink, doors: DiffDoors): Promise<void> {
  if (shown === undefined) return;
  if (answer?.kind === 'yes' || answer?.kind === 'always') await doors.ran(call);
  await link.ask('close_tab', { tab_name: shown }, CLOSE_MS);
}

async function answerOf({ call }: Permission, link: EditorLink, { doors, tab, signal }: Asking): Promise<Answer | undefined> {
  const proposed = await doors.propose(call).catch(() => undefined);
  if (proposed === undefined || proposed.after.length > MOST_SHOWN || signal.aborted) return undefined;
  tab.shown = tab.name(oneLine(basename(proposed.path), 80));
  try {
    const { texts: [word, text], failed } = await link.call('openDiff', { old_file_path: proposed.path, new_file_path: proposed.path, new_file_contents: withLineFeeds(proposed.after), tab_name: tab.shown }, signal);
    if (signal.aborted) return undefined;
    if (failed) throw new Error(oneLine(word ?? 'it refused', 200));
    if (word === 'FILE_SAVED') {
      const changed = text === undefined ? undefined : changedText(proposed.after, text);
      if (changed !== undefined) doors.amend(call, proposed, changed);
      return { kind: 'yes' };
    }
    if (word === 'DIFF_REJECTED' || word === 'TAB_CLOSED') return { kind: 'no' };
    throw new Error(`it answered ${oneLine(word ?? 'nothing', 80)}`);
  } catch (error) {
    if (!signal.aborted) doors.say(`${link.lock()?.name ?? 'The editor'} cannot show this change: ${messageOf(error)}.`);
    return undefined;
  }
}

/** What the user made of the text, with the line ends that it was to have; undefined when nothing but line ends differs. */
function changedText(proposed: string, saved: string): string | undefined {
  const [before, after] = [withLineFeeds(proposed), withLineFeeds(saved)];
  // Editors end the last line of what they save.
  if (before === after || (!before.endsWith('\n') && `${before}\n` === after)) return undefined;
  return endsInCrLf(proposed) ? after.replaceAll('\n', '\r\n') : after;
}

function withLineFeeds(text: string): string {
  return text.replace(/\r\n/g, '\n');
}

function endsInCrLf(text: string): boolean {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text);
}
