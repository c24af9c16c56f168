import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/temp.ts';

it('texts are as wide in the bundle, which makes the set of emoji late, as in the package', async () => {
  const { lazyEmoji } = await import(new URL('../../bin/lazy-emoji.js', import.meta.url).href) as { lazyEmoji: Plugin };
  const outfile = `${tempFolder()}/width.mjs`;
  await build({ stdin: { contents: "export { default } from 'string-width';", resolveDir: process.cwd() }, outfile, bundle: true, format: 'esm', platform: 'node', target: 'node20.19', plugins: [lazyEmoji], logLevel: 'error' });
  const { default: bundled } = await import(/* @vite-ignore */ pathToFileURL(outfile).href) as { default: typeof stringWidth };
  const characters = Array.from({ length: 0x11_00_00 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff).map((code) => String.fromCodePoint(code));
  const emojiOrPart = new RegExp('^[\\p{Emoji}\\p{RGI_Emoji}]$', 'v');
  const emoji = characters.filter((character) => emojiOrPart.test(character));
  const others = characters.filter((_, at) => at < 0x3000 || at % 61 === 0);
  const flags = [0x1f1e6, 0x1f1e9, 0x1f1ea, 0x1f1fa].flatMap((a, _, all) => all.map((b) => String.fromCodePoint(a, b)));
  const sequences = emoji.flatMap((one) => [`${one}\ufe0f`, `${one}\u20e3`, `${one}\ufe0f\u20e3`, `${one}\u{1f3fd}`, `${one}\u200d❤️\u200d${one}`]);
  const tags = ['🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}', '👩‍👩‍👧', '👩🏽‍🚀', '❤️', '❤', '1️⃣', 'क्षि', '가나다', 'a\u0301'];
  const other = [...emoji, ...others, ...sequences, ...flags, ...tags].filter((text) => bundled(text) !== stringWidth(text));
  expect(other).toEqual([]);
});
