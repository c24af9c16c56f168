import { visibleLine } from '#gate/visible.ts';
import type { Entrance } from './entrance.ts';

/** Asks once about language servers of a trusted folder that are new or changed since the user agreed. Both answers are kept. */
export async function askForLanguages({ house, questions }: Pick<Entrance, 'house' | 'questions'>, refusedToo = false): Promise<void> {
  const { configuration, languages: { consent }, place } = house;
  // Who trusts for one run agrees for it too.
  if (house.args.trust || (!consent.pending() && !(refusedToo && consent.held().size > 0))) return;
  const wants = (): readonly string[] => configuration.trust.wantsOf(configuration.project, place.cwd).filter((line) => /^\w+ the language server /.test(line));
  const shown = wants();
  const lines = [...shown, 'Each starts when a file of its language is read or changed. A change of them asks again; /lsp trust changes the answer.'];
  const answer = await questions.ask({ kind: 'confirm', title: 'The language servers of this folder\'s settings are new, or changed since you agreed. May they start?', lines: lines.map(visibleLine) }, new AbortController().signal);
  if (answer === undefined) return;
  if (answer.kind !== 'yes' && answer.kind !== 'always') await consent.refuse();
  else if (JSON.stringify(wants()) === JSON.stringify(shown)) await consent.agree(false);
  else await askForLanguages({ house, questions }, refusedToo);
}
