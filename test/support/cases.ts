import { readFileSync } from 'node:fs';

/** A list of `test/cases`. Not a JSON import: that cannot hold the lone surrogates which some cases are about. */
export function readCases(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../cases/${name}.json`, import.meta.url), 'utf8'));
}
