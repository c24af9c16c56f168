/** The shells whose settings can be taken over, in the order of the list of those who read them: known without loading any of it. */
export const shells: readonly { readonly id: string; readonly label: string }[] = [
  { id: 'claude', label: 'Claude Code' },
  { id: 'codex', label: 'Codex' },
  { id: 'gemini', label: 'Gemini CLI' },
  { id: 'opencode', label: 'opencode' },
  { id: 'crush', label: 'Crush' },
  { id: 'cursor', label: 'Cursor' },
];
