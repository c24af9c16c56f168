import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Entry, EntryOf } from '#domain/entry.ts';
import type { Household } from '../support/household.ts';
import { obj } from '../support/messages-server/shape.ts';

/** A guard as people write them: reads the command with a line of node, and refuses `rm -rf`. */
export const GUARD = `#!/bin/bash
input=$(cat)
command=$(node -e 'console.log(JSON.parse(process.argv[1]).tool_input.command)' "$input")
if echo "$command" | grep -q 'rm -rf'; then
  echo "rm -rf is not allowed here" >&2
  exit 2
fi
exit 0
`;

/** A formatter that runs after edits. */
export const FORMATTER = `const fs = require('fs');
let text = '';
process.stdin.on('data', (chunk) => { text += chunk; });
process.stdin.on('end', () => {
  const { tool_input } = JSON.parse(text);
  const file = tool_input.file_path;
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/ +$/gm, ''));
});
`;

/** Writes down what each event told it. */
export const RECORDER = `#!/bin/sh
cat >> "$CLAUDE_PROJECT_DIR/heard.jsonl"
`;

export const hooked = (hooks: object): string => JSON.stringify({ hooks });
export const command = (line: string, more: object = {}) => ({ hooks: [{ type: 'command', command: line, ...more }] });

/** A script of the user's own, in their home; gives its path. */
export function script(home: Household, name: string, text: string): string {
  const file = join(dirname(home.home), 'hooks', name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

/** The user's own settings of another agent. */
export function ofUser(home: Household, hooks: object, more: object = {}): void {
  const file = join(dirname(home.home), '.claude', 'settings.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ hooks, ...more }));
}

export const contexts = (log: readonly Entry[]): readonly EntryOf<'hookContext'>[] => log.filter((entry) => entry.type === 'hookContext');
export const notices = (log: readonly Entry[]): readonly string[] => log.flatMap((entry) => (entry.type === 'notice' ? [entry.text] : []));
export const results = (log: readonly Entry[]): readonly EntryOf<'toolResult'>[] => log.filter((entry) => entry.type === 'toolResult');
/** What {@link RECORDER} wrote down. */
export function heardIn({ cwd }: Pick<Household, 'cwd'>): readonly Readonly<Record<string, unknown>>[] {
  const file = join(cwd, 'heard.jsonl');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter((line) => line !== '').map((line) => obj(JSON.parse(line))) : [];
}

/** A hook that says this and nothing else. */
export const answering = (value: unknown): string => `cat >/dev/null; echo '${JSON.stringify(value)}'`;
