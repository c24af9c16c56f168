import type { InputEvent } from './contract.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** One short line of text after an input event, written at its end: filters, secrets, a few words of advice. Undefined: not a key for it. */
export function typeInto(text: string, event: InputEvent): string | undefined {
  if (event.type === 'paste') return text + event.text.replaceAll('\n', ' ');
  if (event.type !== 'key') return undefined;
  if (event.name === 'backspace') return event.alt || event.ctrl ? dropWord(text) : dropLast(text);
  if (event.ctrl && event.name === 'u') return '';
  if (event.ctrl && event.name === 'w') return dropWord(text);
  return event.ctrl || event.alt || event.text === '' || event.text === '\n' || event.text === '\t' ? undefined : text + event.text;
}

function dropLast(text: string): string {
  const last = [...graphemes.segment(text.slice(-64))].at(-1)?.segment ?? '';
  return text.slice(0, text.length - last.length);
}

function dropWord(text: string): string {
  return text.replace(/\s*\S*\s*$/, (found) => (/^\s+\S/.test(found) ? ' ' : ''));
}
