import { isAbsolute } from 'node:path';
import { UserError } from '#lib/errors.ts';
import type { Event } from '#domain/entry.ts';
import type { Outcome } from '#domain/ports.ts';
import { costOf } from '#accounting/cost.ts';
import type { Arguments } from '#cli/arguments.ts';
import { sessionFile } from '#session/open.ts';
import { tools } from '#tools/kinds/list.ts';
import { configure } from './configuration.ts';
import { openConversation } from './conversation.ts';
import { buildHouse, type Workers } from './house.ts';
import type { Agent, AgentOptions } from './library-types.ts';
import { passingPlace } from './passing.ts';
import { findPlace, type Place } from './place.ts';

/** The program without a face: the same house, held by a program of somebody else's. Throws a UserError for what cannot be. */
export async function openAgent(options: AgentOptions, workers: Workers): Promise<Agent> {
  const found = findPlace({ ...(options.env ?? process.env) }, options.cwd);
  const resumed = options.resume === undefined ? undefined : fileOf(options.resume, found);
  const passing = options.persist === false ? passingPlace(found) : undefined;
  const place = passing?.place ?? found;
  const args = argumentsOf(options, passing !== undefined && resumed !== undefined);
  const configuration = configure(place, args);
  const tell = options.onNotice ?? (() => undefined);
  for (const warning of configuration.warnings()) tell(warning);
  const house = buildHouse({
    place, args, configuration, workers, onNotice: tell, tell: () => undefined, wake: () => undefined,
    asker: { ask: async (question, signal) => options.ask?.(question, signal) },
    overhear: { agent: (session, event) => { options.onAgent?.(session, event); } },
    own: { tools: options.tools ?? [], sources: options.sources ?? [] },
  });
  house.start();
  const conversation = openConversation(house, resumed);
  for (const notice of conversation.notices) tell(notice);
  const prompt = (text: string, signal?: AbortSignal): AsyncGenerator<Event, Outcome> => turn((inner) => conversation.turn(text, inner), signal);
  return {
    get session() { return conversation.session; },
    get file() { return conversation.file; },
    prompt,
    async answer(text, signal) {
      const from = conversation.session.log.length;
      const run = prompt(text, signal);
      let next = await run.next();
      while (next.done !== true) next = await run.next();
      const last = conversation.session.log.slice(from).findLast((entry) => entry.type === 'assistant');
      return { outcome: next.value, text: last?.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n') ?? '' };
    },
    async pin(target) {
      const [problem] = await conversation.pin([target]);
      if (problem !== undefined) throw new UserError(problem);
    },
    cost: () => costOf(conversation.session.log),
    async close() {
      await conversation.leave('other');
      conversation.close();
      house.close();
      passing?.remove();
    },
  };
}

/** Whoever leaves the loop wants no more: the turn is interrupted, and has ended when this has. */
async function* turn(begin: (signal: AbortSignal) => AsyncGenerator<Event, Outcome>, signal: AbortSignal | undefined): AsyncGenerator<Event, Outcome> {
  const left = new AbortController();
  const run = begin(signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]));
  let ended = false;
  try {
    for (;;) {
      const next = await run.next();
      ended = next.done === true;
      if (next.done === true) return next.value;
      yield next.value;
    }
  } finally {
    left.abort(new Error('interrupted'));
    while (!ended) ended = (await run.next()).done === true;
  }
}

function fileOf(named: string, place: Place): string {
  const file = isAbsolute(named) ? named : sessionFile({ home: place.home, cwd: place.cwd }, named);
  if (file === undefined) throw new UserError(`there is no session ${named}.`);
  return file;
}

function argumentsOf(options: AgentOptions, fork: boolean): Arguments {
  const { model, mode, allow = [], deny = [], systemPrompt, appendSystemPrompt, maxSteps, budgetUsd, trust = false, ownTools = 'all' } = options;
  return {
    print: true, continue: false, outputFormat: 'text', inputFormat: 'text', includePartialMessages: false, replayUserMessages: false, includeHookEvents: false, verbose: false,
    forkSession: fork, mcpConfig: [], strictMcpConfig: false, ide: false, pin: [], addDir: [], trust, allowedTools: allow,
    disallowedTools: ownTools === 'none' ? [...deny, ...tools.map(({ id }) => id)] : deny,
    ...(model !== undefined && { model }), ...(mode !== undefined && { permissionMode: mode }), ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }), ...(maxSteps !== undefined && { maxTurns: maxSteps }), ...(budgetUsd !== undefined && { maxBudgetUsd: budgetUsd }),
  };
}
