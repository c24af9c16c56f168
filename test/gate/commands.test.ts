import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlaces } from '#gate/places.ts';
import { rulebookOf } from '#gate/rulebook.ts';
import { judgeCommand, type Judgement } from '#gate/shell/judge.ts';
import { suggestRules } from '#gate/shell/suggest.ts';
import { ground, ruleSet, type Ground } from './workspace.ts';

const DENY = ['Bash(rm:*)', 'Bash(git push:*)', 'Read(**/.env)', 'Read(**/secrets/**)', 'Edit(package-lock.json)'];
const ALLOW = ['Bash(npm run test:*)', 'Bash(git commit:*)', 'Bash(git add:*)'];

let at: Ground;
beforeAll(() => {
  at = ground();
  for (const file of ['README.md', 'src/a.ts', 'src/b.ts', 'src/-n', '.env', 'secrets/key', 'a b.txt', 'app/[id]/page.tsx', '.hidden/x', 'plain/x', 'plain/.env', 'links/x', 'package-lock.json']) at.write(file);
  at.link('../secrets/key', 'links/k');
  mkdirSync(join(at.app, '.git'));
  at.write('vendor/repo/.git/config');
  for (const name of ['bare/HEAD', 'bare/objects/x', 'bare/refs/x']) at.write(name);
});
afterAll(() => { at.remove(); });

interface Setting { readonly allow?: readonly string[]; readonly ask?: readonly string[]; readonly deny?: readonly string[]; readonly edits?: boolean; readonly trusted?: boolean; readonly cwd?: string }

function judge(command: string, { allow = ALLOW, ask = [], deny = DENY, edits = false, trusted = true, cwd = '.' }: Setting = {}): Judgement {
  const places = createPlaces({ roots: () => [at.app], home: at.home });
  return judgeCommand(command, { places, book: rulebookOf(ruleSet(at.home, { allow, ask, deny }), places.anchors()), edits, home: at.home, cwd: join(at.app, cwd), trusted });
}

describe('commands that only look', () => {
  it.each([
    'ls -la', 'ls -lah src', 'cat "a b.txt"', 'cat src/a.ts > /dev/null', 'wc -l src/*.ts', 'cat src/{a,b}.ts', 'ls src/*.ts | head -3', "cat 'app/[id]/page.tsx'", 'ls # what is here',
    'git status --short', 'git -P log --oneline', 'git --no-pager diff', 'git log --graph --all -n 5', "git log --since='2 weeks ago' --author=me", 'git show HEAD --stat', 'git ls-files', "git ls-files '*.ts'", 'git remote -v', 'git rev-parse --abbrev-ref HEAD', 'git rev-parse --show-toplevel', 'git tag', 'git branch --show-current', 'git stash list', 'git diff --cached --name-only', 'git show HEAD~2:src/a.ts', 'git log -S foo -- src', 'git blame src/a.ts', 'git diff main...HEAD', 'git diff @{u}', 'git show stash@{0}',
    "sed -n '1,20p' README.md", "sed -n '/a/,/b/p;$p' README.md", 'sed -n 5p src/a.ts', 'sort README.md | uniq -c | sort -rn', 'tr a-z A-Z < README.md', 'diff src/a.ts src/b.ts', 'stat README.md', 'file src/a.ts', 'realpath src/a.ts', 'du -sh src',
    'cd src && ls', 'cd src; cat a.ts', '(cd src && cat a.ts)', '{ ls; pwd; }', 'if test -f README.md; then cat README.md; fi', 'for f in a b; do echo hi; done', 'while false; do ls; done', 'case x in y) ls;; esac', 'test -f x || echo none', '[ 3 -gt 2 ] && echo yes', '[[ -f README.md && a == a* ]] && echo yes', '! ls missing',
    'grep -rn foo src', 'grep -n foo README.md', 'grep -E "a|b" src/a.ts', 'rg foo src', 'rg --files src', "find . -name '*.ts' -type f", 'find src -maxdepth 1 \\( -name a -o -name b \\) -print', 'find . -newer README.md', "find . -newermt '2 days ago'",
    'echo "exit: $?"', 'echo $(pwd)', 'echo "now: $(date +%F)"', 'echo `pwd`', "printf '%s\\n' $(ls src)", 'cat <<EOF\nhello\nEOF', "cat <<'EOF'\n$(rm x)\nEOF", 'ls "$PWD"', 'ls $HOME/../../work/app', 'command -v node || true', 'type ls', 'timeout 5 ls', 'nice -n 5 time -p ls', 'which node', 'date', 'sleep 1 && ls', 'basename src/a.ts', 'true && false || :', 'ls 2>&1 | tail -n 5', 'ls >/dev/null 2>&1', 'ls &>/dev/null', 'cat - < README.md', 'echo .env', 'echo "secrets/key"', 'grep .env README.md', 'NO_COLOR=1 ls', 'TZ=Europe/Berlin date', 'LANG=en_US.UTF-8 sort README.md',
    'git commit -m "fix: a; b && c"', "git commit -m 'about $(rm x)'", 'git commit -m "$(cat <<\'EOF\'\nfix: it\n\nrm is not run $(here)\nEOF\n)"', 'git add . && git commit -m "/api is gone"', 'npm run test -- --watch=false', 'npm run test | tail -20',
  ])('allows %j', (command) => {
    const { decision, reasons } = judge(command);
    expect(decision, reasons.join('; ')).toBe('allow');
  });
  it.each([
    'cat $FILE', 'cat "$f"', 'ls ${x:-y}', 'echo $SECRET', 'echo "${HOME}$X"', 'cat $(echo .env)', 'printf "$(cat README.md)" x', 'echo ${#x[1]}', 'echo $((x))', 'echo ${x^^}${y:=z}', 'cat ~+/x', 'cat ~nobody/x', 'for f in *; do cat "$f"; done', 'for PATH in /tmp; do ls; done', 'select x in a; do ls; done',
    'cat src/?(a).ts', 'cat {a..c}', 'cat <<EOF\n$SECRET\nEOF', 'cat <<< "$SECRET"', 'cat {src,$x}/a.ts', 'ls $"x"', 'cd', 'cd -', 'cd $x && ls', 'popd', 'f() { ls; }', 'coproc ls', '((x=1))', 'let x=1', '[[ -v x ]]', '[[ $x -eq 1 ]]', '[ $x -eq 1 ]', 'test a -eq b',
    'cat /etc/passwd', 'ls ..', 'cd .. && ls', 'cat ../x', 'cat /dev/sda', 'cat /proc/self/environ', 'cat src/../../x', 'ls ~',
    'sed -i s/a/b/ README.md', "sed -n 's/a/b/w x' README.md", "sed 's/a/b/' README.md", "sed -n -e p -e '1e id' README.md", "sed -n '1r /etc/passwd' README.md", 'sort --out=x README.md', 'sort -o x README.md', 'uniq a b', 'date 01010000', 'grep -R foo .', 'rg -L foo', 'tail --f=x', 'find . -delete', 'find -L .', 'find . -fprint x', 'tee x', 'xargs cat', 'ls | xargs rmdir', 'cat -Z x', 'awk 1 README.md', 'env', 'env ls', 'export A=1', 'set -e', 'unset x', 'A=1', 'CI=$(id) ls', 'TZ=:/etc/passwd date', 'LANG=../../x ls', 'arr=(1 2)', 'CI+=x ls', '/bin/ls', './ls', '\\ls ../x', "'l's ..",
    'git', 'git -C src status', 'git -c a=b status', 'git diff --ext-diff', 'git diff -- "*.ts"', "git diff -- ':(glob)**'", 'git log --format=%GK', 'git log --show-signature', 'git branch new', 'git tag v1', 'git stash', 'git remote update', 'git config x y', 'git checkout .', 'git grep x', 'git diff --no-index a b', 'git diff --output=x', 'git cat-file --textconv x', 'git log --outp=x', 'git rev-parse --git-path hooks', 'git commit -m "$MSG"', 'git commit -m "$(date)"', 'git add ../x', 'git add /etc/passwd', 'npm run test -- --config=/etc/passwd', 'npm run test > out.txt', 'npm run testing',
    'source x', '. x', 'exec ls', 'eval ls', 'trap ls EXIT', 'bash -c ls', 'sh x.sh', 'python3 -c 1', 'nohup ./x', 'timeout $T ls', 'nice -n', 'command', 'sudo ls', 'ls > x', 'ls >> src/a.ts', 'ls 2>x', 'ls >&x', 'ls <>x', 'ls > "$x"', 'ls > /dev/tcp/1.2.3.4/5', '> README.md', '{ ls; } > x', 'echo a > ~/x', 'ls\u00a0', 'cat src/\u200ba.ts', 'cat "a', 'ls |', ')', 'ls (', 'if', '$(', '${', 'cat <(ls)', 'ls >(cat)', '$x', '"" a',
  ])('asks about %j', (command) => { expect(judge(command, { deny: ['Bash(rm:*)', 'Read(**/.env)'] }).decision).toBe('ask'); });
});

describe('deny rules', () => {
  it.each([
    'rm x', '/bin/rm x', '\\rm x', "r'm' x", '"rm" x', "$'\\x72m' x", 'RM x', 'ls; rm x', 'ls | rm x', 'ls & rm x', '(ls; (rm x))', 'echo $(rm x)', 'echo `rm x`', 'echo "${x:-$(rm x)}"', 'cat <(rm x)', 'cat <<E\n$(rm x)\nE', 'x=$(rm x)', 'x=(1 $(rm x))', 'echo ${a[$(rm x)]}', 'echo $(( $(rm x) ))', 'f() { rm x; }', 'if rm x; then ls; fi', 'case $(rm x) in a) ls;; esac', 'case a in a) rm x;; esac', 'for i in $(rm x); do ls; done', 'ls > $(rm x)', '[[ -f $(rm x) ]]', 'coproc rm x', 'time rm x', '! rm x', 'A=1 rm x', 'LD_PRELOAD=x rm x',
    'timeout 5 rm x', 'timeout -s KILL 5 rm x', 'timeout --wat 5 rm x', 'nice -n 5 rm x', 'nohup rm x', 'stdbuf -o0 rm x', 'command rm x', 'builtin command rm x', 'exec rm x', 'env rm x', 'env -i A=1 rm x', 'env -S "rm x"', 'sudo -u root rm x', 'sudo A=1 rm x', 'doas rm x', 'setsid rm x', 'xargs rm', 'xargs -I{} rm {}', 'xargs -n 1 -P 4 rm', 'find . -exec rm {} +', 'find . -name x -execdir rm {} \\;', 'flock /tmp/l rm x', "flock /tmp/l -c 'rm x'", 'watch rm x', 'parallel rm ::: x', 'busybox rm x', 'strace -f rm x', "su -c 'rm x'", 'nice nohup timeout 5 env rm x', 'taskset 1 rm x',
    "bash -c 'rm x'", "bash -lc 'ls; rm x'", "sh -c 'bash -c \"rm x\"'", "eval 'rm x'", 'eval rm x', "trap 'rm x' EXIT", "alias a='rm x'", "bash <<< 'rm x'", "bash <<'E'\nrm x\nE", '{rm,x}', 'git push', 'git -c a=b push', 'git -C x --no-pager push origin', 'cd src && git push', 'git  push', 'rm x; echo "', 'rm x; $(',
    'cat .env', 'cat ./.env', 'cat src/../.env', 'cat .e*', 'cat .?nv', 'cat .[e]nv', 'cat {.env,x}', "cat $'.e\\x6ev'", 'cat < .env', 'grep x .env', 'grep -f .env x', 'grep --file=.env x', 'cp .env x', 'ls secrets', 'find secrets', 'cat links/k', 'cat */key', 'cd secrets && cat key', 'cd secrets; ls', 'cd src; cat ../.env', 'head -n1 .env', 'node --env-file=.env x', 'curl -d @.env x', 'git diff -- .env', 'git show HEAD:.env', 'git show :./.env', 'git log -L1,5:.env', 'unknown .env', "bash -c 'cat .env'", 'test -f .env', '[[ -f .env ]]', 'source .env', '. .env', 'ls > .env', 'tee .env', 'date -r .env', 'diff README.md .env', 'docker run -v .env:/x y', 'scp .env:x y', '>> package-lock.json', 'ls > package-lock.json', 'cp x package-lock.json', 'sed -i s/a/b/ package-lock.json', 'git add .env',
  ])('deny %j', (command) => {
    const { decision, reasons } = judge(command);
    expect(decision, reasons.join('; ')).toBe('deny');
  });
  it('hold past any number of segments', () => {
    for (const count of [50, 51, 500]) expect(judge(`${'true; '.repeat(count)}rm x`).decision).toBe('deny');
  });
  it('do not reach into words that only look so', () => {
    for (const command of ['echo rm x', 'grep rm README.md', "echo 'a; rm x'", 'cat README.md # rm x', 'git log --grep=rm', 'timeout 5 grep rm README.md', 'git log --grep=.env']) expect(judge(command).decision, command).toBe('allow');
    expect(judge('rmdir x').decision).toBe('ask');
    expect(judge('cat package-lock.json').decision).toBe('allow');
  });
  it('make the reader of a tree ask if something in it is denied, by its own name or behind a link', () => {
    expect(judge('grep -r x .').decision).toBe('ask');
    expect(judge('grep -r x src').decision).toBe('allow');
    expect(judge('grep -r x plain').decision).toBe('ask');
    expect(judge('grep -r x links').decision).toBe('ask');
    expect(judge('rg x plain').decision).toBe('allow');
    expect(judge('rg --hidden x plain').decision).toBe('ask');
    expect(judge('diff -r plain src').decision).toBe('ask');
    expect(judge('grep -r x .', { deny: [] }).decision).toBe('allow');
  });
});

describe('what else decides', () => {
  it('asks by an ask rule even where all else allows', () => {
    expect(judge('ls', { ask: ['Bash(ls:*)'] })).toMatchObject({ decision: 'ask', hard: true });
    expect(judge('true; timeout 3 ls', { ask: ['Bash(ls:*)'] })).toMatchObject({ decision: 'ask', hard: true });
    expect(judge('cat src/a.ts', { ask: ['Read(src/**)'] })).toMatchObject({ decision: 'ask', hard: true });
    expect(judge('ls', { ask: ['Bash(ls:*)'], deny: ['Bash(ls)'] }).decision).toBe('deny');
  });
  it('asks for ever when a deny rule cannot be understood', () => {
    expect(judge('ls', { deny: ['Bash(rm'] })).toMatchObject({ decision: 'ask', hard: true });
    expect(judge('ls', { deny: ['Read(x'] })).toMatchObject({ decision: 'ask', hard: true });
    expect(judge('ls', { deny: ['WebFetch(x'] }).decision).toBe('allow');
  });
  it('lets file commands pass where edits do, inside and unprotected', () => {
    for (const command of ['mkdir -p x/y', 'touch src/new.ts', 'cp src/a.ts src/c.ts', 'mv src/a.ts src/d.ts', 'echo x > src/a.ts', 'cd src && touch q']) {
      expect(judge(command, { edits: true }).decision, command).toBe('allow');
      expect(judge(command).decision, command).toBe('ask');
    }
    for (const command of ['mkdir ../x', 'touch /tmp/x', 'cp /etc/passwd x', 'cp -r src x', 'ln -s / x', 'touch .git/x', 'mkdir -p .claude', 'echo x > .mcp.json', 'cd .claude && echo x > settings.json', 'rmdir src', 'mv .vscode x', 'chmod +x x', 'touch "$x"', 'cp -t .git x', 'echo x > .git/hooks/pre-commit']) {
      expect(judge(command, { edits: true }).decision, command).toBe('ask');
    }
    expect(judge('echo x > .git/config', { edits: true }).hard).toBe(true);
  });
  it('lets git run no configuration but that of the trusted workspace', () => {
    expect(judge('git status', { trusted: false }).decision).toBe('ask');
    expect(judge('git status', { cwd: 'src' }).decision).toBe('allow');
    expect(judge('git status', { cwd: 'vendor/repo' }).decision).toBe('ask');
    expect(judge('cd vendor/repo && git status').decision).toBe('ask');
    expect(judge('cd bare && git status').decision).toBe('ask');
    expect(judge('ls', { trusted: false }).decision).toBe('allow');
  });
  it('knows what only looks', () => {
    for (const command of ['ls', 'cat /etc/passwd', 'cat "$x"', 'git log | head', 'ls > /dev/null', 'echo $(ls)']) expect(judge(command).looksOnly, command).toBe(true);
    for (const command of ['npm run test', 'ls > x', 'echo $(id)', 'f() { ls; }', '$x', 'ls; touch x', 'A=1 ls', '(', "sed -n '1w x' a"]) expect(judge(command).looksOnly, command).toBe(false);
  });
  it('sees a whole nest of wrappers, scripts and brackets without end', () => {
    for (const command of ['('.repeat(3000) + ')'.repeat(3000), '$('.repeat(3000) + 'rm x' + ')'.repeat(3000), 'eval '.repeat(3000) + 'ls', 'sudo '.repeat(2000) + 'ls', '{a,b}'.repeat(500), '"'.repeat(50_001), `ls ${'${x:-'.repeat(2000)}`, 'cd a;'.repeat(200) + 'ls', `cat ${Array.from({ length: 3000 }, (_, index) => `f${index}`).join(' ')}`]) {
      expect(['ask', 'deny'], command.slice(0, 20)).toContain(judge(command).decision);
    }
    expect(judge(`echo ${'a '.repeat(50_000)}`).decision).toBe('allow');
    expect(judge('ls a;'.repeat(5000)).decision).toBe('allow');
  });
});

describe('rules that are offered', () => {
  it.each([
    [['npm', 'run', 'test'], 'Bash(npm run test:*)'], [['git', 'checkout', '-b', 'x'], 'Bash(git checkout:*)'], [['cargo', 'build'], 'Bash(cargo build:*)'], [['prettier', '--check', '.'], 'Bash(prettier:*)'],
    [['python3', 'x.py'], 'Bash(python3 x.py)'], [['rm', '-r', 'x'], 'Bash(rm -r x)'], [['./run.sh', 'a'], 'Bash(./run.sh a)'], [['git', '-C', '/x', 'push'], 'Bash(git -C /x push)'],
  ])('%j', (words, expected) => { expect(suggestRules([words])).toEqual([expected]); });
  it('are none where none would say plainly what they allow', () => {
    expect(suggestRules([['bash', '-c', 'ls; id']])).toEqual([]);
    expect(suggestRules([['a$b']])).toEqual([]);
    expect(suggestRules([])).toEqual([]);
    expect(suggestRules(['a', 'b', 'c', 'd', 'e', 'f'].map((word) => [word]))).toEqual([]);
    expect(suggestRules([['a'], ['a', 'x'], ['b']])).toEqual(['Bash(a:*)', 'Bash(b:*)']);
  });
});

describe('whatever the command', () => {
  const ORDER = ['deny', 'ask', 'allow'];
  const simple = fc.constantFrom('ls', 'cat src/a.ts', 'rm x', 'npm run test', 'cat .env', 'id', 'cat "$x"', 'echo x > src/a.ts', 'git status', 'git push', 'cat /etc/passwd', 'echo hi', 'touch x', 'cd src', 'grep x README.md', 'timeout 5 ls', "bash -c 'ls'", 'true', 'git add src', "echo 'x'", 'sudo ls');
  const glued = fc.tuple(fc.array(simple, { minLength: 1, maxLength: 4 }), fc.constantFrom('; ', ' && ', ' || ', ' | ', '\n', ' & ')).map(([parts, glue]) => ({ parts, whole: parts.join(glue) }));
  it('a compound is allowed only if each of its parts is, and denied if one of them is', () => {
    fc.assert(fc.property(glued, fc.boolean(), ({ parts, whole }, edits) => {
      const each = parts.map((part) => judge(part, { edits }).decision);
      const all = judge(whole, { edits }).decision;
      if (all === 'allow') expect(each.every((one) => one === 'allow')).toBe(true);
      if (each.includes('deny')) expect(all).toBe('deny');
    }), { numRuns: 80 });
  });
  it('another deny or ask rule never makes anything more allowed', () => {
    const extra = fc.constantFrom('Bash(ls:*)', 'Bash', 'Bash(* x)', 'Read(src/**)', 'Read', 'Edit(**)', 'Bash(git', 'Read(!x)', '', 'Bash(echo hi)', 'Read(~/x)', 'Bash(command:ls*)');
    fc.assert(fc.property(glued, extra, fc.constantFrom('deny', 'ask'), ({ whole }, rule, list) => {
      const before = judge(whole).decision;
      const after = judge(whole, list === 'deny' ? { deny: [...DENY, rule] } : { ask: [rule] }).decision;
      expect(ORDER.indexOf(after)).toBeLessThanOrEqual(ORDER.indexOf(before));
    }), { numRuns: 80 });
  });
  it('any text at all is judged without a throw, and only what is parsed is allowed', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.array(fc.constantFrom('$', '(', ')', '{', '}', '"', "'", '`', '\\', ';', '|', '&', '<', '>', 'ls', ' ', '\n', '~', '*', '[', ']', '=', '#', '!', 'rm', '-'), { maxLength: 24 }).map((parts) => parts.join('')));
    fc.assert(fc.property(text, (command) => { expect(ORDER).toContain(judge(command).decision); }), { numRuns: 300 });
  });
});
