import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ScopedRule, Settings } from '#domain/settings.ts';
import { messageOf } from '#lib/errors.ts';
import { type Arguments, UsageError } from '#cli/arguments.ts';
import { isWithin, realPathOf } from '#lib/within.ts';
import { protectedAs } from '#gate/protect.ts';
import { createTrust, type Trust, withoutUntrusted } from '#gate/trust.ts';
import { type RuleSet, ruleProblems } from '#gate/rules.ts';
import { readFlag } from '#mcp/config/read.ts';
import { keepAllowRule } from '#session/rules.ts';
import { givenFile, givenSettings } from '#session/given-settings.ts';
import { type Layer, mergeLayers, modelId, readLayers, settingsFiles, splitNames } from '#session/settings.ts';
import { type Place, workingFolders } from './place.ts';

/** Settings in effect, read anew when trust or rules change. */
export interface Configuration {
  readonly trust: Trust;
  /** The folder whose settings files count: the top of the repository, else the start directory. */
  readonly project: string;
  settings(): Settings;
  /** What is heard of each settings file, weakest first; `--settings` comes last. */
  layers(): readonly Layer[];
  rules(): RuleSet;
  roots(): readonly string[];
  isTrusted(): boolean;
  /** One line per thing that could not be used. */
  warnings(): readonly string[];
  /** Keeps a rule that the user agreed to; it holds once this is done. */
  keepRule(rule: string, keep: 'session' | 'local'): Promise<void>;
  /** Every settings file that counts, there or not. */
  readonly files: readonly string[];
  /** Reads the files anew. */
  reload(): void;
  /** Takes what the folder wants into effect, for this run, and for later ones unless `once`. */
  believe(once: boolean): Promise<void>;
  /** Is called the moment the user has agreed to what the folder wants; `written`: once that is kept. */
  whenBelieved(then: (once: boolean, written: Promise<void>) => Promise<void>): void;
}

export function configure(place: Place, args: Arguments): Configuration {
  const project = place.repository?.root ?? place.cwd;
  const trust = createTrust({ file: place.home.trust, home: place.userHome });
  const added = workingFolders(place.cwd, args.addDir);
  const unread = args.mcpConfig.map((flag) => readFlag(flag, place.cwd).problem).find((problem) => problem !== undefined);
  if (unread !== undefined) throw new UsageError(unread);
  const flags = { allow: ruled(args.allowedTools, place.cwd), deny: ruled(args.disallowedTools, place.cwd) };
  const session: ScopedRule[] = [];
  let believed = args.trust || trust.isTrusted(project);
  let given = givenIn(args, place.cwd);
  const believers: ((once: boolean, written: Promise<void>) => Promise<void>)[] = [];
  let now = load();

  function load() {
    const { layers, warnings } = readLayers(place.home, place.userHome, project);
    const open = layers.filter(({ scope, file }) => scope !== 'user' && isOpen(file, project));
    const heard = [...layers.map((layer) => (layer.scope === 'user' ? layer : { ...layer, fields: withoutUntrusted(layer.fields, believed && !open.includes(layer)).fields })), ...given];
    const merged = mergeLayers(heard);
    const rules = {
      allow: [...merged.settings.permissions.allow, ...flags.allow, ...session],
      ask: merged.settings.permissions.ask,
      deny: [...merged.settings.permissions.deny, ...flags.deny],
    };
    const { model, effort } = merged.settings;
    const settings = { ...merged.settings, ...(args.model !== undefined ? { model: modelId(args.model) } : model === undefined ? {} : { model }), ...(effort !== undefined && { effort }), ...(args.maxBudgetUsd !== undefined && { budgetUsd: args.maxBudgetUsd }), ...(args.fallbackModel !== undefined && { fallbackModels: splitNames(args.fallbackModel).map(modelId) }) };
    const folders = merged.settings.permissions.additionalDirectories.map((folder) => resolve(project, folder)).filter((folder) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true);
    const linked = open.map(({ file }) => `${file} is a link to a file that may be changed without a question: only its deny and ask rules hold.`);
    return { settings, heard, rules, warnings: [...warnings, ...linked, ...merged.warnings, ...ruleProblems(rules)], roots: [...new Set([place.cwd, ...added, ...folders])] };
  }

  return {
    trust, project,
    files: [...settingsFiles(place.home, place.userHome, project).map(({ file }) => file), ...filesGiven(args, place.cwd)],
    layers: () => now.heard,
    reload() {
      const spoilt = taken(() => { given = givenIn(args, place.cwd); });
      now = load();
      if (spoilt !== undefined) now = { ...now, warnings: [...now.warnings, spoilt] };
    },
    settings: () => now.settings,
    rules: () => now.rules,
    roots: () => now.roots,
    isTrusted: () => believed,
    warnings: () => now.warnings,
    async keepRule(rule, keep) {
      // First for this run: an untrusted folder's own file stays inert, and one that takes no rule costs the next run only.
      session.push({ rule, root: project, scope: 'session' });
      now = load();
      if (keep === 'local') await keepAllowRule(project, rule);
    },
    whenBelieved: (then) => { believers.push(then); },
    async believe(once) {
      // What the folder brings along is there at once, so that nothing gets through while this is being written down.
      believed = true;
      now = load();
      const written = once ? Promise.resolve() : trust.remember(project);
      await Promise.all([written, ...believers.map((then) => then(once, written))]);
    },
  };
}

/** What `--settings` says. Throws a UsageError. */
function givenIn({ settings }: Arguments, cwd: string): readonly Layer[] {
  if (settings === undefined) return [];
  try {
    return [givenSettings(settings, cwd)];
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function filesGiven({ settings }: Arguments, cwd: string): readonly string[] {
  const file = settings === undefined ? undefined : givenFile(settings, cwd);
  return file === undefined ? [] : [file];
}

/** Why something could not be taken up; what was before stays. */
function taken(task: () => void): string | undefined {
  try {
    task();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Whether a settings file is, by a link, one that the model may change without a question: it would give itself rules. */
function isOpen(file: string, project: string): boolean {
  const real = realPathOf(file);
  const top = realPathOf(project);
  return isWithin(top, real) && protectedAs(real, top) === undefined;
}

function ruled(rules: readonly string[], root: string): readonly ScopedRule[] {
  return rules.map((rule) => ({ rule, root, scope: 'flag' }));
}
