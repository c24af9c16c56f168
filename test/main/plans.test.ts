import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepPlanIn, planNow, plansFolder } from '#main/plans.ts';
import { memorySession } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';

test('plans lie where the settings say', () => {
  const places = { project: '/w', userHome: '/h', own: '/state/plans' };
  expect([undefined, ' ', 'docs/plans', './x', '/abs', '~/plans', '~'].map((setting) => plansFolder(setting, places))).toEqual(['/state/plans', '/state/plans', '/w/docs/plans', '/w/x', '/abs', '/h/plans', '/h']);
});

test('a plan has a name of its own; one that was not approved is replaced, an approved one stays', () => {
  const folder = join(tempFolder(), 'deep/plans');
  const session = { ...memorySession(), id: '0f00-aaaa-bbbb' };
  const first = keepPlanIn(folder, '# Lamp: brighter & nicer!\n\n1. x\n', session);
  expect(first).toBe(join(folder, 'lamp-brighter-nicer-0f00aaaa.md'));
  expect(readFileSync(first, 'utf8')).toBe('# Lamp: brighter & nicer!\n\n1. x\n');
  expect(statSync(first).mode & 0o777).toBe(0o600);
  session.append({ type: 'plan', file: first, text: 'x', state: 'rejected' });
  expect(keepPlanIn(folder, '# Other', session)).toBe(first);
  expect(readFileSync(first, 'utf8')).toBe('# Other\n');
  session.append({ type: 'plan', file: first, text: '# Other', state: 'approved' });
  expect(keepPlanIn(folder, '# Lamp: brighter & nicer!', session)).toBe(join(folder, 'lamp-brighter-nicer-0f00aaaa-2.md'));
  expect(keepPlanIn(folder, '計画\n***', session)).toBe(join(folder, 'plan-0f00aaaa.md'));
  session.append({ type: 'plan', file: '/elsewhere/p.md', text: 'x', state: 'proposed' });
  expect(keepPlanIn(folder, '# Third', session)).toBe(join(folder, 'third-0f00aaaa.md'));
});

test('the plan now is what its file holds, or what was laid before the user', () => {
  const folder = tempFolder();
  const session = memorySession();
  expect(planNow(session)).toBeUndefined();
  const file = keepPlanIn(folder, 'one', session);
  session.append({ type: 'plan', file, text: 'one', state: 'approved' });
  writeFileSync(file, 'changed\n');
  expect(planNow(session)).toEqual({ file, text: 'changed', state: 'approved' });
  session.append({ type: 'plan', file: join(folder, 'gone.md'), text: 'as it was', state: 'approved' });
  expect(planNow(session)?.text).toBe('as it was');
});

test('a folder that cannot be made is an error', () => {
  const folder = tempFolder({ file: 'x' });
  expect(() => keepPlanIn(join(folder, 'file/plans'), 'x', memorySession())).toThrow();
});
