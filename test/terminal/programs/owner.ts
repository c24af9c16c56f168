// Opens the terminal, says what is typed, and ends in the way that its argument names.
import { writeFileSync } from 'node:fs';
import { width } from '#lib/terminal.ts';
import type { InputEvent } from '#ui/contract.ts';
import { openTerminal } from '#ui/terminal.ts';
import { editOutside } from '#ui/external-editor.ts';

const way = process.argv[2] ?? 'exit';
const heard: string[] = [];
const draw = (): void => { terminal.screen.draw(['frame top', ['heard:', ...heard].join(' '), 'frame end'].join('\n')); };
const terminal = openTerminal({ stdin: process.stdin, stdout: process.stdout, measure: width, onInput: hear, focus: true });
terminal.beforeLeaving(() => { writeFileSync(`${process.argv[1] ?? ''}.last`, way); });

function hear(event: InputEvent): void {
  if (event.type === 'key' && event.name === 'z' && event.ctrl) terminal.suspend();
  else if (event.type === 'key' && event.name === 'g' && event.ctrl) void terminal.lend(() => editOutside('before', process.env)).then((edited) => { heard.push(JSON.stringify(edited)); draw(); });
  else if (event.type === 'key' && event.name === 'd' && event.ctrl) end();
  else {
    heard.push(event.type === 'paste' ? `paste(${event.text})` : event.type === 'focus' ? 'focus' : event.text || event.name);
    draw();
  }
}
function end(): void {
  if (way === 'throw') throw new Error('boom\nwith more');
  if (way === 'reject') void Promise.reject(new Error('late boom'));
  if (way === 'exit') process.exit(7);
  if (way === 'leave') terminal.leave(3, 'said at the end');
  if (way === 'close') {
    terminal.close();
    terminal.close();
    process.stdout.write('after\n');
  }
}
draw();
