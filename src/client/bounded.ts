import { NotAStream } from './errors.ts';

/** No event of an honest server comes near it: a whole reply of the largest model has less than a tenth. */
const MOST_EVENT_BYTES = 32 * 1024 * 1024;
const MOST_REPLY_BYTES = 256 * 1024 * 1024;

/** An error, or what is known of a model. */
const MOST_ANSWER_BYTES = 1024 * 1024;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * Hands bytes of an event stream on only with the end of an event among them: the SDK looks through all that it holds with each
 * piece, which takes minutes for one large event in small pieces. Throws {@link NotAStream} for an event or a reply without end.
 */
export function boundedEvents(onBytes: () => void): TransformStream<Uint8Array, Uint8Array> {
  let held: Uint8Array[] = [];
  let holding = 0;
  let total = 0;
  const ends = createEnds();
  const release = (controller: TransformStreamDefaultController<Uint8Array>): void => {
    const [first] = held;
    if (holding > 0 && first !== undefined) controller.enqueue(held.length === 1 ? first : Buffer.concat(held));
    held = [];
    holding = 0;
  };
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes();
      held.push(chunk);
      holding += chunk.length;
      total += chunk.length;
      if (total > MOST_REPLY_BYTES) throw new NotAStream('sends a reply without end');
      if (ends(chunk)) release(controller);
      else if (holding > MOST_EVENT_BYTES) throw new NotAStream('sends an event without end');
    },
    flush: release,
  });
}

/** Tells of each chunk whether an event ends in it: two line ends (LF, CR LF or CR) in a row, wherever the chunks are cut. */
function createEnds(): (chunk: Uint8Array) => boolean {
  let lineEnds = 0;
  let last = 0;
  return (chunk) => {
    let found = false;
    for (const byte of chunk) {
      if (byte === LINE_FEED) lineEnds += last === CARRIAGE_RETURN ? 0 : 1;
      else if (byte === CARRIAGE_RETURN) lineEnds += 1;
      else lineEnds = 0;
      if (lineEnds >= 2) found = true;
      last = byte;
    }
    return found;
  };
}

/** The answer with a body that ends at a limit, unless it is a stream of events: the SDK reads any other to its end. */
export function boundedAnswer(response: Response): Response {
  if (response.body === null || (response.ok && /event-stream/i.test(response.headers.get('content-type') ?? ''))) return response;
  let room = MOST_ANSWER_BYTES;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done) controller.enqueue(value.subarray(0, room));
      room -= value?.length ?? 0;
      if (!done && room > 0) return;
      controller.close();
      if (!done) await reader.cancel();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, { status: response.status, statusText: response.statusText, headers: [...response.headers] });
}
