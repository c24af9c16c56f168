import { describe, expect, it } from 'vitest';
import { attachmentsOf } from '#domain/folds.ts';
import type { Session } from '#domain/session.ts';
import { desk, drawn } from './support.ts';

const FILES = { 'src/a.ts': 'a\nb\nc\n', 'src/deep/b.ts': 'b\n', 'src/.hidden': '', 'note': 'n\n', 'big.txt': 'x'.repeat(20_000) };
const pinned = ({ log }: Session): readonly string[] => attachmentsOf(log).map((at) => `${at.id}${at.kind === 'file' ? ` ${at.form}${at.whole ? ' whole' : ''}` : ''}`);

describe('/pin', () => {
  it('pins what its help names', async () => {
    const { session, run } = desk(FILES);
    for (const text of ['src/a.ts', 'src/a.ts#2-3', 'src/', 'src/**/*.ts', '!git status --short', 'note Ship on Friday']) expect((await run(`pin ${text}`)).type).toBe('append');
    expect(pinned(session)).toEqual(['file:src/a.ts live', 'file:src/a.ts#2-3 live', 'file:src/ live', 'file:src/**/*.ts live', 'file:!git status --short live', 'memory:ship-on-friday']);
  });

  it('takes its options before or behind a path', async () => {
    const { session, run } = desk(FILES);
    await run('pin --path src/a.ts');
    await run('pin big.txt --whole');
    await run('pin --snapshot --whole src/deep/b.ts');
    expect(pinned(session)).toEqual(['file:src/a.ts path', 'file:big.txt live whole', 'file:src/deep/b.ts snapshot whole']);
  });

  it('leaves the options of a command and the words of a note alone', async () => {
    const { session, run } = desk(FILES);
    await run('pin note install with --save-exact --whole');
    await run('pin --snapshot !git log --oneline --all');
    const [note, command] = attachmentsOf(session.log);
    expect(note).toMatchObject({ kind: 'memory', text: 'install with --save-exact --whole' });
    expect(command).toMatchObject({ id: 'file:!git log --oneline --all', form: 'snapshot' });
  });

  it('says what was pinned anew, and what was left out', async () => {
    const { session, shown } = desk(FILES);
    expect(await shown('pin big.txt')).toMatch(/^Pinned big\.txt \(text beyond 8192 of 20000 bytes is left out; --whole keeps it all in view\)$/);
    expect(await shown('pin big.txt --whole')).toBe('Pinned big.txt (in place of the earlier pin)');
    expect(pinned(session)).toEqual(['file:big.txt live whole']);
  });

  it('refuses in one line', async () => {
    const { session, refused } = desk(FILES);
    expect(await refused('pin --frozen src/a.ts')).toBe('/pin has no option --frozen. It has --snapshot, --path, --whole.');
    expect(await refused('pin --whole')).toBe('Say what is to be pinned: /pin <path> and then the option.');
    expect(await refused('pin src/a.ts --path --whole')).toBe('--path pins the path only, --whole all of the contents: choose one.');
    expect(await refused('pin src/a.ts --path --snapshot')).toMatch(/exclude each other/);
    expect(await refused('pin nowhere.ts')).toBe('No such file or folder: nowhere.ts');
    expect(session.log).toEqual([]);
  });

  it('lists the pins, readable at 80 and at 40 columns', async () => {
    const { run, shown } = desk(FILES);
    expect(await shown('pin')).toMatch(/^Nothing is pinned\n\nPin a file with \/pin <path>/);
    for (const text of ['src/a.ts', 'big.txt --whole', 'src/deep/b.ts --snapshot', 'note Ship on Friday']) await run(`pin ${text}`);
    const effect = await run('pin');
    if (effect.type !== 'show') throw new Error('no card');
    expect(drawn(effect.card, 80)).toEqual([
      '● Pins  4 pins, ~5.1k tokens',
      '  pin                   │ tokens │',
      '  ──────────────────────┼────────┼─────────────────────────────',
      '  memory:ship-on-friday │    ~10 │',
      '  file:src/a.ts         │    ~29 │',
      '  file:big.txt          │    ~5k │ whole',
      '  file:src/deep/b.ts    │    ~31 │ as it was when it was pinned',
      '',
      '  /unpin <pin> takes one away.',
    ]);
    expect(drawn(effect.card, 40).join('\n')).toMatch(/file:src\/a\.ts +│ +~29\n[\s\S]*file:big\.txt · whole +│ +~5k\n/);
  });

  it('completes paths in the folder, and options behind one', async () => {
    const { complete } = desk(FILES);
    expect(await complete('pin ')).toEqual(['big.txt', 'note', 'src/']);
    expect(await complete('pin src/')).toEqual(['src/a.ts', 'src/deep/']);
    expect(await complete('pin src/.')).toEqual(['src/.hidden']);
    expect(await complete('pin src/a.ts ')).toEqual(['--snapshot', '--path', '--whole']);
    expect(await complete('pin src/a.ts --w')).toContain('--whole');
    expect(await complete('pin nowhere/')).toEqual([]);
    expect(await complete('pin !git ')).toEqual([]);
  });
});

describe('/unpin', () => {
  it('takes a label, an id, a path or a slug', async () => {
    const { session, run, context } = desk(FILES);
    for (const text of ['src/a.ts', 'src/deep/b.ts', 'src/', '!git status', 'note Ship on Friday', 'big.txt']) await run(`pin ${text}`);
    for (const text of ['./src/a.ts', 'file:src/deep/b.ts', 'src', '!git status', 'memory: ship-on-friday', `${context.cwd}/big.txt`]) expect((await run(`unpin ${text}`)).type).toBe('append');
    expect(pinned(session)).toEqual([]);
    await run('pin note Ship on Friday');
    await run('unpin ship-on-friday');
    expect(pinned(session)).toEqual([]);
  });

  it('takes all away, but not the todo list', async () => {
    const { session, run, shown } = desk(FILES);
    await run('todo add x');
    await run('pin src/a.ts');
    await run('pin big.txt');
    expect(await shown('unpin --all')).toBe('Unpinned src/a.ts, big.txt');
    expect(pinned(session)).toEqual(['todo:list']);
  });

  it('says what is near when nothing fits', async () => {
    const { run, refused, complete } = desk(FILES);
    expect(await refused('unpin src/a.ts')).toBe('Nothing is pinned.');
    await run('pin src/a.ts#2-3');
    await run('pin big.txt');
    expect(await refused('unpin')).toBe('Say which: src/a.ts#2-3, big.txt; or --all.');
    expect(await refused('unpin src/a.ts')).toBe('Nothing is pinned as src/a.ts. Did you mean /unpin src/a.ts#2-3?');
    expect(await refused('unpin bgi.txt')).toBe('Nothing is pinned as bgi.txt. Did you mean /unpin big.txt?');
    expect(await refused('unpin quite another')).toBe('Nothing is pinned as quite another. Pinned: src/a.ts#2-3, big.txt.');
    expect(await complete('unpin ')).toEqual(['src/a.ts#2-3', 'big.txt', '--all']);
  });
});
