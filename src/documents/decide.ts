import { IMAGE_TYPES } from '#domain/content.ts';
import type { ImageType } from '#domain/content.ts';
import type { Capabilities } from '#domain/model.ts';

/** Content on its way to the model. `mime` is that of what would be sent, not of the file that it came from. */
export interface Document {
  readonly name: string;
  readonly mime: string;
  readonly inlineText?: string;
  readonly inlineData?: Uint8Array;
}

/** `reason` is empty unless the document is dropped. */
export interface Decision {
  readonly strategy: 'drop' | 'text' | 'base64';
  readonly reason: string;
}

/** How a document goes to a model: dropped when the model does not take its type, else its data, else its text, else dropped. */
export function decide(document: Document, capabilities: Capabilities): Decision {
  if (!supports(document.mime, capabilities)) return { strategy: 'drop', reason: `model does not support MIME type ${JSON.stringify(document.mime)}` };
  if (document.inlineData !== undefined && document.inlineData.length > 0) return { strategy: 'base64', reason: '' };
  if (document.inlineText !== undefined && document.inlineText !== '') return { strategy: 'text', reason: '' };
  return { strategy: 'drop', reason: 'no inline content' };
}

function supports(mime: string, { images, pdf }: Capabilities): boolean {
  if (mime.startsWith('text/')) return true;
  return isImageType(mime) ? images : mime === 'application/pdf' && pdf;
}

export function isImageType(mime: string): mime is ImageType {
  return IMAGE_TYPES.some((type) => type === mime);
}
