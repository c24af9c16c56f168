import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { branchOf, repositoryOf } from '#lib/git-files.ts';
import { tempFolder } from '../support/temp.ts';

it('finds the repository of a directory and its branch', () => {
  const root = tempFolder({ '.git/HEAD': 'ref: refs/heads/topic/x\n', 'a/b/c.txt': '' });
  const found = repositoryOf(join(root, 'a/b'));
  expect(found).toEqual({ root, gitDirectory: join(root, '.git') });
  expect(found === undefined ? '' : branchOf(found)).toBe('topic/x');
});

it('follows the file that stands for the folder in a linked work tree', () => {
  const root = tempFolder({ 'main/.git/worktrees/w/HEAD': `${'a'.repeat(40)}\n`, 'w/.git': 'gitdir: ../main/.git/worktrees/w\n' });
  const found = repositoryOf(join(root, 'w'));
  expect(found?.gitDirectory).toBe(join(root, 'main/.git/worktrees/w'));
  expect(found === undefined ? '' : branchOf(found)).toBe('aaaaaaaa');
});

it('knows nothing where there is nothing to know', () => {
  const root = tempFolder();
  mkdirSync(join(root, '.git'));
  const found = repositoryOf(root);
  expect(found === undefined ? '' : branchOf(found)).toBeUndefined();
});
