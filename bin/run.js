// Runs a program of the set-up.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const MOST_OUTPUT = 20_000;

/**
 * Runs a program to its end; signals are passed on. Resolves with its exit code (128 + the signal's number when a signal ended
 * it or was passed on, 127 when it could not be started) and, of piped output, the end.
 */
export function run(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, options);
    let output = '';
    let passed;
    const keep = (chunk) => { output = (output + chunk).slice(-MOST_OUTPUT); };
    child.stdout?.setEncoding('utf8').on('data', keep);
    child.stderr?.setEncoding('utf8').on('data', keep);
    const pass = (signal) => {
      passed = signal;
      child.kill(signal);
    };
    process.on('SIGINT', pass).on('SIGTERM', pass);
    const done = (code, signal) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      const by = passed ?? signal;
      resolve({ code: by ? 128 + constants.signals[by] : code, output, interrupted: passed !== undefined });
    };
    child.on('error', (error) => {
      keep(error.message);
      done(127);
    });
    // Descendants of what was interrupted may hold its pipes for long.
    child.on('exit', (code, signal) => {
      if (passed === undefined) return;
      child.stdout?.destroy();
      child.stderr?.destroy();
      done(code, signal);
    });
    child.on('close', done);
  });
}
