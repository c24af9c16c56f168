import { nearest } from '#lib/nearest.ts';
import { oneLine } from '#lib/names.ts';
import type { StoredAttachment } from '#domain/attachment.ts';
import { defineCommand } from '#domain/command.ts';
import { attachmentsOf } from '#domain/folds.ts';

const MOST_NAMED = 5;

/** Takes a pin away, by what it was pinned as, its path or its id. */
export default defineCommand({
  id: 'unpin',
  group: 'In view',
  summary: 'Take a pin away',
  usage: '<pin> | --all',
  anytime: true,
  complete: (_args, { session }) => [...pinsOf(attachmentsOf(session.log)).map((pin) => labelOf(pin)), '--all'],
  run(args, { session }) {
    const pins = pinsOf(attachmentsOf(session.log));
    const wanted = args.trim();
    if (pins.length === 0) return { type: 'refuse', message: 'Nothing is pinned.' };
    if (wanted === '') return { type: 'refuse', message: `Say which: ${named(pins)}; or --all.` };
    const gone = wanted === '--all' ? pins : pins.filter((pin) => goesBy(pin, wanted));
    if (gone.length === 0) {
      const near = nearest(plain(wanted), pins.flatMap((pin) => [labelOf(pin), pin.id]));
      return { type: 'refuse', message: `Nothing is pinned as ${oneLine(wanted, 80)}. ${near === undefined ? `Pinned: ${named(pins)}.` : `Did you mean /unpin ${oneLine(near)}?`}` };
    }
    return {
      type: 'append', entries: gone.map(({ id }) => ({ type: 'detach', attachmentId: id })),
      card: { title: `Unpinned ${gone.length > MOST_NAMED ? `${gone.length} pins` : gone.map((pin) => oneLine(labelOf(pin))).join(', ')}`, tone: 'good', body: [] },
    };
  },
});

function pinsOf(attachments: readonly StoredAttachment[]): readonly StoredAttachment[] {
  return attachments.filter((attachment) => attachment.kind !== 'todo' && !(attachment.kind === 'text' && attachment.as === 'todo'));
}

/** What it was pinned as: `src/a.ts#10-40`, `!git status`, `memory:slug`. */
function labelOf({ id }: StoredAttachment): string {
  return id.replace(/^file:/, '');
}

function goesBy(pin: StoredAttachment, written: string): boolean {
  const wanted = plain(written);
  if (pin.id === wanted || plain(labelOf(pin)) === wanted || pin.id === `memory:${wanted}`) return true;
  return pin.kind === 'file' && 'path' in pin.target && pin.target.path === wanted && !('lines' in pin.target);
}

/** Without quotes, a leading `./` and a closing slash; `memory: slug` as `memory:slug`. */
function plain(written: string): string {
  return written.replace(/^(["'])(.+)\1$/, '$2').replace(/^\.\//, '').replace(/(?<=.)\/$/, '').replace(/^memory:\s+/, 'memory:');
}

function named(pins: readonly StoredAttachment[]): string {
  const some = pins.slice(0, MOST_NAMED).map((pin) => oneLine(labelOf(pin), 60)).join(', ');
  return pins.length > MOST_NAMED ? `${some} and ${pins.length - MOST_NAMED} more (/pin lists them)` : some;
}
