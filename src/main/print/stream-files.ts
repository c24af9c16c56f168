import type { MediaPart } from '#domain/content.ts';
import type { UserMessage } from '#headless/input.ts';
import type { PromptBody } from '#loop/query.ts';
import type { House } from '#main/house.ts';

/** Most bytes of a text that comes along as a document. */
const LIMIT_BYTES = 256 * 1024;

/** A message as a prompt: pictures and documents made fit for the model, texts in their envelopes before its words. `notes`: what was left out, one line each. */
export async function promptOf({ text, files }: UserMessage, { tools }: House, signal: AbortSignal): Promise<{ readonly prompt: PromptBody; readonly notes: readonly string[] }> {
  const media: MediaPart[] = [];
  const texts: string[] = [];
  const notes: string[] = [];
  for (const { name, bytes } of files) {
    const loaded = await tools.documents.load(`/stdin/${name}`, name, { bytes, limitBytes: LIMIT_BYTES }, signal);
    notes.push(...loaded.notes);
    for (const part of loaded.parts) {
      if (part.type === 'media') media.push(part);
      else texts.push(part.text);
    }
  }
  const brought = texts.join('\n\n');
  return {
    notes,
    prompt: { text: [brought, text].filter((words) => words !== '').join('\n\n'), ...(brought !== '' && { shown: text, mentions: text }), ...(media.length > 0 && { media }) },
  };
}
