import { type Arguments, UsageError } from '#cli/arguments.ts';
import { newestSession } from '#session/list.ts';
import { sessionFile } from '#session/open.ts';
import type { Place } from './place.ts';

/** The file of the session that the command line names. Throws a UsageError when there is none. */
export async function sessionToResume(args: Arguments, place: Place): Promise<string | undefined> {
  const { sessionId } = args;
  if (sessionId !== undefined && sessionFile({ home: place.home, cwd: place.cwd }, sessionId) !== undefined) throw new UsageError(`there is a session ${sessionId} already. Go on with it: pinion -r ${sessionId}`);
  if (args.continue) {
    const newest = await newestSession(place.home, place.cwd);
    if (newest === undefined) throw new UsageError('there is no session of this directory to go on with. Start one without -c.');
    return newest.file;
  }
  if (typeof args.resume !== 'string') return undefined;
  const file = sessionFile({ home: place.home, cwd: place.cwd }, args.resume);
  if (file === undefined) throw new UsageError(`there is no session ${args.resume}. pinion -r lists them.`);
  return file;
}
