import { rmSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { temporary } from '../fixtures.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Bundles the comparison as the program is bundled, runs it, prints its table, and gives its accounts. */
export async function cacheWays() {
  const folder = temporary();
  const outfile = `${folder}/cache.mjs`;
  await build({
    absWorkingDir: root, entryPoints: ['test/bench/cache/print.ts'], outfile, bundle: true, format: 'esm', platform: 'node', target: 'node20.19', loader: { '.md': 'text' },
    external: ['sharp', '@vscode/ripgrep'], define: { PINION_VERSION: '"bench"' }, logLevel: 'silent',
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url); const __filename = import.meta.filename;" },
  });
  try {
    const { accounts, table } = await import(pathToFileURL(outfile));
    process.stderr.write(table);
    return accounts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
