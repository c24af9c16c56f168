// Bundles the program into dist/: one split ESM bundle, so that what is not used at once is not loaded at once.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { lazyEmoji } from './lazy-emoji.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** Packages that hold native code or are large: loaded from node_modules where they are installed, done without where not. */
const OPTIONAL = ['sharp', '@vscode/ripgrep', 'unpdf'];

/** React looks for its developer tools; the bundle has none. */
const noDevtools = {
  name: 'no-devtools',
  setup(builder) {
    builder.onResolve({ filter: /^react-devtools-core$/ }, () => ({ path: 'react-devtools-core', namespace: 'empty' }));
    builder.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'export default {}' }));
  },
};

/** Writes dist/ anew; resolves with esbuild's account of what is in it. A build that fails leaves the old one as it was. */
export async function bundle() {
  const out = `${root}dist.next`;
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      main: 'src/main/main.ts',
      index: 'src/index.ts',
      'count-worker': 'src/accounting/count-worker.ts',
      'index-worker': 'src/mentions/index-worker.ts',
      'pdf-worker': 'src/documents/pdf-worker.ts',
      'page-worker': 'src/tools/web/page-worker.ts',
    },
    outdir: out,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // What a package has as ES modules bundles whole; its other form may load its own files in ways that no bundler sees.
    mainFields: ['module', 'main'],
    target: 'node20.19',
    jsx: 'automatic',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    chunkNames: 'chunks/[name]-[hash]',
    loader: { '.md': 'text' },
    external: OPTIONAL,
    alias: {
      'is-in-ci': `${root}src/ui/not-in-ci.ts`,
      // Its main file asks for its parts in a way that a bundler cannot follow.
      'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
    },
    plugins: [noDevtools, lazyEmoji],
    define: { 'process.env.NODE_ENV': '"production"', PINION_VERSION: JSON.stringify(version) },
    // CommonJS packages inside an ES module bundle still call require for what Node brings along, and ask for their own file's name.
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url); const __filename = import.meta.filename;" },
    metafile: true,
    logLevel: 'silent',
  });
  const help = execFileSync(process.execPath, ['--input-type=module', '-e', `const { main } = await import(${JSON.stringify(`${out}/main.js`)}); await main(['--help']);`], { encoding: 'utf8' });
  writeFileSync(`${out}/help.txt`, help);
  chmodSync(`${root}bin/pinion.js`, 0o755);
  rmSync(`${root}dist`, { recursive: true, force: true });
  renameSync(out, `${root}dist`);
  return metafile;
}
