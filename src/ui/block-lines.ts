import { never } from '#lib/brand.ts';
import { sanitise } from '#lib/terminal.ts';
import { count } from '#lib/text.ts';
import { type Block, type BlockBody, PROMPT_LINES, type Said, THOUGHT_LINES } from './blocks.ts';
import { drawBody, drawCard, drawTitle, FOLDED_LINES } from './card-lines.ts';
import { fold, hang, wrapProse, wrapText, wrapVerbatim } from './lines.ts';
import { drawMarkdown } from './markdown.ts';
import type { Pen } from './pen.ts';
import { tokens } from './numbers.ts';
import type { Role } from './theme.ts';

const INDENT = '  ';
const LEVELS: Readonly<Record<'info' | 'warning' | 'error', readonly [Role, string]>> = {
  info: ['dim', 'ℹ'], warning: ['warning', '▲'], error: ['bad', '✗'],
};
const OUTCOMES = { ok: 'good', failed: 'bad', refused: 'bad', interrupted: 'muted' } as const;

/** A finished block as lines of at most `pen.columns` cells, a blank line before it where it stands on its own. */
export function drawBlock(block: Block, pen: Pen): readonly string[] {
  const lines = drawInner(block, pen);
  return isTight(block) ? lines : ['', ...lines];
}

/** An answer's piece, with the answer's mark before its first. Also drawn while it still grows. */
export function drawAnswer(raw: string, first: boolean, pen: Pen): readonly string[] {
  const lines = drawMarkdown(raw, { ...pen, columns: pen.columns - INDENT.length });
  return hang(lines, first ? `${pen.theme('accent', '●')} ` : INDENT, INDENT);
}

function isTight(block: Block): boolean {
  return block.tight === true || block.type === 'mark' || block.type === 'reminders' || (block.type === 'answer' && block.piece.joined);
}

function drawInner(block: Block, pen: Pen): readonly string[] {
  const { theme } = pen;
  const most = block.full ? undefined : FOLDED_LINES;
  switch (block.type) {
    case 'prompt': return drawPrompt(block, block.full, pen);
    case 'answer': return drawAnswer(block.piece.raw, block.first, pen);
    case 'thought': return drawThought(block.text, block.full, pen);
    case 'tool': return drawCard({ ...block.card, tone: block.card.tone ?? OUTCOMES[block.outcome] }, pen, most);
    case 'shell': return drawShell(block, pen, most);
    case 'command': return [...hang(wrapVerbatim(sanitise(block.line, { tabs: 4 }), pen.columns - 2), `${theme('user', '›')} `), ...(block.card === undefined ? [] : drawCard(block.card, pen))];
    case 'card': return drawCard(block.card, pen);
    case 'notice': {
      const [role, mark] = LEVELS[block.level];
      return hang(wrapProse(sanitise(block.text, { tabs: 4 }), pen.columns - 2).map((line) => theme(role, line)), `${theme(role, mark)} `, INDENT);
    }
    case 'reminders': return drawReminders(block.said, block.full, pen);
    case 'compaction': return drawCompaction(block, pen);
    case 'plan': return drawPlan(block, pen);
    case 'mark': return hang(wrapProse(sanitise(block.text, { newlines: false }), pen.columns - 4).map((line) => theme('dim', line)), theme('dim', '  ⎿ '), '    ');
    default: return never(block);
  }
}

function drawPrompt({ text, media, whole }: Extract<BlockBody, { type: 'prompt' }>, full: boolean, pen: Pen): readonly string[] {
  const { theme } = pen;
  const all = wrapText(sanitise(text, { tabs: 4 }), pen.columns - 2);
  const lines = full ? all : fold(all, PROMPT_LINES, pen);
  const sent = full && whole !== undefined ? wrapText(sanitise(whole, { tabs: 4 }), pen.columns - 4).map((line) => theme('dim', line)) : [];
  const labels = media.map((label) => theme('dim', sanitise(label, { newlines: false })));
  return [...hang(lines.map((line) => theme('user', line)), `${theme('user', '›')} `), ...hang(sent, '    '), ...labels.flatMap((label) => hang(wrapProse(label, pen.columns - 2), INDENT))];
}

function drawThought(text: string, full: boolean, pen: Pen): readonly string[] {
  const all = wrapProse(sanitise(text, { tabs: 4 }), pen.columns - 2).map((line) => pen.theme('dim', line));
  return hang(full ? all : fold(all, THOUGHT_LINES, pen), `${pen.theme('dim', '✻')} `, INDENT);
}

function drawShell({ command, output, exitCode, task }: Extract<BlockBody, { type: 'shell' }>, pen: Pen, most: number | undefined): readonly string[] {
  const { theme } = pen;
  const head = hang(wrapVerbatim(sanitise(command, { tabs: 4 }), pen.columns - 2), `${theme('warning', '!')} `);
  const text = output.replace(/\n+$/, '');
  const body = text === '' ? [theme('dim', '(no output)')] : drawBody([{ type: 'text', text }], { ...pen, columns: pen.columns - 2 }, most);
  // A command that was stopped on purpose says so in its last line already.
  const stopped = /(?:^|\n)\((?:interrupted|timed out)\)$/.test(text);
  const ending = exitCode === 0 || (exitCode === null && stopped) ? [] : [theme('bad', exitCode === null ? 'stopped by a signal' : `exit code ${exitCode}`)];
  const after = task === undefined ? ending : [theme('dim', `goes on in the background as ${task}`)];
  return [...head, ...hang([...body, ...after], INDENT)];
}

function drawReminders(said: readonly Said[], full: boolean, pen: Pen): readonly string[] {
  const { theme } = pen;
  const names = said.map(({ source, form }) => (form === 'gone' ? `${source} (over)` : source)).join(', ');
  const head = hang(wrapProse(theme('dim', `${count(said.length, 'reminder')}: ${sanitise(names, { newlines: false })}`), pen.columns - 4), theme('dim', '  + '), '    ');
  if (!full) return head;
  return [...head, ...said.flatMap(({ source, text }) => [
    theme('dim', `    ${source}`),
    ...hang(wrapText(sanitise(text, { tabs: 4 }), pen.columns - 6).map((line) => theme('dim', line)), '      '),
  ])];
}

function drawPlan({ text, file, approved, full }: Extract<Block, { type: 'plan' }>, pen: Pen): readonly string[] {
  const name = text.split('\n').map((line) => line.replace(/^[#>*\s]+/, '').trim()).find((line) => line !== '') ?? '';
  const key = pen.keys.label('toggleTranscript');
  const detail = [file, ...(full || key === undefined ? [] : [`${key} shows it`])].filter((part) => part !== '').join(' · ');
  const head = drawTitle({ title: `Plan ${approved ? 'approved' : 'rejected'}${name === '' ? '' : `: ${name}`}`, detail, tone: approved ? 'good' : 'muted', body: [] }, pen, '≡');
  return full ? [...head, ...hang(drawMarkdown(text, { ...pen, columns: pen.columns - 2 }), INDENT)] : head;
}

function drawCompaction({ compaction, full }: Extract<Block, { type: 'compaction' }>, pen: Pen): readonly string[] {
  const { tokensBefore, usage, trigger, summary } = compaction;
  const why = { manual: '', auto: ', as the window filled', salvage: ', as the provider found the request too long' }[trigger];
  const title = `compacted: ${tokens(tokensBefore)} tokens → a summary of ${tokens(usage.output)}${why}`;
  const key = pen.keys.label('toggleTranscript');
  const detail = full || key === undefined ? '' : `${key} shows it`;
  const head = drawTitle({ title, detail, body: [] }, pen, '≡');
  return full ? [...head, ...hang(drawMarkdown(summary, { ...pen, columns: pen.columns - 2 }), INDENT)] : head;
}
