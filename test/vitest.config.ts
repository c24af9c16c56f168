import { defineConfig, type Plugin } from 'vitest/config';
import LongFirst from './support/sequencer.ts';

/** The test runner's half of `src/markdown.d.ts`. */
const markdown: Plugin = {
  name: 'markdown-as-text',
  transform: (code, id) => (id.endsWith('.md') ? { code: `export default ${JSON.stringify(code)}`, map: null } : null),
};

const root = new URL('..', import.meta.url).pathname;
/** Made anew for each project: the runner empties what it is given. */
const shared = () => ({
  plugins: [markdown],
  define: { PINION_VERSION: JSON.stringify('0.0.0-test') },
  resolve: { alias: { 'is-in-ci': `${root}src/ui/not-in-ci.ts` } },
});

/** Far: a machine that builds something else beside is slow, and a limit costs time only where a test fails. */
const limits = (ms: number) => ({
  testTimeout: ms, hookTimeout: 120_000, expect: { poll: { timeout: 20_000 } },
  // What decides on a change is not to fall over the machine's mood; the closing lines name each test that needed it.
  retry: process.env['CI'] === undefined ? 0 : 2,
});

export default defineConfig({
  root,
  test: {
    sequence: { sequencer: LongFirst },
    reporters: ['default', `${root}test/support/closing-line.ts`],
    projects: [
      {
        ...shared(),
        test: {
          name: 'unit', root, include: ['test/**/*.test.{ts,tsx}'], exclude: ['test/terminal/**', 'test/product/**', 'test/fault/**'],
          // Importing ink costs most of a run: one process for many files, so no test may leave module state behind.
          pool: 'forks', isolate: false, maxWorkers: 2, ...limits(60_000), server: { deps: { inline: ['ink'] } },
        },
      },
      {
        ...shared(),
        test: {
          name: 'product', root, include: ['test/terminal/**/*.test.ts', 'test/product/**/*.test.ts', 'test/fault/**/*.test.ts'],
          pool: 'forks', isolate: false, maxWorkers: 2, ...limits(120_000),
        },
      },
    ],
  },
});
