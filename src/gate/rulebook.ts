import { isTwinOfDenied } from './paths.ts';
import { coversCommand, coversPath, governs, type Anchors, type Ends } from './match.ts';
import { readRules, type BrokenRule, type ReadRules, type Rule, type RuleList, type RuleSet } from './rules.ts';

/** The rules in effect, read once, asked often. */
export interface Rulebook {
  /** A rule of the list that covers the path for this access; to allow it must cover both ends. */
  path(list: RuleList, tool: string, access: 'read' | 'write', ends: Ends): Rule | undefined;
  /** A Bash rule of the list that covers a command, given as texts of its words (see `commandText`). */
  command(list: RuleList, texts: readonly string[]): Rule | undefined;
  /** Rules about a tool that are no paths and no commands: the whole tool, a parameter, a name. */
  readonly rules: Readonly<Record<RuleList, readonly Rule[]>>;
  /** A deny or ask rule that could not be read and may have meant this tool. */
  broken(tool: string): BrokenRule | undefined;
  /** Whether reading may be denied anywhere, so that paths that are not known have to be asked about. */
  readonly deniesPaths: boolean;
  /** Whether a shell command may be denied. */
  readonly deniesCommands: boolean;
}

export function rulebookOf(rules: RuleSet, anchors: Anchors): Rulebook {
  const read: Record<RuleList, ReadRules> = { allow: readRules(rules.allow, 'allow'), ask: readRules(rules.ask, 'ask'), deny: readRules(rules.deny, 'deny') };
  const unread = [...read.deny.broken, ...read.ask.broken];
  const commands = (list: RuleList): readonly Rule[] => read[list].rules.filter((rule) => rule.tool === 'Bash');
  return {
    path(list, tool, access, ends) {
      const about = read[list].rules.filter((rule) => governs(rule, list, tool, access));
      return about.find((rule) => coversPath(rule, list, ends, anchors)) ?? (list === 'deny' && isTwinOfDenied(about, ends, anchors) ? about[0] : undefined);
    },
    command: (list, texts) => commands(list).find((rule) => rule.spec === undefined || coversCommand(rule.spec, texts)),
    rules: { allow: read.allow.rules, ask: read.ask.rules, deny: read.deny.rules },
    broken: (tool) => unread.find((rule) => rule.tool === undefined || rule.tool === tool || rule.tool === 'Read' || rule.tool === 'Edit'),
    deniesPaths: read.deny.rules.some((rule) => governs(rule, 'deny', 'Read', 'read') || governs(rule, 'deny', 'Edit', 'write')),
    deniesCommands: commands('deny').length > 0 || read.deny.broken.length > 0,
  };
}
