/** Words that stand in any text. */
const PLAIN = new Set(('a about after all also am an and any are as at be because been before but by can could did do does doing done for from get give go had has have help '
  + 'he her here him his how i if in into is it its just know let like look make may me more most my need new no not now of on one only or other our out over own please '
  + 'see she should show so some such take tell than that the their them then there these they this those to too up us use very want was we were what when where which while '
  + 'who why will with would yes you your file files code thing things way work note notes').split(' '));
/** Scripts that are written without blanks: pairs of signs stand for words. */
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u;
const MOST_WORDS = 5000;
const LONGEST_WORD = 60;

/** What a text is about, as words in lower case without accents, each once. Names such as `fooBar_baz` give their parts as well. */
export function wordsIn(text: string): readonly string[] {
  const words = new Set<string>();
  for (const [run] of text.matchAll(/[\p{L}\p{N}\p{M}]+(?:[._'’-][\p{L}\p{N}\p{M}]+)*/gu)) {
    for (const word of partsOf(run)) if (isTelling(word)) words.add(word);
    if (words.size > MOST_WORDS) break;
  }
  return [...words];
}

function partsOf(run: string): readonly string[] {
  const plain = run.slice(0, 4 * LONGEST_WORD);
  const parts = [plain, ...plain.split(/[._'’-]/), ...plain.split(/[._'’-]|(?<=\p{Ll})(?=\p{Lu})/u)].map((part) => part.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase());
  return parts.flatMap((part) => (UNSPACED.test(Array.from(part)[0] ?? '') ? pairsIn(part.normalize('NFC')) : [stem(part)]));
}

function pairsIn(run: string): readonly string[] {
  const signs = Array.from(run);
  return signs.length < 2 ? signs : signs.slice(1).map((sign, i) => `${signs[i] ?? ''}${sign}`);
}

/** Of an English plural the singular: enough to find `deploys` by `deploy`. */
function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

function isTelling(word: string): boolean {
  return word.length >= 2 && word.length <= LONGEST_WORD && !PLAIN.has(word) && !/^\d{1,2}$/.test(word);
}
