import type { Effect } from '#domain/command.ts';
import type { Entrance } from '#main/entrance.ts';
import { runImport } from './import-run.ts';

/** Shows what other shells have left and asks whether it is to be taken over. */
export async function importHere(entrance: Entrance, wanted: Extract<Effect, { readonly type: 'import' }>): Promise<void> {
  const { house, show, questions } = entrance;
  await runImport(house, wanted, {
    show: (card) => { show({ type: 'card', card }); },
    async ask(title, lines) {
      const answer = await questions.ask({ kind: 'confirm', title, lines }, new AbortController().signal);
      return answer?.kind === 'yes' || answer?.kind === 'always';
    },
  });
  entrance.refresh();
}
