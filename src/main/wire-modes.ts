import { dirname, join } from 'node:path';
import type { CommandContext, KeptPlan } from '#domain/command.ts';
import { oneLine } from '#lib/names.ts';
import { optionsOf } from '#domain/folds.ts';
import type { Session } from '#domain/session.ts';
import type { OutputStyle } from '#domain/world.ts';
import { PLAIN_STYLE, readStyles, type StyleFolder, styleNamed, type Styles } from '#attachments/styles/styles.ts';
import type { Configuration } from './configuration.ts';
import type { Place } from './place.ts';
import { keepPlanIn, planNow, plansFolder } from './plans.ts';

export interface ModeWing {
  /** The output style in effect in a session. */
  style(session: Session): Promise<OutputStyle | undefined>;
  styles(session: Session): ReturnType<CommandContext['styles']>;
  /** Keeps a plan in a file of its own; gives the absolute path. */
  keepPlan(text: string, session: Session): Promise<string>;
  plan(session: Session): KeptPlan | undefined;
  /** Where plans are kept now. */
  plansFolder(): string;
}

export function wireModes(place: Place, configuration: Configuration, onNotice: (text: string) => void): ModeWing {
  const told = new Set<string>();
  const tell = (text: string): void => {
    if (told.has(text)) return;
    told.add(text);
    onNotice(text);
  };
  const wanted = (session: Session): string | undefined => {
    const set = optionsOf(session.log).outputStyle;
    return typeof set === 'string' ? set : configuration.settings().outputStyle;
  };
  const read = async (): Promise<Styles> => {
    const styles = await readStyles(styleFolders(place, configuration));
    for (const problem of styles.problems) tell(problem);
    return styles;
  };
  const folder = (): string => {
    const { plansDirectory } = configuration.settings();
    const used = plansFolder(plansDirectory, { project: configuration.project, userHome: place.userHome, own: place.home.plans });
    if (used === place.home.plans && plansDirectory !== undefined && plansDirectory.trim() !== '') tell(`plansDirectory "${oneLine(plansDirectory, 200)}" is not used: it leads out of the project, or decides what runs or is told later.`);
    return used;
  };
  return {
    async style(session) {
      const name = wanted(session);
      const { companion } = configuration.settings();
      const plain = companion === undefined ? undefined : { name: PLAIN_STYLE, body: '', companion };
      if (name === undefined || name === PLAIN_STYLE) return plain;
      const { all } = await read();
      const style = styleNamed(name, all);
      if (style === undefined) tell(`there is no output style "${oneLine(name, 60)}"; there are ${all.map((each) => each.name).join(', ')}.`);
      return style === undefined ? plain : { name: style.name, body: style.body, ...((style.companion ?? companion) !== undefined && { companion: style.companion ?? companion }) };
    },
    async styles(session) {
      const { all } = await read();
      const name = wanted(session);
      return { all, now: name === undefined ? PLAIN_STYLE : styleNamed(name, all)?.name ?? name };
    },
    keepPlan: (text, session) => Promise.resolve().then(() => keepPlanIn(folder(), text, session)),
    plan: planNow,
    plansFolder: folder,
  };
}

/** The user's, then those of a trusted project; other agents' folders before our own. */
function styleFolders({ userHome, home, cwd }: Place, configuration: Configuration): readonly StyleFolder[] {
  const user = [join(userHome, '.claude', 'output-styles'), join(dirname(home.settings), 'output-styles')].map((path): StyleFolder => ({ path, from: 'yours' }));
  if (!configuration.isTrusted()) return user;
  const project = [...new Set([configuration.project, cwd])].flatMap((root) => ['.claude', '.pinion'].map((name): StyleFolder => ({ path: join(root, name, 'output-styles'), from: 'project', within: root })));
  return [...user, ...project];
}
