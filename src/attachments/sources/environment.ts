import type { Json } from '#lib/brand.ts';
import type { EnvironmentFacts } from '#domain/world.ts';
import { defineSource } from '../define.ts';
import { pathLine } from '../words.ts';

type Lines = Readonly<Record<string, string>>;

/** Where the session runs: directory, platform, shell, repository and branch. Later only the lines that changed. */
export default defineSource<Lines>({
  id: 'environment', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange',
  observe: (world) => linesOf(world.environment()),
  revive: (stored) => (isLines(stored) ? stored : undefined),
  full: (now) => ['Environment:', ...Object.entries(now).map(([name, value]) => `${name}: ${value}`)].join('\n'),
  delta: (before, now) => ['Environment, changed:',
    ...Object.entries(now).filter(([name, value]) => before[name] !== value).map(([name, value]) => `${name}: ${value}`),
    ...Object.keys(before).filter((name) => !(name in now)).map((name) => `${name}: none any more`),
  ].join('\n'),
});

function linesOf(facts: EnvironmentFacts): Lines {
  return {
    Directory: pathLine(facts.directory),
    ...(facts.extraDirectories.length > 0 && { 'Further directories': facts.extraDirectories.map((path) => pathLine(path)).join(', ') }),
    Platform: pathLine(facts.platform),
    Shell: pathLine(facts.shell),
    'Git repository': facts.repository ? 'yes' : 'no',
    ...(facts.branch !== undefined && { Branch: pathLine(facts.branch) }),
  };
}

function isLines(stored: Json): stored is Lines {
  return stored !== null && typeof stored === 'object' && !Array.isArray(stored) && Object.values(stored).every((value) => typeof value === 'string');
}
