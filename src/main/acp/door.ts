import { messageOf } from '#lib/errors.ts';
import { type SettingsWatch, watchSettings } from '#watch/settings.ts';
import type { Conversation } from '#main/conversation.ts';
import type { Entrance } from '#main/entrance.ts';
import type { House } from '#main/house.ts';

/** Whether the folder brings something along that the user must be asked about before it may take effect. */
async function mustAsk({ configuration, hooks, languages, place, args }: House): Promise<boolean> {
  if (!configuration.isTrusted()) return configuration.trust.wantsOf(configuration.project, place.cwd).length > 0;
  const { createServerDesk } = await import('#main/mcp/servers.ts');
  if (createServerDesk({ place, args, configuration }).read().servers.some(({ approval }) => approval === 'needed')) return true;
  if (!args.trust && languages.consent.pending()) return true;
  return !configuration.settings().disableAllHooks && (await hooks.pending()).length > 0;
}

export interface Door {
  /** Opens the house's connections at once where nothing is to be asked. */
  open(): Promise<void>;
  /** Before the first prompt: asks what must be asked. What nobody answers has no effect; what was broken off is asked again. */
  enter(entrance: Entrance, signal: AbortSignal): Promise<void>;
}

export function createDoor(house: House, notice: (text: string) => void): Door {
  let entered = false;
  const begin = (): void => {
    if (entered) return;
    entered = true;
    house.start();
  };
  return {
    async open() {
      if (entered) return;
      const asks = await mustAsk(house);
      for (const problem of (await import('#main/mcp/door.ts')).serverNotices(house)) if (!asks) notice(problem);
      if (!asks) begin();
    },
    async enter(entrance, signal) {
      if (entered) return;
      if (await mustAsk(house)) {
        const [{ askForTrust }, { askForServers }, { askForHooks }, { askForLanguages }] = await Promise.all([import('#main/entrance.ts'), import('#main/mcp/door.ts'), import('#main/hooks/door.ts'), import('#main/language-door.ts')]);
        for (const ask of [askForTrust, askForServers, askForHooks, askForLanguages]) if (!signal.aborted) await ask(entrance);
        if (signal.aborted) return;
      }
      begin();
    },
  };
}

/** Takes a settings file up when it is saved, as far as hooks let it. */
export function followSettings({ house, conversation }: { readonly house: House; readonly conversation: Conversation }, notice: (text: string) => void, changed: () => void): Promise<SettingsWatch> {
  const reload = async (file: string): Promise<void> => {
    const stop = await house.hooks.configChanged(file, conversation.session);
    if (stop !== undefined) return notice(`${file} was changed, and is not taken up now: ${stop}`);
    const before = new Set(house.configuration.warnings());
    house.configuration.reload();
    house.mcp.start();
    for (const message of house.configuration.warnings()) if (!before.has(message)) notice(message);
    house.hooks.reloaded(conversation.session);
    return changed();
  };
  return watchSettings(house.configuration.files, (file) => { void reload(file).catch((error: unknown) => { notice(messageOf(error)); }); }, notice);
}
