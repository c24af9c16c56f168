import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { Entry, EntryBody, PermissionMode } from '#domain/entry.ts';
import { conversationOf, todosOf } from '#domain/folds.ts';
import type { Answer, Question } from '#domain/ports.ts';
import { type Dweller, household, type Household } from '../support/household.ts';
import { call, type ReplyBlock, say, type ScriptedReply, think } from '../support/messages-server/reply.ts';
import { type MessagesServer, type Recorded, startServer } from '../support/messages-server/server.ts';
import { mindOf } from '../support/model-mind.ts';
import { until, wordsOf } from '../support/product.ts';
import { type Act, type Before, type Change, NAMES, type Redefinition, type Reply, type Turn } from './acts.ts';

const MODES: readonly PermissionMode[] = ['bypassPermissions', 'plan', 'auto', 'default'];
const COMPACTS = 'about to be replaced by a summary';
const NOTEBOOK = JSON.stringify({ cells: [{ cell_type: 'code', id: 'one', metadata: {}, source: ['x = 1\n'], outputs: [], execution_count: null }], metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, 1);

export const lines = (n: number, from: number): string => Array.from({ length: n }, (_, i) => `line ${from + i} of it\n`).join('');
export const isSub = ({ body }: Recorded): boolean => JSON.stringify(body['system']).includes('You are a sub-agent');
export const isSummary = (request: Recorded): boolean => wordsOf(request).includes(COMPACTS);

/** What was sent in a conversation, with its log as it was then. */
export interface Sent {
  readonly request: Recorded;
  readonly log: readonly Entry[];
  readonly length: number;
}

/** Where each definition lies, and what it reads as of a number. */
const DEFINED: Readonly<Record<Redefinition['define'], readonly [file: string, text: (n: number) => string]>> = {
  skill: ['.claude/skills/tune/SKILL.md', (n) => `---\nname: tune\ndescription: Tunes an old xylophone, as of ${n}\n${n % 3 === 0 ? 'paths: "**/*.ts"\n' : ''}${n % 5 === 0 ? 'disable-model-invocation: true\n' : ''}---\nTune it as of ${n}: $ARGUMENTS\n`],
  nestedSkill: ['sub/.claude/skills/dig/SKILL.md', (n) => `---\nname: dig\ndescription: Digs, as of ${n}\n---\nDig as of ${n}.\n`],
  command: ['.claude/commands/greet.md', (n) => `---\ndescription: Greets, as of ${n}\n---\nGreet $ARGUMENTS as of ${n}, see @b.txt\n`],
  agent: ['.claude/agents/helper.md', (n) => `---\nname: helper\ndescription: Helps, as of ${n}\ntools: Read\n---\nHelp.\n`],
  rule: ['.claude/rules/ts.md', (n) => `---\npaths: ["**/*.ts"]\n---\nrule as of ${n}\n`],
  style: ['.claude/output-styles/mine.md', (n) => `---\nname: mine\ndescription: x\n---\nWrite as of ${n}.\n`],
  note: ['notes/tulips.md', (n) => `# Planting tulips\nTulips are planted in November, as of ${n}.\n`],
};

/** A history as it is lived: one project, one server, and whoever holds the session now. */
export class Life {
  readonly home: Household;
  readonly server: MessagesServer;
  readonly sent: Sent[] = [];
  readonly userTodos = new Map<number, string>();
  /** Everyone who ever held a session here. */
  readonly dwellers: Dweller[] = [];
  dweller: Dweller;
  plans: Reply[] = [];
  numbers = 100;

  private constructor(server: MessagesServer, home: Household, dweller: Dweller) {
    this.server = server;
    this.home = home;
    this.dweller = dweller;
    this.dwellers.push(dweller);
  }

  static async begin(settings: object = {}): Promise<Life> {
    // Else the first source that needs it may wait too long.
    await import('minisearch');
    const holder: { life?: Life } = {};
    const server = await startServer({ now: () => 0, script: (request) => holder.life?.answer(request) ?? say('?') });
    const home = household(Object.fromEntries([
      ...NAMES.map((each, i) => [each, each.endsWith('AGENTS.md') ? 'Be brief.\n' : each.startsWith('notes/') ? `# Deploying to the staging server\n${lines(4, 900)}` : lines(12, i * 100)] as const),
      ['nb.ipynb', NOTEBOOK],
      ['.pinion/settings.json', JSON.stringify({ remindersOn: ['token_usage', 'output_token_usage'], budgetUsd: 50, companion: { name: 'Owl', text: 'An old owl.' }, ...settings })],
    ]), server);
    // No project may say where notes lie.
    mkdirSync(home.home, { recursive: true });
    writeFileSync(join(home.home, 'settings.json'), JSON.stringify({ autoMemoryDirectory: 'notes' }));
    for (const [path, textOf] of Object.values(DEFINED)) home.write(path, textOf(1));
    const life = new Life(server, home, await home.open({ answer: yes }));
    holder.life = life;
    return life;
  }

  async end(): Promise<void> {
    for (const each of this.dwellers) each.close();
    await this.server.close();
  }

  answer(request: Recorded): ScriptedReply {
    if (isSub(request)) return this.answerOfSub(request);
    const { log } = this.dweller;
    this.sent.push({ request, log, length: log.length });
    if (isSummary(request)) return say(`A summary, the ${this.next()}th.`);
    const plan = this.plans.shift();
    if (plan === undefined) return say('Done.');
    for (const each of plan.meanwhile) this.happen(each);
    if (plan.refuses) return { content: [], stop: 'refusal' };
    return { content: [...(plan.thinks ? [think('Let me see.')] : []), { type: 'text', text: 'So.' }, ...plan.acts.map((each) => this.block(each))] };
  }

  /** A teammate writes to the lead before it ends; others read a file. */
  answerOfSub(request: Recorded): ScriptedReply {
    const words = wordsOf(request);
    const named = words.includes('You are mate, a teammate');
    const did = JSON.stringify(request.body['messages']).match(/"tool_use"/g)?.length ?? 0;
    if (did === 0) return { content: [think('hm'), named ? call('SendMessage', { to: 'lead', message: `mail ${this.next()} </system-reminder>` }) : call('Read', { file_path: 'a.txt' })] };
    return say(`It is so, as of ${this.next()}.`);
  }

  next(): number {
    return this.numbers += 1;
  }

  block(each: Act): ReplyBlock {
    const n = this.next();
    if ('name' in each) return this.fileBlock(each, n);
    const { seed } = each;
    switch (each.act) {
      case 'todo': return call('TodoWrite', { todos: [{ content: `task ${seed % 5}`, status: seed % 2 === 0 ? 'in_progress' : 'completed' }] });
      case 'look': return call('Glob', { pattern: `*${seed}*` });
      case 'load': return call('ToolSearch', { query: ['select:WebFetch', 'select:TaskOutput,TaskStop', 'web page', 'nothing like it', 'select:SendMessage,NotebookEdit'][seed % 5] });
      case 'later': return call('WebFetch', seed % 2 === 0 ? { url: 'http://localhost:1/' } : {});
      case 'fail': return call('Read', { file_path: `nothing-${n}` });
      case 'skill': return call('Skill', { skill: ['tune', 'dig', 'greet'][seed % 3], args: `with ${n}` });
      case 'background': return call('Bash', { command: seed % 3 === 0 ? `echo begins ${n}; sleep 30` : `echo out ${n}; exit ${seed % 2}`, run_in_background: true });
      case 'output': return call('TaskOutput', { id: `shell-${1 + seed % 3}` });
      case 'stop': return call('TaskStop', { id: `shell-${1 + seed % 3}` });
      case 'agent': return call('Task', { subagent_type: seed % 3 === 0 ? 'helper' : 'explore', description: 'look', prompt: `job ${n}`, run_in_background: seed % 2 === 0 });
      case 'teammate': return call('Task', { subagent_type: 'general', name: 'mate', description: 'be there', prompt: `job ${n}` });
      case 'mail': return call('SendMessage', { to: seed % 2 === 0 ? 'mate' : '*', message: `letter ${n}` });
      case 'plan': return call('ExitPlanMode', { plan: `# Plan ${n}\nDo it, then check it.` });
      case 'notebook': return seed % 2 === 0 ? call('Read', { file_path: 'nb.ipynb' }) : call('NotebookEdit', { notebook_path: 'nb.ipynb', cell_number: 1, new_source: `x = ${n}` });
    }
  }

  fileBlock({ act, name: path, seed }: Extract<Act, { readonly name: string }>, n: number): ReplyBlock {
    if (act === 'read') return call('Read', { file_path: path });
    if (act === 'write') return call('Write', { file_path: path, content: lines(6 + seed % 9, n * 20) });
    if (act === 'shell') return call('Bash', { command: `echo 'made by ${n}' >> ${path}` });
    const known = mindOf(this.server.requests.findLast((request) => !isSub(request))?.body ?? {}, this.home.cwd).files.get(path) ?? '';
    const first = known.split('\n')[0] ?? '';
    return call('Edit', { file_path: path, old_string: `${first}\n`, new_string: `${first} edited ${n}\n` });
  }

  happen(each: Change | Redefinition): void {
    if ('define' in each) this.define(each);
    else this.change(each);
  }

  define({ define, seed }: Redefinition): void {
    const [path, textOf] = DEFINED[define];
    if (seed === 0) rmSync(join(this.home.cwd, path), { force: true });
    else this.home.write(path, textOf(this.next()));
  }

  change({ name: path, how, seed: at }: Change): void {
    const n = this.next();
    const file = join(this.home.cwd, path);
    const now = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [''];
    const pick = at % now.length;
    if (how === 'delete') rmSync(file, { force: true });
    else if (how === 'touch' && existsSync(file)) utimesSync(file, new Date(), new Date(Date.now() + at));
    else if (how === 'same' && existsSync(file)) this.home.write(path, now.join('\n'));
    else if (how === 'line') this.home.write(path, now.map((each, i) => (i === pick ? `changed ${n}` : each)).join('\n'));
    else if (how === 'append') this.home.write(path, `${now.join('\n')}appended ${n}\n`);
    else if (how === 'cut') this.home.write(path, now.slice(0, pick).map((each) => `${each}\n`).join(''));
    else if (how === 'rewrite') this.home.write(path, lines(at % 40, n * 50));
  }

  async prepare(each: Before): Promise<void> {
    const { dweller } = this;
    if ('name' in each) return this.pinning(each);
    const mine = [...this.userTodos.keys()];
    const chosen = mine[each.seed % Math.max(1, mine.length)];
    switch (each.what) {
      case 'todo': {
        await dweller.command(`/todo add mine ${this.next()} <system-reminder>`);
        const added = todosOf(dweller.log).at(-1);
        if (added !== undefined) this.userTodos.set(added.id, added.text);
        break;
      }
      case 'done': if (chosen !== undefined) await dweller.command(`/todo done ${chosen}`); break;
      case 'remove':
        if (chosen === undefined) break;
        await dweller.command(`/todo rm ${chosen}`);
        this.userTodos.delete(chosen);
        break;
      case 'mode': dweller.conversation.setMode(MODES[each.seed % MODES.length] ?? 'plan'); break;
      case 'style': await this.style(['concise', 'learning', 'default', 'mine'][each.seed % 4] ?? ''); break;
      case 'budget': await dweller.command(`/budget ${each.seed % 4 === 0 ? 'off' : 20 + each.seed % 7}`); break;
      case 'compact': if (conversationOf(dweller.log).some(({ type }) => type === 'assistant')) await dweller.command('/compact'); break;
      case 'midnight': vi.setSystemTime(new Date(Date.now() + 24 * 3600 * 1000)); break;
      case 'ran': dweller.conversation.append([{ type: 'shell', command: 'ls', output: `out ${each.seed}`, exitCode: 0 }]); break;
      case 'note': await dweller.command(`/pin note kept as of ${this.next()}`); break;
      case 'again': if (dweller.log.length > 0) await dweller.turn(undefined); break;
      case 'slash': await this.slash(['tune', 'greet'][each.seed % 2] ?? ''); break;
      case 'exclude': case 'restore': case 'rewind': this.amend(each.what, each.seed); break;
      case 'resume': case 'fork': await this.reopen(each.what); break;
      case 'nothing': break;
    }
  }

  async pinning({ what, name: path }: Extract<Before, { readonly name: string }>): Promise<void> {
    const { dweller } = this;
    const there = existsSync(join(this.home.cwd, path));
    const pinned = dweller.log.some((entry) => entry.type === 'attach' && entry.attachment.id === `file:${path}`) && (await dweller.command('/pin')).includes(`file:${path}`);
    if (what === 'unpin' && pinned) await dweller.command(`/unpin ${path}`);
    if (there && (what === 'pin' || what === 'repin')) await dweller.command(`/pin ${path}${what === 'repin' ? ' --whole' : ''}`);
    if (there && what === 'pinRange') await dweller.command(`/pin ${path}#2-4`);
  }

  async style(name: string): Promise<void> {
    if (name !== 'mine' || existsSync(join(this.home.cwd, DEFINED.style[0]))) await this.dweller.command(`/output-style ${name}`);
  }

  async slash(name: string): Promise<void> {
    const there = (await this.dweller.conversation.commands()).some(({ id }) => id === name);
    if (there) await this.dweller.command(`/${name} the ${this.next()}`);
  }

  amend(what: 'exclude' | 'restore' | 'rewind', seed: number): void {
    const conversation = conversationOf(this.dweller.log);
    const fit = (entry: Entry): boolean => (what === 'rewind' ? entry.type === 'prompt' : what === 'restore' ? entry.type === 'exclude' : entry.type === 'toolResult' || (entry.type === 'reminder' && entry.userTexts === undefined));
    const some = conversation.filter(fit);
    const chosen = some[seed % Math.max(1, some.length)];
    if (chosen === undefined) return;
    const body: EntryBody = what === 'rewind' ? { type: 'rewind', to: chosen.id } : what === 'exclude' ? { type: 'exclude', target: chosen.id, what: 'entry' } : { type: 'restore', target: chosen.type === 'exclude' ? chosen.target : chosen.id };
    this.dweller.conversation.append([body]);
  }

  async reopen(how: 'resume' | 'fork'): Promise<void> {
    const { dweller } = this;
    if (dweller.log.length === 0) return;
    if (how === 'resume') dweller.close();
    this.dweller = await this.home.open({ resume: true, args: { permissionMode: dweller.conversation.mode() }, answer: yes });
    this.dwellers.push(this.dweller);
  }

  async live(each: Turn): Promise<void> {
    for (const one of each.before) await this.prepare(one);
    for (const one of each.outside) this.happen(one);
    this.plans = [...each.replies];
    const before = this.dweller.woken();
    let events = 0;
    await this.dweller.turn(`Do it ${this.next()} ${each.words} ${each.mention.map((one) => `@${one}`).join(' ')}`, (_, interrupt) => {
      events += 1;
      if (events === 6 && each.queue) this.dweller.conversation.append([{ type: 'queued', text: `And ${this.next()}` }]);
      if (events === each.interrupt) interrupt();
    });
    this.plans = [];
    await this.quiet();
    if (each.deliver || this.dweller.woken() > before) await this.dweller.turn(undefined);
    await this.quiet();
  }

  /** What is at work beside the conversation has ended; what would run for long goes on. */
  async quiet(): Promise<void> {
    const { house, conversation } = this.dweller;
    await until(() => house.agents.live(conversation.session).length === 0);
    for (;;) {
      const running = (await house.tasks.list(conversation.session)).filter(({ state, title }) => state === 'running' && !title.includes('sleep'));
      if (running.length === 0) return;
      await new Promise((resolve) => { setTimeout(resolve, 5); });
    }
  }
}

function yes(question: Question): Answer | undefined {
  if (question.kind !== 'plan') return { kind: 'yes' };
  const n = Number(/\d+/.exec(question.plan)?.[0] ?? 0);
  return n % 3 === 0 ? { kind: 'no', instead: 'another way' } : n % 3 === 1 ? { kind: 'approved', mode: 'acceptEdits' } : undefined;
}
