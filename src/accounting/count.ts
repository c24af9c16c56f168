import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/** Longer texts are counted by sample. */
const SAMPLED_FROM = 1_000_000;
const SAMPLES = 8;
const SAMPLE = 25_000;
/** The tokenizer takes time that grows with the square of the length of a word, and some words are megabytes of base64. */
const LONGEST_WORD = 128;
const LONG_WORDS = new RegExp(`\\S{${LONGEST_WORD}}|\\s{${LONGEST_WORD}}`, 'g');
const PLAIN = { disallowedSpecial: new Set<string>() };

/** Tokens (o200k) of a text; spellings of special tokens count as the text that they are. Never throws. */
export function countText(text: string): number {
  try {
    return text.length <= SAMPLED_FROM ? counted(text) : sampled(text);
  } catch {
    return Math.ceil(Buffer.byteLength(text) / 4);
  }
}

function sampled(text: string): number {
  const stride = Math.floor((text.length - SAMPLE) / (SAMPLES - 1));
  let tokens = 0;
  for (let at = 0; at < SAMPLES; at += 1) tokens += counted(text.slice(at * stride, at * stride + SAMPLE));
  return Math.round(tokens * text.length / (SAMPLES * SAMPLE));
}

function counted(text: string): number {
  let tokens = 0;
  let from = 0;
  for (const { index, 0: word } of text.matchAll(LONG_WORDS)) {
    tokens += countTokens(text.slice(from, index + word.length), PLAIN);
    from = index + word.length;
  }
  return tokens + countTokens(text.slice(from), PLAIN);
}
