import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

const noDevtools: Plugin = {
  name: 'no-devtools',
  setup(builder) {
    builder.onResolve({ filter: /^react-devtools-core$/ }, () => ({ path: 'react-devtools-core', namespace: 'empty' }));
    builder.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'export default {}' }));
  },
};

/** Bundles a small program that stands beside a test (TypeScript, may import ours by `#…`) to a file that Node runs, as the product is bundled. */
export async function bundleProgram(entry: URL, outfile: string): Promise<string> {
  await build({
    absWorkingDir: root, entryPoints: [fileURLToPath(entry)], outfile, bundle: true, format: 'esm', platform: 'node', target: 'node20.19',
    jsx: 'automatic', loader: { '.md': 'text' }, alias: { 'is-in-ci': `${root}src/ui/not-in-ci.ts` }, plugins: [noDevtools],
    define: { 'process.env.NODE_ENV': '"production"' }, logLevel: 'error',
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  });
  return outfile;
}
