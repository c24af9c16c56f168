import { runsAnything } from './wrappers.ts';

/** Programs whose first words say what they do; a rule names those too. */
const WITH_SUBCOMMANDS = new Set('git npm pnpm yarn bun cargo go dotnet gradle mvn pip pip3 uv poetry pdm rustup gh glab kubectl helm terraform brew apt apt-get systemctl docker-compose composer bundle rails mix deno nx turbo lerna hg svn'.split(' '));
/** Subcommands after which another word says what is run. */
const RUNNERS = new Set(['run', 'exec', 'run-script', 'compose', 'remote', 'stash', 'config', 'worktree', 'submodule', 'workspace', 'pr', 'issue']);
/** Programs of which one use says nothing about the next. */
const DESTROYS = /^(?:rm|rmdir|dd|shred|truncate|chmod|chown|kill|pkill|killall|mkfs.*|mv|ln|tee)$/;
/** Most rules that one question may offer. */
const MOST_RULES = 5;
/** Longest command that a rule is made of word for word. */
const LONGEST_EXACT = 200;

/** Rules that would allow these commands from now on, one each; empty when that cannot be said in a few plain rules. */
export function suggestRules(commands: readonly (readonly string[])[]): readonly string[] {
  const rules = new Set<string>();
  for (const words of commands) {
    const rule = ruleFor(words);
    if (rule === undefined) return [];
    rules.add(rule);
  }
  return rules.size > MOST_RULES ? [] : [...rules];
}

function ruleFor(words: readonly string[]): string | undefined {
  const [program = ''] = words;
  if (!/^[\w.@+/-]+$/.test(program)) return undefined;
  const nameless = WITH_SUBCOMMANDS.has(program) && words.length > 1 && !isName(words[1]);
  if (runsAnything(program) || DESTROYS.test(program) || program.includes('/') || nameless) {
    const text = words.join(' ');
    return words.every((word) => /^[\w.,:=@%+/-]+$/.test(word)) && text.length <= LONGEST_EXACT && !text.includes(':*') ? `Bash(${text})` : undefined;
  }
  return `Bash(${words.slice(0, namingWords(words)).join(' ')}:*)`;
}

/** How many words at the beginning say what is done. */
function namingWords(words: readonly string[]): number {
  if (!WITH_SUBCOMMANDS.has(words[0] ?? '') || !isName(words[1])) return 1;
  return RUNNERS.has(words[1] ?? '') && isName(words[2]) ? 3 : 2;
}

const isName = (word: string | undefined): boolean => word !== undefined && /^[a-z][\w:.-]*$/i.test(word);
