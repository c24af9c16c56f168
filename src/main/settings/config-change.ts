import type { Json } from '#lib/brand.ts';
import type { Card } from '#domain/card.ts';
import type { SettingChange, SettingsView } from '#domain/settings.ts';
import { changeOwnSettings, changeProjectSettings } from '#session/write-settings.ts';
import { withKey } from '#session/setting-keys.ts';
import { settingsView } from './config-view.ts';
import type { House } from '#main/house.ts';

/** Writes a setting down and takes it up. Throws a UserError where it cannot be written. */
export async function changeSetting(house: Pick<House, 'configuration' | 'place' | 'args'>, { key, value, scope }: SettingChange): Promise<Card> {
  const { configuration, place } = house;
  const change = (fields: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> => withKey(fields, key, value);
  if (scope === 'user') await changeOwnSettings(place.home.settings, change);
  else await changeProjectSettings(configuration.project, scope === 'project' ? 'settings.json' : 'settings.local.json', change);
  configuration.reload();
  const view = settingsView(house);
  const title = value === undefined ? `${key} is taken out` : `${key}: ${shown(value)}`;
  return { title, detail: detailOf(view, { key, scope, ...(value !== undefined && { value }) }, configuration.isTrusted()), tone: 'good', body: [{ type: 'text', text: view.files[scope] }] };
}

/** When it holds, or why it does not. */
function detailOf({ rows, files }: SettingsView, { key, value, scope }: SettingChange, trusted: boolean): string {
  const row = rows.find((one) => one.key === key) ?? rows.find((one) => key.startsWith(`${one.key}.`));
  if (scope !== 'user' && !trusted && !/^permissions\.(?:deny|ask)$/.test(key)) return 'once this folder is trusted';
  const last = row?.from.at(-1);
  if (last !== undefined && last.file !== files[scope] && !(Array.isArray(row?.value))) {
    const mine = row?.from.some(({ file }) => file === files[scope]) === true;
    if (!mine) return value === undefined ? `${last.file} still says ${shown(row?.value)}` : `${last.file} goes before it and says ${shown(row?.value)}`;
  }
  const what = value === undefined && last === undefined ? 'the default holds' : 'holds';
  return row?.takesEffect === 'start' ? `${what} from the next start on` : row?.takesEffect === 'session' ? `${what} for new sessions` : `${what} from now on`;
}

const MOST = 60;

function shown(value: Json | undefined): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? '';
  return text.length <= MOST ? text : `${text.slice(0, MOST - 1)}…`;
}
