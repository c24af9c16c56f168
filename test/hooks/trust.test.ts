import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { configure } from '#main/configuration.ts';
import { askForHooks, decideOnHooks } from '#main/hooks/door.ts';
import type { Questions } from '#main/questions.ts';
import type { Answer, Question } from '#domain/ports.ts';
import { type Dweller, household } from '../support/household.ts';
import { call, say } from '../support/messages-server/reply.ts';
import { serve, wordsOf, last } from '../support/product.ts';
import { command, contexts, hooked } from './people.ts';

const turns = (n: number) => Array.from({ length: n }, (_, i) => say(`Answer ${i}.`));
const ran = (cwd: string): number => (existsSync(join(cwd, 'ran')) ? readFileSync(join(cwd, 'ran'), 'utf8').length : 0);
const MARK = 'printf x >> "$CLAUDE_PROJECT_DIR/ran"';

/** The person at the door. */
function door(dweller: Dweller, answer: Answer | undefined) {
  const asked: Question[] = [];
  const ask = (question: Question): Promise<Answer | undefined> => {
    asked.push(question);
    return Promise.resolve(answer);
  };
  return { asked, at: { house: dweller.house, questions: { ask } as unknown as Questions } };
}

it('a folder that is not trusted runs nothing of its own; trusting it takes up what the question named', async () => {
  const server = await serve(turns(2));
  const home = household({ '.claude/settings.json': hooked({ UserPromptSubmit: [command(MARK)], SessionStart: [command(MARK)] }) }, server);
  const dweller = await home.open({ args: { trust: false } });
  dweller.house.start();
  await dweller.turn('one');
  expect(ran(home.cwd)).toBe(0);
  expect(dweller.house.configuration.trust.wantsOf(home.cwd)).toContainEqual(expect.stringContaining(`at UserPromptSubmit runs ${MARK}`));
  await dweller.house.configuration.believe(false);
  await dweller.turn('two');
  expect(ran(home.cwd)).toBe(1);
});

it('a prompt of the moment in which the agreement is being written down does not pass without them', async () => {
  const server = await serve(turns(1));
  const home = household({ '.claude/settings.json': hooked({ UserPromptSubmit: [command(MARK)] }) }, server);
  const dweller = await home.open({ args: { trust: false } });
  const written = dweller.house.configuration.believe(false);
  await dweller.turn('one');
  expect(ran(home.cwd)).toBe(1);
  await written;
});

it('a hook that is new or changed since does not run until it is agreed to again, nor does one whose script was changed', async () => {
  // The script is named as people name it: with the folder's variable in quotes.
  const server = await serve(turns(8));
  const home = household({ '.claude/settings.json': hooked({ UserPromptSubmit: [command('sh "$CLAUDE_PROJECT_DIR"/hook.sh')] }), 'hook.sh': `${MARK}\n` }, server);
  const first = await home.open({ args: { trust: false } });
  await first.house.configuration.believe(false);
  await first.turn('one');
  expect(ran(home.cwd)).toBe(1);
  home.write('hook.sh', `${MARK}; ${MARK}\n`);
  await first.turn('two');
  expect(ran(home.cwd)).toBe(1);
  first.close();

  const next = await home.open({ args: { trust: false } });
  expect(next.house.configuration.isTrusted()).toBe(true);
  const no = door(next, { kind: 'no' });
  await askForHooks(no.at);
  expect(no.asked).toMatchObject([{ kind: 'confirm', title: '1 hook of this folder is new, or changed since you agreed. May it run?', lines: [expect.stringContaining('at UserPromptSubmit runs sh'), expect.stringContaining('/hooks')] }]);
  await next.turn('three');
  expect(ran(home.cwd)).toBe(1);
  await askForHooks(no.at);
  expect(no.asked).toHaveLength(1);
  expect(await next.command('/hooks')).toContain('refused');

  const yes = door(next, { kind: 'yes' });
  expect(await decideOnHooks(yes.at, 'approve')).toContain('Done');
  await next.turn('four');
  expect(ran(home.cwd)).toBe(3);
  expect(await decideOnHooks(yes.at, 'refuse')).toContain('do not run');
  await next.turn('five');
  expect(ran(home.cwd)).toBe(3);
  expect(await decideOnHooks(yes.at, 'approve')).toContain('Done');
  next.close();
  const later = await home.open({ args: { trust: false } });
  const quiet = door(later, { kind: 'yes' });
  await askForHooks(quiet.at);
  expect(quiet.asked).toEqual([]);
});

it('a file of data that a hook writes is no change of it, and a program without an ending is', async () => {
  const server = await serve(turns(3));
  const home = household({ '.claude/settings.json': hooked({ UserPromptSubmit: [command(`sh tool && echo x >> log.txt && touch log.txt; ${MARK}`)] }), tool: 'exit 0\n' }, server);
  const dweller = await home.open({ args: { trust: false } });
  await dweller.house.configuration.believe(false);
  await dweller.turn('one');
  await dweller.turn('two');
  expect(ran(home.cwd)).toBe(2);
  home.write('tool', 'exit 0 # changed\n');
  await dweller.turn('three');
  expect(ran(home.cwd)).toBe(2);
});

it('what the model writes into the settings during a session stays without effect', async () => {
  const server = await serve([{ content: [call('Write', { file_path: '.claude/settings.json', content: hooked({ UserPromptSubmit: [command(MARK)] }) })] }, say('Done.'), say('Done.')]);
  const home = household({}, server);
  const dweller = await home.open({ args: { trust: false } });
  await dweller.house.configuration.believe(false);
  await dweller.turn('one');
  dweller.house.configuration.reload();
  await dweller.turn('two');
  expect(ran(home.cwd)).toBe(0);
  expect(await dweller.command('/hooks')).toContain('not agreed to');
});

it('--trust agrees for one run to what stands there at its start', async () => {
  const server = await serve(turns(2));
  const home = household({ '.pinion/settings.json': hooked({ UserPromptSubmit: [command(MARK)] }) }, server);
  const dweller = await home.open();
  dweller.house.start();
  await dweller.turn('one');
  expect(ran(home.cwd)).toBe(1);
  dweller.close();
  expect(configure(dweller.house.place, { ...dweller.house.args, trust: false }).isTrusted()).toBe(false);
});

it('its programs do not see our keys, and cannot switch off the user\'s hooks or allow what no rule could', async () => {
  const server = await serve([{ content: [call('Bash', { command: 'echo x > .claude/rules.md' })] }, say('Done.')]);
  const allow = JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } } });
  const home = household({
    '.claude/settings.json': JSON.stringify({ disableAllHooks: true, hooks: { UserPromptSubmit: [command('env > "$CLAUDE_PROJECT_DIR/env.txt"')], PermissionRequest: [command(`cat >/dev/null; echo '${allow}'`)] } }),
  }, server);
  const dweller = await home.open({ args: { permissionMode: 'default' }, answer: () => undefined });
  dweller.house.start();
  await dweller.turn('one');
  expect(readFileSync(join(home.cwd, 'env.txt'), 'utf8')).not.toContain('sk-ant-test');
  expect(dweller.asked).toHaveLength(1);
  expect(existsSync(join(home.cwd, '.claude/rules.md'))).toBe(false);
});

it('hooks of a skill run once it is followed, and those of an agent while it works', async () => {
  const isSub = (body: Readonly<Record<string, unknown>>): boolean => JSON.stringify(body['system']).includes('You are a sub-agent');
  let leads = 0;
  const server = await serve(({ body }) => (isSub(body) ? say('sub') : (leads += 1) === 3 ? { content: [call('Task', { subagent_type: 'checker', description: 'x', prompt: 'x' })] } : say('Done.')));
  const said = (text: string): string => `hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: "${text}"\n`;
  const home = household({}, server);
  const own = (name: string, text: string): void => { home.write(join('..', home.home.split('/').at(-2) ?? '', 'pinion', name), text); };
  own('skills/careful/SKILL.md', '---\ndescription: Takes care\nhooks:\n  UserPromptSubmit:\n    - hooks:\n        - type: command\n          command: "cat >/dev/null; echo take care"\n          once: true\n---\nBe careful.\n');
  own('agents/checker.md', `---\nname: checker\ndescription: Checks\n${said('echo never >/dev/null').replace('Stop', 'SubagentStart').replace('echo never >/dev/null', 'cat >/dev/null; printf a >> ran')}---\nCheck.\n`);
  const dweller = await home.open();
  await dweller.turn('Hello');
  expect(contexts(dweller.log)).toEqual([]);
  await dweller.command('/careful');
  await dweller.turn('Go');
  expect(ran(home.cwd)).toBe(1);
  expect(contexts(dweller.log)).toMatchObject([{ text: 'take care' }]);
  expect(wordsOf(last(server.requests))).toContain('take care');
});
