/** What a stretch of text is, not how it looks: the theme knows that. */
export type Role =
  | 'strong' | 'italic' | 'strike' | 'dim' | 'accent' | 'good' | 'warning' | 'bad' | 'selected'
  | 'user' | 'heading' | 'link' | 'quote' | 'code' | 'border' | 'number'
  | 'added' | 'removed' | 'hunk'
  | 'modeDefault' | 'modeEdits' | 'modePlan' | 'modeBypass'
  | 'keyword' | 'string' | 'literal' | 'comment' | 'name' | 'type' | 'meta';

export type ThemeName = 'dark' | 'light' | 'plain';

/** Puts text into the look of a role. Text may hold SGR of other roles; each role closes only what it opened. */
export type Theme = (role: Role, text: string) => string;

type Sgr = readonly [open: string, close: string];

const BOLD: Sgr = ['1', '22'];
const FAINT: Sgr = ['2', '22'];
const colour = (code: number): Sgr => [String(code), '39'];
const shade = (index: number): Sgr => [`38;5;${index}`, '39'];

const shared = {
  strong: BOLD, italic: ['3', '23'], strike: ['9', '29'], dim: FAINT, selected: BOLD, user: BOLD, heading: BOLD,
  quote: ['3', '23'], border: FAINT, number: FAINT, comment: FAINT,
} as const satisfies Partial<Record<Role, Sgr>>;

const dark: Readonly<Record<Role, Sgr>> = {
  ...shared,
  accent: colour(36), good: colour(32), warning: colour(33), bad: colour(31),
  link: colour(36), code: shade(180), added: shade(114), removed: shade(210), hunk: colour(36),
  modeDefault: FAINT, modeEdits: shade(141), modePlan: shade(79), modeBypass: shade(203),
  keyword: shade(176), string: shade(114), literal: shade(179), name: shade(111), type: shade(80), meta: shade(245),
};

const light: Readonly<Record<Role, Sgr>> = {
  ...shared,
  accent: shade(25), good: shade(28), warning: shade(130), bad: shade(124),
  link: shade(25), code: shade(94), added: shade(28), removed: shade(124), hunk: shade(25),
  modeDefault: FAINT, modeEdits: shade(91), modePlan: shade(29), modeBypass: shade(160),
  keyword: shade(90), string: shade(28), literal: shade(130), name: shade(25), type: shade(30), meta: shade(240),
};

const plain: Theme = (_, text) => text;

function coloured(table: Readonly<Record<Role, Sgr>>): Theme {
  return (role, text) => {
    if (text === '') return text;
    const [open, close] = table[role];
    return `\u001B[${open}m${text}\u001B[${close}m`;
  };
}

/** The theme of a name. `NO_COLOR` (set and not empty) and `TERM=dumb` in `env` win over the name: no SGR at all. */
export function themeOf(name: ThemeName, env: Readonly<Record<string, string | undefined>>): Theme {
  if (name === 'plain' || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return plain;
  return coloured(name === 'light' ? light : dark);
}
