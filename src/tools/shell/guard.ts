import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { MARK } from './processes.ts';

/** Looks after commands that run, for the case that this program is killed: then it ends them. */
export interface Guard {
  /**
   * Whatever bears the mark in its environment belongs to the command, and the group that `pid` leads. To be called before the
   * command is started, and again when its `pid` is known.
   */
  watch(mark: string, pid?: number): void;
  /** The environment by which what belongs to the mark is known. */
  environment(mark: string): Readonly<Record<string, string>>;
  release(mark: string): void;
  /** Ends what it still looks after, and is gone. */
  close(): void;
}

/**
 * Reads `+ mark pid` and `- mark` line by line; a pid of 0 is none. Its input ends when the program that writes it is gone, however it went: what is
 * on the list then gets TERM, and KILL two seconds later.
 */
const SCRIPT = `
trap '' HUP INT TERM QUIT
list=
while read -r op mark pid; do
  case $op in
    +) list="$list $pid:$mark" ;;
    -) kept=; for one in $list; do case $one in *:$mark) ;; *) kept="$kept $one" ;; esac; done; list=$kept ;;
  esac
done
[ -n "$list" ] || exit 0
send() {
  for one in $list; do
    case $one in 0:*) ;; *) kill -s "$1" -- "-\${one%%:*}" 2>/dev/null ;; esac
    for file in $(grep -laF -- "${MARK}=\${one#*:}" /proc/[0-9]*/environ 2>/dev/null); do
      pid=\${file#/proc/}
      kill -s "$1" "\${pid%/environ}" 2>/dev/null
    done
  done
}
send TERM
sleep 2
send KILL
`;

/** A guard of this program; its own process is started with the first command. Where none can be started nothing is guarded. */
export function createGuard(): Guard {
  let process: ChildProcessByStdio<Writable, null, null> | undefined;
  const say = (line: string): void => {
    process ??= startGuard();
    if (process.stdin.writable) process.stdin.write(line);
  };
  return {
    watch: (mark, pid = 0) => { say(`+ ${mark} ${pid}\n`); },
    environment: (mark) => ({ [MARK]: mark }),
    release(mark) { if (process !== undefined) say(`- ${mark}\n`); },
    close() {
      process?.stdin.end();
      process = undefined;
    },
  };
}

/** It has a session of its own, so that what ends this program by its terminal leaves it alone. */
function startGuard(): ChildProcessByStdio<Writable, null, null> {
  const child = spawn('/bin/sh', ['-c', SCRIPT], { cwd: '/', env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return child;
}
