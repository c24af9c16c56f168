import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends a run with one plain line, `tests: N passed, N failed, N skipped`, for programs that read the output. Tests that passed at
 * another try only are named before it: each is one to be mended.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tally = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      if (module.state() === 'failed' && [...module.children.allTests()].length === 0) tally.failed += 1;
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        if (state !== 'pending') tally[state] += 1;
        if (state === 'passed' && test.diagnostic()?.flaky === true) process.stdout.write(`\npassed at another try: ${module.relativeModuleId} > ${test.fullName}\n`);
      }
    }
    process.stdout.write(`\ntests: ${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped\n`);
  }
}
