import { readFileSync } from 'node:fs';

const EAGER = 'const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;';
/** Every RGI emoji holds one of these; nearly no other text does. */
const LAZY = `let allEmoji;
const maybeEmoji = /[\\p{Extended_Pictographic}\\p{Regional_Indicator}\\u20e3]/u;
const rgiEmojiRegex = { test: (text) => maybeEmoji.test(text) && (allEmoji ??= new RegExp('^\\\\p{RGI_Emoji}$', 'v')).test(text) };`;

/** string-width has the set of all emoji made when it is loaded, which takes as long as Node itself: made when an emoji comes, the widths are the same. */
export const lazyEmoji = {
  name: 'lazy-emoji',
  setup(builder) {
    builder.onLoad({ filter: /[\\/]string-width[\\/]index\.js$/ }, ({ path }) => {
      const code = readFileSync(path, 'utf8');
      if (!code.includes('RGI_Emoji}$/v')) return undefined;
      if (!code.includes(EAGER)) return { errors: [{ text: 'string-width is not written as it was: see bin/lazy-emoji.js' }] };
      return { contents: code.replace(EAGER, () => LAZY), loader: 'js' };
    });
  },
};
