import { expect, it } from 'vitest';
import { decide } from '#documents/decide.ts';

const all = { images: true, pdf: true };
const none = { images: false, pdf: false };
const data = Uint8Array.of(1);

it.each([
  ['a picture for a model without eyes', { name: 'a.jpg', mime: 'image/jpeg', inlineData: data }, none, 'drop', 'model does not support MIME type "image/jpeg"'],
  ['a PDF for a model that takes none', { name: 'a.pdf', mime: 'application/pdf', inlineData: data }, { images: true, pdf: false }, 'drop', 'model does not support MIME type "application/pdf"'],
  ['an office file for any model', { name: 'a.docx', mime: 'application/msword', inlineData: data }, all, 'drop', 'model does not support MIME type "application/msword"'],
  ['a picture format that no model takes', { name: 'a.bmp', mime: 'image/bmp', inlineData: data }, all, 'drop', 'model does not support MIME type "image/bmp"'],
  ['a picture', { name: 'a.jpg', mime: 'image/jpeg', inlineData: data }, all, 'base64', ''],
  ['a PDF', { name: 'a.pdf', mime: 'application/pdf', inlineData: data }, all, 'base64', ''],
  ['data and text', { name: 'a.md', mime: 'text/markdown', inlineData: data, inlineText: 'a' }, none, 'base64', ''],
  ['text', { name: 'a.md', mime: 'text/markdown', inlineText: 'a' }, none, 'text', ''],
  ['text with empty data', { name: 'a.md', mime: 'text/plain', inlineText: 'a', inlineData: new Uint8Array() }, none, 'text', ''],
  ['nothing', { name: 'a.md', mime: 'text/markdown', inlineText: '' }, all, 'drop', 'no inline content'],
] as const)('%s', (_, document, capabilities, strategy, reason) => {
  expect(decide(document, capabilities)).toEqual({ strategy, reason });
});
