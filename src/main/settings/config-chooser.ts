import type { SettingChange, SettingView } from '#domain/settings.ts';
import { changeSetting } from './config-change.ts';
import { settingsView } from './config-view.ts';
import type { Entrance } from '#main/entrance.ts';

/** Writes a setting down: this one, or the one that the user picks. A value that is no choice among a few is written in the composer. */
export async function chooseSetting(entrance: Entrance, change: SettingChange | undefined): Promise<void> {
  const { house, show, questions } = entrance;
  const wanted = change ?? await pickChange(entrance);
  if (wanted === undefined) return;
  const card = await changeSetting(house, wanted);
  show({ type: 'card', card });
  entrance.refresh();

  async function pickChange({ house }: Entrance): Promise<SettingChange | undefined> {
    const { rows } = settingsView(house);
    const key = await questions.pick({
      title: 'Settings', items: rows.map((row) => ({ id: row.key, label: row.key, detail: detailOf(row) })),
    });
    const row = rows.find((one) => one.key === key);
    if (row === undefined) return undefined;
    if (row.words.length === 0) {
      const value = row.value === undefined ? '' : typeof row.value === 'string' ? row.value : JSON.stringify(row.value);
      show({ type: 'draft', text: `/config set ${row.key} ${value}` });
      return undefined;
    }
    const now = typeof row.value === 'string' ? row.value : row.value === undefined ? undefined : JSON.stringify(row.value);
    const word = await questions.pick({
      title: row.key, ...(now !== undefined && { now }),
      items: [...row.words.map((each) => ({ id: each, label: each, ...(now === each && { detail: 'now' }) })), ...(row.from.length === 0 ? [] : [{ id: '', label: 'the default', detail: row.fallback.replaceAll('`', '') }])],
    });
    if (word === undefined) return undefined;
    return { key: row.key, scope: 'user', ...(word !== '' && { value: word === 'true' || word === 'false' ? word === 'true' : word }) };
  }
}

function detailOf({ value, fallback, from, what }: SettingView): string {
  const shown = value === undefined ? fallback.replaceAll('`', '') : typeof value === 'string' ? value : JSON.stringify(value);
  return `${shown}${from.length === 0 ? '' : ' ●'}${what === '' ? '' : ` · ${what.replaceAll('`', '')}`}`;
}
