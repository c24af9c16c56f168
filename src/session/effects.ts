import { never } from '#lib/brand.ts';
import type { Card } from '#domain/card.ts';
import type { Effect } from '#domain/command.ts';
import type { EntryBody, PermissionMode } from '#domain/entry.ts';

/** What a surface can do. What it leaves out it cannot do, and says so in one line. */
export interface Surface {
  /** Shows the card of a command line; kept in the log. */
  show(line: string, card: Card): void;
  append(entries: readonly EntryBody[]): void;
  submit(prompt: string): Promise<void>;
  compact(keep: string): Promise<void>;
  mode(mode: PermissionMode): void;
  /** Shows why a command was not done. */
  refuse(line: string, message: string): void;
  exit(): void;
  clear?(all: boolean): Promise<void>;
  resume?(id: string | undefined): Promise<void>;
  model?(id: string | undefined): Promise<void>;
  login?(): Promise<void>;
  logout?(): Promise<void>;
}

const UNABLE = {
  clear: 'In print mode every run without -c is a new session: there is nothing to clear.',
  resume: 'In print mode name the session when you start: pinion -p -r <id> "…".',
  model: 'In print mode name the model when you start: pinion -p --model <id> "…".',
  login: 'Set ANTHROPIC_API_KEY, or run pinion in a terminal and use /login there.',
  logout: 'Run pinion in a terminal and use /logout there.',
} as const;

/** Does what a command wants done: the one interpreter, for every surface. */
export async function interpret(effect: Effect, line: string, surface: Surface): Promise<void> {
  switch (effect.type) {
    case 'show': return surface.show(line, effect.card);
    case 'append':
      surface.append(effect.entries);
      return surface.show(line, effect.card);
    case 'submit': return surface.submit(effect.prompt);
    case 'compact': return surface.compact(effect.keep);
    case 'mode': return surface.mode(effect.mode);
    case 'refuse': return surface.refuse(line, effect.message);
    case 'exit': return surface.exit();
    case 'clear': return able(surface.clear?.bind(surface, effect.all), 'clear');
    case 'resume': return able(surface.resume?.bind(surface, effect.id), 'resume');
    case 'model': return able(surface.model?.bind(surface, effect.id), 'model');
    case 'login': return able(surface.login?.bind(surface), 'login');
    case 'logout': return able(surface.logout?.bind(surface), 'logout');
    default: return never(effect);
  }

  async function able(does: (() => Promise<void>) | undefined, what: keyof typeof UNABLE): Promise<void> {
    if (does === undefined) surface.refuse(line, UNABLE[what]);
    else await does();
  }
}
