import { never } from '#lib/brand.ts';
import type { Card } from '#domain/card.ts';
import type { Effect } from '#domain/command.ts';
import type { SettingChange } from '#domain/settings.ts';
import type { EntryBody, PermissionMode } from '#domain/entry.ts';

/** What a surface can do. What it leaves out it cannot do, and says so in one line. */
export interface Surface {
  /** Shows the card of a command line; kept in the log. */
  show(line: string, card: Card): void;
  append(entries: readonly EntryBody[]): void;
  /** `shown`: what stands on the screen for the prompt. */
  submit(prompt: string, shown?: string): Promise<void>;
  /** Sends what a skill makes of its arguments; `line` stands on the screen for it. */
  invoke(skill: string, args: string, line: string): Promise<void>;
  compact(keep: string): Promise<void>;
  mode(mode: PermissionMode): void;
  /** Shows why a command was not done. */
  refuse(line: string, message: string): void;
  exit(): void;
  stopTask(id: string): Promise<void>;
  /** Without a change: asks which. */
  configure?(change: SettingChange | undefined, line: string): Promise<void>;
  import?(wanted: Extract<Effect, { readonly type: 'import' }>, line: string): Promise<void>;
  edit?(file: string): Promise<void>;
  takeBack?(ids: readonly string[] | undefined, how: 'edit' | 'remove'): Promise<void>;
  clear?(all: boolean): Promise<void>;
  resume?(id: string | undefined): Promise<void>;
  model?(id: string | undefined): Promise<void>;
  login?(): Promise<void>;
  logout?(): Promise<void>;
  ide?(what: Extract<Effect, { readonly type: 'ide' }>['what']): Promise<void>;
  languages?(what: 'restart' | 'trust', server: string | undefined): Promise<void>;
  hooks?(what: Extract<Effect, { readonly type: 'hooks' }>['what']): Promise<void>;
  mcp?(what: Extract<Effect, { readonly type: 'mcp' }>['what'], server: string): Promise<void>;
}

const UNABLE = {
  edit: 'Run pinion in a terminal to edit a file from within it.',
  takeBack: 'In print mode nothing waits to be sent.',
  clear: 'In print mode every run without -c is a new session: there is nothing to clear.',
  resume: 'In print mode name the session when you start: pinion -p -r <id> "…".',
  model: 'In print mode name the model when you start: pinion -p --model <id> "…".',
  login: 'Set ANTHROPIC_API_KEY, or run pinion in a terminal and use /login there.',
  logout: 'Run pinion in a terminal and use /logout there.',
  ide: 'In print mode connect when you start: pinion -p --ide "…".',
  configure: 'Settings cannot be written from here.',
  import: 'Settings cannot be taken over from here.',
  languages: 'Run pinion in a terminal to restart language servers; --trust lets those of the folder run.',
  hooks: 'Use /hooks in a terminal: what the hooks of a folder do is shown there before you agree. --trust lets them run once.',
  mcp: 'Use pinion mcp on the command line, or /mcp in a terminal.',
} as const;

/** Does what a command wants done: the one interpreter, for every surface. */
export async function interpret(effect: Effect, line: string, surface: Surface): Promise<void> {
  switch (effect.type) {
    case 'show': return surface.show(line, effect.card);
    case 'append':
      surface.append(effect.entries);
      return surface.show(line, effect.card);
    case 'submit': return surface.submit(effect.prompt, effect.shown);
    case 'invoke': return surface.invoke(effect.skill, effect.args, line);
    case 'stopTask': return surface.stopTask(effect.id);
    case 'edit': return able(surface.edit?.bind(surface, effect.file), 'edit');
    case 'takeBack': return able(surface.takeBack?.bind(surface, effect.ids, effect.how), 'takeBack');
    case 'compact': return surface.compact(effect.keep);
    case 'mode': return surface.mode(effect.mode);
    case 'refuse': return surface.refuse(line, effect.message);
    case 'exit': return surface.exit();
    case 'clear': return able(surface.clear?.bind(surface, effect.all), 'clear');
    case 'resume': return able(surface.resume?.bind(surface, effect.id), 'resume');
    case 'model': return able(surface.model?.bind(surface, effect.id), 'model');
    case 'login': return able(surface.login?.bind(surface), 'login');
    case 'logout': return able(surface.logout?.bind(surface), 'logout');
    case 'import': return able(surface.import?.bind(surface, effect, line), 'import');
    case 'configure': return able(surface.configure?.bind(surface, effect.change, line), 'configure');
    case 'ide': return able(surface.ide?.bind(surface, effect.what), 'ide');
    case 'languages': return able(surface.languages?.bind(surface, effect.what, effect.server), 'languages');
    case 'hooks': return able(surface.hooks?.bind(surface, effect.what), 'hooks');
    case 'mcp': return able(surface.mcp?.bind(surface, effect.what, effect.server), 'mcp');
    default: return never(effect);
  }

  async function able(does: (() => Promise<void>) | undefined, what: keyof typeof UNABLE): Promise<void> {
    if (does === undefined) surface.refuse(line, UNABLE[what]);
    else await does();
  }
}
