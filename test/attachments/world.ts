import { createPaths } from '#gate/paths.ts';
import { createDocuments } from '#documents/load.ts';
import { createPins, type PinDoors } from '#attachments/pins.ts';
import { ledgerOf } from '#attachments/ledger.ts';
import type { Source } from '#attachments/define.ts';
import type { PathPort } from '#domain/documents.ts';
import type { BlobPort } from '#domain/ports.ts';
import type { ReminderBody } from '#domain/reminder.ts';
import type { Session } from '#domain/session.ts';
import type { World } from '#domain/world.ts';
import { memoryBlobs, memorySession } from '../support/logs.ts';
import { nothing } from '../support/nothing.ts';

/** A world in which nothing is the case; what a test needs it puts in. */
export function world(session: Session, more: Partial<World> = {}): World {
  return {
    moment: 'prompt', thread: 'main', log: session.log, mode: 'default', now: new Date(2026, 10, 30, 12),
    prompt: session.log.findLast((entry) => entry.type === 'prompt'),
    blobs: memoryBlobs(),
    mentions: { load: () => Promise.resolve({ parts: [], files: [], notes: [] }), named: () => Promise.resolve(new Set()), agents: () => [] },
    pins: { views: () => Promise.resolve([]) },
    environment: () => ({ directory: '/w', extraDirectories: [], repository: false, platform: 'linux', shell: 'bash' }),
    changes: { look: () => Promise.resolve({ changes: [], skipped: 0, settling: false }) },
    ...nothing,
    ...more,
  };
}

/** Asks one source as the collector would, keeps what it says in the log, and returns it. */
export async function ask(source: Source, session: Session, more: Partial<World> = {}): Promise<ReminderBody | undefined> {
  const spoken = await source.speak(world(session, more), ledgerOf(session.log).get(source.id) ?? { kind: 'never' }, new AbortController().signal);
  if (spoken !== undefined) session.append(spoken.reminder);
  return spoken?.reminder;
}

export function textOf(reminder: ReminderBody | undefined): string | undefined {
  return reminder?.parts.map((part) => (part.type === 'text' ? part.text : `<${part.name}>`)).join('\n');
}

export function pathsOf(root: string, denied: readonly string[] = [], home = '/nowhere'): PathPort {
  return createPaths({ roots: () => [root], home, denyRead: () => denied.map((rule) => ({ rule, root, scope: 'project' as const })) });
}

export interface Bench {
  readonly session: Session;
  readonly blobs: BlobPort;
  readonly pins: ReturnType<typeof createPins>;
}

/** A session with its pins over a real folder. */
export function bench(root: string, more: Partial<PinDoors> & { readonly session?: Session; readonly denied?: readonly string[] } = {}): Bench {
  const session = more.session ?? memorySession();
  const blobs = more.blobs ?? memoryBlobs();
  const documents = createDocuments({ blobs, capabilities: () => ({ images: true, pdf: true }) });
  const pins = createPins({ paths: pathsOf(root, more.denied), documents, blobs, cwd: root, log: () => session.log, files: () => Promise.resolve([]), ...more });
  return { session, blobs, pins };
}
