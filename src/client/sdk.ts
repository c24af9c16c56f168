import { BaseAnthropic } from '@anthropic-ai/sdk/client';
import { Stream } from '@anthropic-ai/sdk/core/streaming';

type RawEvents = AsyncGenerator<{ readonly event: string | null; readonly data: string }, void, unknown>;

/** What is used of the SDK. Its client without the tree of resources: a quarter of the code to load before the first request. */
export interface Sdk {
  readonly client: Pick<BaseAnthropic, 'get' | 'post'>;
  readonly rawEvents: (response: Response) => RawEvents;
}

/** Options as the SDK takes them. */
export function openSdk(options: ConstructorParameters<typeof BaseAnthropic>[0]): Sdk {
  return { client: new BaseAnthropic(options), rawEvents: (response) => Stream.rawEvents(response) };
}
