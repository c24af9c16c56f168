import { dirname, join } from 'node:path';
import type { Entry, PermissionMode } from '#domain/entry.ts';
import type { StatusLineSetting } from '#domain/settings.ts';
import { createAgreed } from '#gate/agreed.ts';
import type { ScreenEvent } from '#ui/contract.ts';
import { statusLinesOf } from '#ui/status-line-output.ts';
import type { Interactive } from '#main/interactive.ts';
import { createStatusLine, type StatusLineCommand } from './command.ts';
import { coldAt, statusLineInput } from './facts.ts';

/** A person's own status line on a screen. */
export interface StatusLine {
  /** What may be another thing in the line now. */
  heard(event: ScreenEvent): void;
  /** Settings were read anew. */
  reread(): void;
  /** `agreed`: the user has just said yes to what the folder brings along; `once`: for this run only. */
  start(agreed: 'kept' | 'once' | undefined): Promise<void>;
  close(): void;
}

/** Entries after which it is asked anew. */
const TELLING: ReadonlySet<Entry['type']> = new Set(['assistant', 'compaction', 'mode', 'head', 'option', 'cwd', 'rewind']);
/** What our own requests are made with is nothing for a repository's program. */
const OURS = /^(?:ANTHROPIC_(?:API_KEY|AUTH_TOKEN|CUSTOM_HEADERS)|PINION_)/i;

interface Options {
  readonly interactive: Interactive;
  readonly show: (event: ScreenEvent) => void;
  readonly size: () => { readonly columns: number; readonly rows: number };
}

export function hangStatusLine({ interactive, show, size }: Options): StatusLine {
  const { house, conversation, questions } = interactive;
  const { place, configuration } = house;
  const agreed = createAgreed(join(dirname(place.home.trust), 'status-lines.json'));
  const answered = new Map<string, boolean>();
  let command: StatusLineCommand | undefined;
  let last: { mode: PermissionMode; model: string } | undefined;
  const now = (): StatusLineSetting | undefined => configuration.settings().statusLine;
  const isFolders = ({ scope }: StatusLineSetting): boolean => scope === 'project' || scope === 'local';
  const mayRun = (setting: StatusLineSetting): boolean => !isFolders(setting) || answered.get(textOf(setting)) === true || agreed.has(configuration.project, textOf(setting));
  const setting = (): StatusLineSetting | undefined => {
    const wanted = now();
    if (wanted === undefined || mayRun(wanted)) return wanted;
    void ask(wanted);
    return undefined;
  };
  const ask = async (wanted: StatusLineSetting): Promise<void> => {
    const text = textOf(wanted);
    if (answered.has(text)) return;
    answered.set(text, false);
    const answer = await questions.ask({ kind: 'confirm', title: 'The status line of this folder is new or has changed. Run its command?', lines: [wanted.command, wanted.file] }, new AbortController().signal);
    if (answer?.kind !== 'yes' && answer?.kind !== 'always') return;
    answered.set(text, true);
    command?.touch();
    await agreed.remember(configuration.project, text);
  };
  return {
    heard(event) {
      if (event.type === 'replay' || (event.type === 'entry' && TELLING.has(event.entry.type))) command?.touch();
      if (event.type !== 'status') return;
      const { mode, model } = event.status;
      if (last !== undefined && (last.mode !== mode || last.model !== model)) command?.touch();
      last = { mode, model };
    },
    reread() { command?.touch(); },
    async start(consent) {
      const wanted = now();
      if (wanted !== undefined && isFolders(wanted) && consent !== undefined) {
        answered.set(textOf(wanted), true);
        if (consent === 'kept') await agreed.remember(configuration.project, textOf(wanted));
      }
      command = createStatusLine({
        setting, size, guard: house.guard, due: () => coldAt(conversation.session.log),
        input: () => statusLineInput(house, conversation),
        place: () => ({ cwd: house.tools.cwd(conversation.session), shell: place.shell, env: environment(now()) }),
        show: (output) => { show({ type: 'statusLines', lines: output === undefined ? [] : statusLinesOf(output) }); },
        onFault: (message) => { show({ type: 'fault', where: 'status line', message }); },
      });
    },
    close() { command?.close(); },
  };

  function environment(of: StatusLineSetting | undefined): Readonly<Record<string, string>> {
    const env = { ...place.env, ...configuration.settings().env };
    return of === undefined || !isFolders(of) ? env : Object.fromEntries(Object.entries(env).filter(([name]) => !OURS.test(name)));
  }
}

/** What is agreed to: the file may say the rest anew without a question. */
function textOf({ command }: StatusLineSetting): string {
  return command;
}
