import { costOf } from '#accounting/cost.ts';
import type { Outcome } from '#domain/ports.ts';
import type { Arguments } from '#cli/arguments.ts';
import { createLines } from '#headless/lines.ts';
import { informational } from '#headless/messages.ts';
import { createDelivery, type Delivery } from '#main/delivery.ts';
import type { Workers } from '#main/house.ts';
import { whenReaderLeaves } from '#main/output.ts';
import { openPrint, type PrintRoom, promptIn } from './open.ts';
import { exitCodeOf, resultFor, runPrompt } from './run.ts';
import { type Interrupt, untilSignal } from './signals.ts';
import { createStreamAsker } from './stream-asker.ts';
import { initMessage } from './stream-init.ts';
import { drained, guarded, StreamLoop } from './stream-loop.ts';
import { createStreamOut, type StreamOut } from './stream-out.ts';

/** Print mode in lines of JSON: one prompt, or a stream of messages on standard input. The last line is a result, whatever happens. */
export async function printStream(args: Arguments, workers: Workers): Promise<number> {
  const began = performance.now();
  const streamed = args.inputFormat === 'stream-json';
  const prompt = streamed ? args.prompt : await promptIn(args);
  const lines = createLines(process.stdout);
  const out = createStreamOut(lines, args);
  const asker = createStreamAsker(out, args.permissionPromptTool !== undefined);
  const delivery = createDelivery();
  let loop: StreamLoop | undefined;
  const room = await openPrint({
    args, workers, asker, overhear: out.overhear, built: out.listen,
    tell: (session, event) => { if (session === room.conversation.session) out.hear(event); },
    wake(session) {
      loop?.wake();
      delivery.wake(session);
    },
  });
  const interrupt = untilSignal(() => { process.stdin.destroy(); });
  let alone = false;
  whenReaderLeaves(() => {
    alone = true;
    lines.close();
    interrupt.abort();
    process.stdin.destroy();
  });
  out.attach(room.house, room.conversation);
  try {
    loop = streamed ? new StreamLoop({ args, room, out, asker, input: process.stdin, first: prompt, signal: interrupt.signal }) : undefined;
    const code = await (loop?.run() ?? once({ room, out, delivery, prompt: prompt ?? '', began, interrupt }));
    return alone ? 0 : interrupt.code() ?? code;
  } finally {
    lines.close();
    interrupt.end();
    await room.close();
  }
}

interface Once {
  readonly room: PrintRoom;
  readonly out: StreamOut;
  readonly delivery: Delivery;
  readonly prompt: string;
  readonly began: number;
  readonly interrupt: Interrupt;
}

async function once({ room: { house, conversation, structure }, out, delivery, prompt, began, interrupt: { signal } }: Once): Promise<number> {
  const { session } = conversation;
  const from = session.log.length;
  const begun = { at: began, from, usd: costOf(session.log).usd ?? 0, apiMs: 0 };
  out.send(await initMessage(house, conversation));
  const drain = (events: Parameters<typeof drained>[0]) => drained(events, out);
  const done = await guarded(async () => {
    const first = await runPrompt({ house, conversation, drain }, { text: prompt }, signal);
    const again = (): Promise<Outcome> => drain(conversation.turn(undefined, signal));
    const quiet = { ...first, outcome: await delivery.untilQuiet(house, conversation, { outcome: first.outcome, from }, signal, again) };
    return await structure?.insist(quiet, conversation, from, again) ?? quiet;
  });
  out.hear();
  for (const { id, title } of house.tasks.running(session)) out.send(informational(`${id} still ran and is ended with the program: ${title}`, 'warning'));
  const unsaved = conversation.unsaved();
  if (unsaved !== undefined) out.send(informational(`This session could not be saved: ${unsaved}`, 'warning'));
  out.send({ ...resultFor({ house, conversation }, done, begun, { apiMs: out.apiMs(), denied: out.denied() }) });
  await out.taken();
  return exitCodeOf(done);
}
