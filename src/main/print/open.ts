import { messageOf } from '#lib/errors.ts';
import { sanitise } from '#lib/terminal.ts';
import type { Asker } from '#domain/ports.ts';
import { type Arguments, UsageError } from '#cli/arguments.ts';
import { readStdin, withPiped } from '#headless/stdin.ts';
import { sweepDrafts } from '#session/drafts.ts';
import type { Beside, Overhearing } from '#main/beside.ts';
import { configure } from '#main/configuration.ts';
import { type Conversation, openConversation } from '#main/conversation.ts';
import { buildHouse, type House, type Workers } from '#main/house.ts';
import { serverNotices } from '#main/mcp/door.ts';
import { passingPlace } from '#main/passing.ts';
import { findPlace } from '#main/place.ts';
import type { Structure } from './structured.ts';
import { sessionToResume } from '#main/resuming.ts';

export const say = (text: string): void => { process.stderr.write(`pinion: ${sanitise(text)}\n`); };

/** The prompt, with what was piped in. Throws a UsageError where there is none; too much of it is bad input. */
export async function promptIn(args: Arguments): Promise<string> {
  const piped = await readStdin(process.stdin, args.prompt === undefined).catch((error: unknown) => { throw new UsageError(messageOf(error)); });
  const prompt = withPiped(args.prompt, piped);
  if (prompt === undefined || prompt.trim() === '') throw new UsageError('print mode needs a prompt: pinion -p "…", or text on standard input.');
  return prompt;
}

/** The most that the first prompt waits for MCP servers that are being connected; later ones are announced when they are there. */
const SERVERS_MS = 2000;

/** A conversation of print mode. */
export interface PrintRoom {
  readonly house: House;
  readonly conversation: Conversation;
  /** Where the result is to be JSON of a certain shape. */
  readonly structure: Structure | undefined;
  close(): Promise<void>;
}

export interface PrintOptions extends Beside {
  readonly args: Arguments;
  readonly workers: Workers;
  /** Who is asked what needs consent; given what was built. */
  readonly asker: Asker;
  readonly overhear: Overhearing;
  /** Is given the house before anything happens in it. */
  readonly built?: (house: House) => void;
}

/** Opens the session that the command line asks for, with what it pins. What is wrong with settings is said on standard error. */
export async function openPrint(options: PrintOptions): Promise<PrintRoom> {
  const found = findPlace(process.env);
  const resumed = await sessionToResume(options.args, found);
  const passing = options.args.sessionPersistence === false ? passingPlace(found) : undefined;
  const args = passing === undefined || resumed === undefined ? options.args : { ...options.args, forkSession: true };
  const place = passing?.place ?? found;
  const structure = args.jsonSchema === undefined ? undefined : (await import('./structured.ts')).openStructure(args.jsonSchema, place.cwd);
  const configuration = configure(place, args);
  for (const warning of configuration.warnings()) say(warning);
  if (!configuration.isTrusted() && configuration.trust.wantsOf(configuration.project, place.cwd).length > 0) {
    say('this folder is not trusted: what its settings allow, set or run has no effect (--trust takes it up).');
  }
  const { workers, asker, overhear, tell, wake } = options;
  const house = buildHouse({ place, args, configuration, workers, asker, overhear, tell, wake, onNotice: say, onHint: say, ...(structure !== undefined && { own: structure }) });
  options.built?.(house);
  for (const line of sweepDrafts(place.home.drafts)) say(line);
  for (const line of serverNotices(house)) say(line);
  house.start();
  // Nobody types meanwhile: without a moment's patience a run of one answer would never see a server's tools.
  await house.mcp.settled(SERVERS_MS);
  if (args.ide) await house.editor.ready();
  const close = (conversation?: Conversation): void => {
    conversation?.close();
    house.close();
    passing?.remove();
  };
  try {
    const conversation = openConversation(house, resumed);
    for (const notice of conversation.notices) say(notice);
    const unpinned = await conversation.pin(args.pin);
    if (unpinned.length > 0) throw new UsageError(`--pin: ${unpinned.join(' ')}`);
    return { house, conversation, structure, close: async () => {
      await conversation.leave('other');
      close(conversation);
    } };
  } catch (error) {
    close();
    throw error;
  }
}
