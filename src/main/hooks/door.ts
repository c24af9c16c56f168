import { count } from '#lib/text.ts';
import { visibleLine } from '#gate/visible.ts';
import type { Entrance } from '#main/entrance.ts';

/** Asks once about hooks of a trusted folder that are new or changed since the user agreed. Both answers are kept, bound to what they do. */
export async function askForHooks({ house, questions }: Pick<Entrance, 'house' | 'questions'>, refusedToo = false): Promise<void> {
  const { hooks, configuration } = house;
  // Who trusts for one run agrees for it too.
  if (!configuration.isTrusted() || (house.args.trust && !refusedToo) || configuration.settings().disableAllHooks) return;
  const wants = await hooks.pending(refusedToo);
  if (wants.length === 0) return;
  const title = `${count(wants.length, 'hook')} of this folder ${wants.length === 1 ? 'is' : 'are'} new, or changed since you agreed. May ${wants.length === 1 ? 'it' : 'they'} run?`;
  const lines = [...wants, 'A change of one, or of a script of the folder that it names, asks again. /hooks shows all; /hooks approve and /hooks refuse change the answer.'];
  const answer = await questions.ask({ kind: 'confirm', title, lines: lines.map(visibleLine) }, new AbortController().signal);
  if (answer === undefined) return;
  const same = JSON.stringify(await hooks.pending(refusedToo)) === JSON.stringify(wants);
  if (answer.kind !== 'yes' && answer.kind !== 'always') await hooks.refuse();
  else if (same) await hooks.agree(false);
  else await askForHooks({ house, questions }, refusedToo);
}

/** `/hooks approve` and `/hooks refuse`. One line: what came of it. */
export async function decideOnHooks({ house, questions }: Pick<Entrance, 'house' | 'questions'>, what: 'approve' | 'refuse'): Promise<string> {
  const { hooks, configuration } = house;
  if (!configuration.isTrusted()) return 'The folder is not trusted, so none of its hooks run. Start again to be asked.';
  if (what === 'refuse') {
    await hooks.refuse(true);
    return 'Hooks of this folder do not run as they are now, and are not asked about again; /hooks approve takes that back.';
  }
  if ((await hooks.pending(true)).length === 0) return 'There is no hook of this folder to agree to.';
  await askForHooks({ house, questions }, true);
  return (await hooks.pending(true)).length === 0 ? 'Done; /hooks shows what runs.' : 'Nothing was decided.';
}
