import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ScopedRule } from '#domain/settings.ts';
import type { RuleSet } from '#gate/rules.ts';

export interface Ground {
  /** Stands for `/work/app`. */
  readonly app: string;
  /** Stands for `/home/u`. */
  readonly home: string;
  readonly top: string;
  write(path: string, text?: string): string;
  link(target: string, path: string): void;
  remove(): void;
}

/** A folder of its own with a working folder and a home in it. */
export function ground(): Ground {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'gate-')));
  const app = join(top, 'work/app');
  const home = join(top, 'home/u');
  mkdirSync(app, { recursive: true });
  mkdirSync(home, { recursive: true });
  const write = (path: string, text = 'x\n'): string => {
    const file = join(app, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const link = (target: string, path: string): void => {
    mkdirSync(dirname(join(app, path)), { recursive: true });
    symlinkSync(target, join(app, path));
  };
  return { app, home, top, write, link, remove: () => { rmSync(top, { recursive: true, force: true, maxRetries: 5 }); } };
}

export function rule(text: string, root: string, scope: ScopedRule['scope'] = 'user'): ScopedRule {
  return { rule: text, root, scope };
}

export function ruleSet(root: string, lists: { readonly allow?: readonly string[]; readonly ask?: readonly string[]; readonly deny?: readonly string[] }): RuleSet {
  const scoped = (texts: readonly string[] = []): ScopedRule[] => texts.map((text) => rule(text, root));
  return { allow: scoped(lists.allow), ask: scoped(lists.ask), deny: scoped(lists.deny) };
}
