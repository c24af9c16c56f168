import { cutToLength } from '#lib/text.ts';
import { defineCommand, type Effect } from '#domain/command.ts';
import type { SettingsView, StatusLineView } from '#domain/settings.ts';

const KEY = 'statusLine';
const LONGEST_COMMAND = 4000;

/** A command of the user's that draws a status line: what is set, what it is given; set it, or take it away. */
export default defineCommand({
  id: 'statusline',
  group: 'Session',
  summary: 'Your own status line above the bar; show it with what it gets, set its command',
  usage: '[<command> | off]',
  anytime: true,
  complete: (args) => (/\s/.test(args.trim()) ? [] : ['off']),
  async run(args, context): Promise<Effect> {
    const wanted = args.trim();
    const settings = context.settings();
    if (wanted === '') return show(await context.statusLine(), settings);
    if (wanted === 'off') return turnOff(settings);
    if (wanted.length > LONGEST_COMMAND) return { type: 'refuse', message: `a status line's command has at most ${LONGEST_COMMAND} characters; put it into a script.` };
    if (/[\0\r\n]/.test(wanted)) return { type: 'refuse', message: 'a status line\'s command is one line; put more into a script.' };
    const { padding, refreshInterval } = partsOf(settings);
    return { type: 'configure', change: { key: KEY, scope: 'user', value: { type: 'command', command: wanted, ...(padding !== undefined && { padding }), ...(refreshInterval !== undefined && { refreshInterval }) } } };
  },
});

/** In the user's own file; where another file sets it, ours says that there is none. */
function turnOff({ rows, files }: SettingsView): Effect {
  const from = rows.find(({ key }) => key === KEY)?.from ?? [];
  const [set] = from;
  if (set === undefined) return { type: 'show', card: { title: 'There is no status line of your own', detail: '/statusline <command> sets one', body: [] } };
  const scope = set.scope === 'project' || set.scope === 'local' ? 'local' : 'user';
  return { type: 'configure', change: set.file === files[scope] ? { key: KEY, scope } : { key: KEY, scope, value: false } };
}

/** What of the setting a new command keeps. */
function partsOf({ rows }: SettingsView): { readonly padding?: number; readonly refreshInterval?: number } {
  const value = rows.find(({ key }) => key === KEY)?.value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  const { padding, refreshInterval } = value as { readonly padding?: unknown; readonly refreshInterval?: unknown };
  return { ...(typeof padding === 'number' && { padding }), ...(typeof refreshInterval === 'number' && { refreshInterval }) };
}

function show({ setting, input }: StatusLineView, { rows }: SettingsView): Effect {
  const off = rows.find(({ key }) => key === KEY)?.value === false;
  const every = setting?.refreshSeconds === undefined ? [] : [`also every ${setting.refreshSeconds} s`];
  return {
    type: 'show',
    card: {
      title: setting === undefined ? 'Status line: only ours' : `Status line: ${cutToLength(setting.command, 300)}`,
      detail: setting === undefined ? `${off ? 'switched off; ' : ''}/statusline <command> sets one` : [setting.file, ...every, '/statusline off takes it away'].join(' · '),
      body: [
        { type: 'text', text: 'The command runs at the start, after each answer and when the mode changes, with this on its standard input:' },
        { type: 'code', language: 'json', text: JSON.stringify(input, undefined, 2) },
      ],
    },
  };
}
