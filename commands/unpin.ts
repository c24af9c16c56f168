import { nearest } from '#lib/nearest.ts';
import type { StoredAttachment } from '#domain/attachment.ts';
import { defineCommand } from '#domain/command.ts';
import { attachmentsOf } from '#domain/folds.ts';

/** Takes a pin away, by its id or what it was pinned as. */
export default defineCommand({
  id: 'unpin',
  summary: 'Take a pin away',
  usage: '<id or path> | --all',
  anytime: true,
  complete: (_args, { session }) => [...pinsOf(attachmentsOf(session.log)).map(({ id }) => id), '--all'],
  run(args, { session }) {
    const pins = pinsOf(attachmentsOf(session.log));
    const wanted = args.trim();
    if (pins.length === 0) return { type: 'refuse', message: 'Nothing is pinned.' };
    if (wanted === '') return { type: 'refuse', message: `Say which: ${pins.map(({ id }) => id).join(', ')}, or --all.` };
    const gone = wanted === '--all' ? pins : pins.filter((pin) => names(pin).includes(wanted));
    if (gone.length === 0) {
      const near = nearest(wanted, pins.flatMap(names));
      return { type: 'refuse', message: `Nothing is pinned as ${wanted}.${near === undefined ? ` Pinned are ${pins.map(({ id }) => id).join(', ')}.` : ` Did you mean ${near}?`}` };
    }
    return {
      type: 'append', entries: gone.map(({ id }) => ({ type: 'detach', attachmentId: id })),
      card: { title: `Unpinned ${gone.map(({ id }) => id).join(', ')}`, tone: 'good', body: [] },
    };
  },
});

function pinsOf(attachments: readonly StoredAttachment[]): readonly StoredAttachment[] {
  return attachments.filter((attachment) => attachment.kind !== 'todo' && !(attachment.kind === 'text' && attachment.as === 'todo'));
}

function names(pin: StoredAttachment): readonly string[] {
  return [pin.id, pin.id.slice(pin.id.indexOf(':') + 1)];
}
