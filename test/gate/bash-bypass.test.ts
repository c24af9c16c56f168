import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlaces } from '#gate/places.ts';
import { rulebookOf } from '#gate/rulebook.ts';
import { judgeCommand } from '#gate/shell/judge.ts';
import { ground, ruleSet, type Ground } from './workspace.ts';

interface Case { readonly id: string; readonly kind: string; readonly cmd: string; readonly accept: readonly string[]; readonly note: string }
interface Cases {
  readonly fixtures: { readonly files: readonly string[]; readonly symlinks: Readonly<Record<string, string>> };
  readonly cases: readonly Case[];
}
const list = JSON.parse(readFileSync(join(import.meta.dirname, '../cases/bash-bypass.json'), 'utf8')) as Cases;

const ALLOW = ['Bash(npm run test)', 'Bash(npm run test -- *)', 'Bash(npx tsc --noEmit)', 'Bash(git add:*)', 'Bash(git commit -m:*)'];
const DENY = ['Bash(rm:*)', 'Bash(curl:*)', 'Bash(wget:*)', 'Bash(sudo:*)', 'Bash(git push:*)', 'Read(**/.env)', 'Read(**/.env.*)', 'Read(**/secrets/**)', 'Read(~/.ssh/**)'];

let at: Ground;
beforeAll(() => {
  at = ground();
  for (const file of list.fixtures.files) at.write(file);
  for (const [path, target] of Object.entries(list.fixtures.symlinks)) at.link(target, path);
  at.write('../app-evil/x');
  at.write('../../home/u/.ssh/id_rsa');
});
afterAll(() => { at.remove(); });

function judge(command: string) {
  const places = createPlaces({ roots: () => [at.app], home: at.home });
  const book = rulebookOf(ruleSet(at.home, { allow: ALLOW, deny: DENY }), places.anchors());
  const here = command.replaceAll('/work/app', at.app).replaceAll('/home/u', at.home);
  return judgeCommand(here, { places, book, edits: false, home: at.home, cwd: at.app, trusted: true });
}

describe('the list of bypasses', () => {
  it.each(list.cases.map((one) => [one.id, one.kind, one.cmd.length > 80 ? `${one.cmd.slice(0, 79)}…` : one.cmd, one] as const))('%s %s %j', (_id, _kind, _cmd, { cmd, accept }) => {
    const { decision, reasons } = judge(cmd);
    expect(accept, `${decision}: ${reasons.join('; ')}`).toContain(decision);
  });
  it('gives the reason whenever it does not allow', () => {
    for (const { cmd } of list.cases) {
      const { decision, reasons } = judge(cmd);
      if (decision !== 'allow') expect(reasons.length, cmd.slice(0, 80)).toBeGreaterThan(0);
    }
  });
});
