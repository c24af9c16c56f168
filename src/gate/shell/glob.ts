import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** `*` and `?` (or a bracket expression) that the shell expands, as characters that no word of a command holds. */
export const GLOB_ANY = '\uE000';
export const GLOB_ONE = '\uE001';

/** Most folder entries that are looked at for one pattern. */
const MOST_ENTRIES = 2000;

/**
 * The files that a shell pattern may meet, from each of the directories in turn, spelled as the shell would. A bracket
 * expression counts as any one character, so there may be more here than the shell finds, never fewer. Undefined when there are too many to tell.
 */
export function expandGlob(pattern: string, cwds: readonly string[], limit: number): readonly string[] | undefined {
  const budget = { entries: MOST_ENTRIES };
  const found = new Set<string>();
  for (const cwd of cwds) {
    const some = walk(pattern, cwd, budget);
    if (some === undefined) return undefined;
    for (const path of some) found.add(path);
    if (found.size > limit) return undefined;
  }
  return [...found].sort();
}

function walk(pattern: string, cwd: string, budget: { entries: number }): readonly string[] | undefined {
  const absolute = pattern.startsWith('/');
  const steps = pattern.split('/').filter((step, index, all) => step !== '' || index === all.length - 1);
  let spelled: string[] = [absolute ? '/' : ''];
  for (const [index, step] of steps.entries()) {
    const last = index === steps.length - 1;
    const next: string[] = [];
    for (const before of spelled) {
      const names = isMagic(step) ? matching(step, absolute ? before || '/' : join(cwd, before), budget) : [step];
      if (names === undefined) return undefined;
      for (const name of names) next.push(`${before}${name}${last ? '' : '/'}`);
    }
    spelled = next;
  }
  return spelled;
}

const isMagic = (step: string): boolean => step.includes(GLOB_ANY) || step.includes(GLOB_ONE);

function matching(step: string, folder: string, budget: { entries: number }): string[] | undefined {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  budget.entries -= names.length;
  if (budget.entries < 0) return undefined;
  const hidden = step.startsWith('.');
  return (hidden ? [...names, '.', '..'] : names.filter((name) => !name.startsWith('.'))).filter((name) => meets(step, name));
}

/** As a shell compares a name with one step of a pattern. A name of many code units counts each as a character or a part of one. */
function meets(step: string, name: string): boolean {
  const characters = Array.from(name);
  const wanted = Array.from(step);
  let reach = new Set([0]);
  for (const one of wanted) {
    const next = new Set<number>();
    for (const at of reach) {
      if (one === GLOB_ANY) for (let to = at; to <= characters.length; to += 1) next.add(to);
      else if (at < characters.length && (one === GLOB_ONE || characters[at] === one)) next.add(at + 1);
    }
    reach = next;
  }
  return reach.has(characters.length);
}
