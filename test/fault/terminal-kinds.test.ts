import { expect, it } from 'vitest';
import { call, say, type ScriptedReply } from '../support/messages-server/reply.ts';
import { list } from '../support/messages-server/shape.ts';
import type { Recorded } from '../support/messages-server/server.ts';
import { product, serve } from '../support/product.ts';
import { EVIL, foreign } from './evil.ts';

const quoted = JSON.stringify(EVIL);
const line = EVIL.replaceAll(/[\n\r]/g, '');
const notebook = JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: { kernelspec: { language: EVIL } }, cells: [{ cell_type: 'code', id: 'a', source: [EVIL], metadata: {}, execution_count: 1, outputs: [{ output_type: 'stream', name: 'stdout', text: [EVIL] }, { output_type: 'error', ename: EVIL, evalue: EVIL, traceback: [EVIL] }] }] });

const FILES = {
  '.claude/skills/one/SKILL.md': `---\ndescription: ${quoted}\nargument-hint: ${quoted}\nallowed-tools: ${quoted}\n---\n${EVIL}\n!\`printf '%s' '${line.replaceAll('\'', '')}'\`\n`,
  '.claude/commands/two.md': `---\ndescription: ${quoted}\n---\n${EVIL} $ARGUMENTS`,
  '.claude/skills/broken/SKILL.md': `---\n${EVIL}: [\n---\n`,
  '.claude/agents/finder.md': `---\nname: finder\ndescription: ${quoted}\nmodel: ${quoted}\npermissionMode: ${quoted}\nreminder: ${quoted}\n---\n${EVIL}`,
  '.claude/agents/odd.md': `---\nname: ${quoted}\ndescription: x\n---\nx`,
  '.claude/output-styles/loud.md': `---\nname: ${quoted}\ndescription: ${quoted}\ncompanion: {name: ${quoted}, text: ${quoted}}\n---\n${EVIL}`,
  '.claude/rules/r.md': `---\npaths: [${quoted}]\n---\n${EVIL}`,
  'AGENTS.md': `@~/${line}.md\n${EVIL}`,
  'a.ipynb': notebook, 'a.txt': `${EVIL}\n`,
  '.pinion/settings.json': JSON.stringify({ outputStyle: EVIL, companion: { name: EVIL, text: EVIL }, plansDirectory: `../${EVIL}` }),
};

const QUESTION = { questions: [{ question: EVIL, header: line.slice(0, 20), options: [{ label: line.slice(0, 60), description: line.slice(0, 200) }, { label: 'B', description: EVIL.slice(0, 200) }] }] };

function script(): (request: Recorded) => ScriptedReply {
  const counts = { lead: 0, sub: 0 };
  const sub: readonly ScriptedReply[] = [{ content: [call('Bash', { command: 'cat a.txt', description: EVIL }), call('SendMessage', { to: 'lead', message: EVIL })] }];
  const lead: readonly ScriptedReply[] = [
    { content: [
      call('Skill', { skill: 'one', args: EVIL }), call('Skill', { skill: EVIL }), call('Read', { file_path: 'a.ipynb' }), call('NotebookEdit', { notebook_path: 'a.ipynb', cell_id: 'a', new_source: EVIL }),
      call('Task', { subagent_type: 'finder', description: EVIL, prompt: EVIL }), call('Task', { subagent_type: EVIL, description: EVIL, prompt: 'x' }), call('Task', { subagent_type: 'finder', description: EVIL, prompt: 'x', name: 'bob' }),
      call('Bash', { command: `printf '%s' '${line.replaceAll('\'', '')}'; cat a.txt`, description: EVIL, run_in_background: true }), call('TaskOutput', { task_id: EVIL }), call('TaskStop', { task_id: EVIL }), call('SendMessage', { to: EVIL.slice(0, 40), message: EVIL }),
      call('WebFetch', { url: `http://${EVIL}/` }), call('WebFetch', { url: 'http://127.0.0.1:1/' }), call('ToolSearch', { query: EVIL }),
    ] },
    say(`First part. ${EVIL}`),
  ];
  const asked = ({ body }: Recorded): ScriptedReply | undefined => {
    const newest = JSON.stringify(list(body['messages']).at(-1));
    if (newest.includes('Ask me')) return { content: [call('AskUserQuestion', QUESTION)] };
    return newest.includes('Plan it') ? { content: [call('ExitPlanMode', { plan: `# ${EVIL}\n\n- ${EVIL}\n\n\`\`\`${EVIL}\n${EVIL}\n\`\`\`` })] } : undefined;
  };
  return (request) => (JSON.stringify(request.body['system']).includes('You are a sub-agent') ? sub[counts.sub++] ?? say(`Sub ${EVIL}`) : asked(request) ?? lead[counts.lead++] ?? say(`More ${EVIL}`));
}

it('skills, agents, styles, rules, questions, plans, tasks, mail and notebooks reach a terminal as letters only', async () => {
  const server = await serve(script());
  const terminal = product(FILES, server).open({ args: ['--trust', '--permission-mode', 'bypassPermissions'], columns: 60, rows: 40 });
  await terminal.waitFor('Ask, or');
  terminal.enter('Go on');
  await terminal.waitFor(/First part\.|Give them to the model\?/);
  if (/Give them/.test(terminal.lines().join('\n'))) terminal.type('2');
  await terminal.waitFor('First part.');
  const idle = (): Promise<void> => terminal.waitFor((screen) => screen.some((one) => one.startsWith('> ')) && !screen.some((one) => one.includes('Esc interrupts')));
  // A turn of its own tells of mail and of what has ended.
  await terminal.settled(500);
  await idle();
  for (const command of ['/agents', '/skills', '/memory', '/tasks', '/tasks shell-1', '/output-style', '/context', '/help', '/help one', '/two x', '/plan']) {
    terminal.enter(command);
    await terminal.waitFor(() => terminal.lines().includes(`› ${command}`));
    await terminal.settled(50);
    await idle();
  }
  await terminal.waitFor('· plan ·');
  for (const typed of ['@agent-', '/o']) {
    terminal.type(typed);
    await terminal.settled(100);
    terminal.type('\x1b');
    await terminal.settled(300);
    terminal.type('\x15');
    await terminal.waitFor('> Ask');
  }
  terminal.enter('Ask me');
  await terminal.waitFor('in your own words');
  terminal.type('1');
  await terminal.waitFor((screen) => !screen.some((one) => one.includes('in your own words')));
  await idle();
  terminal.enter('Plan it');
  await terminal.waitFor('go ahead with it?');
  terminal.type('\x1b');
  await terminal.waitFor((screen) => !screen.some((one) => one.includes('go ahead with it?')));
  await idle();
  terminal.enter('/plan show');
  await terminal.settled(200);
  expect(foreign(terminal.raw())).toEqual([]);
  terminal.enter('/exit');
  await terminal.expectLeft();
});

it('and print mode, whatever is asked of it', async () => {
  const server = await serve(script());
  const { run } = product(FILES, server);
  for (const args of [['-p', 'Go on', '--trust', '--permission-mode', 'bypassPermissions'], ...['/agents', '/skills', '/memory', '/tasks', '/output-style', '/one x'].map((command) => ['-c', '--trust', '-p', command])]) {
    const { stdout, stderr } = await run(args);
    expect([args.at(-1), foreign(stdout), foreign(stderr)]).toEqual([args.at(-1), [], []]);
    expect(stdout + stderr).not.toContain('\u001b');
  }
});
