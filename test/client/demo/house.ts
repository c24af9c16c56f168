import { nothing } from '../../support/nothing.ts';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { onTestFinished } from 'vitest';
import { createCollector } from '#attachments/collect.ts';
import { createPins } from '#attachments/pins.ts';
import { sources } from '#attachments/sources/list.ts';
import { createClient } from '#client/anthropic.ts';
import { demoFetch } from '#client/demo/demo.ts';
import type { Event } from '#domain/entry.ts';
import { modeOf } from '#domain/folds.ts';
import { DEMO_MODEL, type ModelFacts } from '#domain/model.ts';
import type { GatePort, Outcome, Ports } from '#domain/ports.ts';
import type { ModelRequest } from '#domain/request.ts';
import type { Session } from '#domain/session.ts';
import { compact } from '#loop/compact.ts';
import { query } from '#loop/query.ts';
import { systemBlocks } from '#loop/system.ts';
import type { Web } from '#tools/web/web.ts';
import { createMentions } from '#mentions/resolve.ts';
import { createWatch } from '#watch/watch.ts';
import { checkRequest } from '../../support/checker.ts';
import { openHouse } from '../../tools/support.ts';
import { NO_MARKS } from '../harness.ts';

const FACTS: ModelFacts = { id: DEMO_MODEL, label: 'Demo', window: 200_000, maxOutput: 8192, images: true, pdf: true, efforts: [], thinking: 'none', minimumCacheable: 512, known: true };

export interface Turned {
  readonly outcome: Outcome;
  /** Tools in the order in which they were called. */
  readonly tools: readonly string[];
  /** Texts of the answers, in order. */
  readonly said: readonly string[];
  /** The last of them. */
  readonly answer: string;
}

/** A workspace in which the demo model works with the real client, loop, tools and reminders. */
export interface DemoHouse {
  readonly root: string;
  readonly session: Session;
  readonly requests: readonly ModelRequest[];
  write(name: string, text: string): void;
  read(name: string): string;
  remove(name: string): void;
  pin(text: string): Promise<void>;
  turn(prompt: string | undefined, options?: { readonly signal?: AbortSignal; readonly on?: (event: Event) => void }): Promise<Turned>;
  compact(keep?: string): Promise<Outcome>;
}

export function demoHouse(files: Readonly<Record<string, string>>, more: { readonly gate?: Partial<GatePort>; readonly paceMs?: number; readonly web?: Web } = {}): DemoHouse {
  const { root, session, context, toolbox } = openHouse({ background: true, ...(more.web !== undefined && { web: more.web }) });
  const { blobs, paths, documents } = context;
  const requests: ModelRequest[] = [];
  const client = createClient({ apiKey: 'none', facts: () => FACTS, fetch: demoFetch({ paceMs: more.paceMs ?? 0 }) });
  const watch = createWatch({ blobs, label: (path) => relative(root, path), graceMs: 1 });
  onTestFinished(() => watch.close());
  const pins = createPins({ paths, documents, blobs, cwd: root, log: () => session.log, files: () => Promise.resolve([]) });
  const mentions = createMentions({ paths, documents, cwd: () => root });
  const reminders = createCollector({
    sources,
    world: (moment, { log }) => {
      const last = log.at(-1);
      return {
        moment, thread: 'main', log, blobs, pins, mentions, changes: watch, now: new Date(), mode: modeOf(log) ?? 'default',
        prompt: moment === 'prompt' && last?.type === 'prompt' ? last : undefined,
        environment: () => ({ directory: root, extraDirectories: [], repository: false, platform: 'linux', shell: 'bash' }),
        ...nothing,
        tools: { has: (name) => toolbox.definitions().some((tool) => tool.name === name), deferred: () => toolbox.deferred().map(({ definition, summary }) => ({ name: definition.name, summary })) },
      };
    },
  });
  const ports: Ports = {
    model: {
      facts: () => FACTS,
      fit: () => Promise.resolve({ tokens: 1, limit: 100, fits: true }),
      stream(request, signal) {
        requests.push(request);
        return client.stream(request, NO_MARKS, signal);
      },
    },
    tools: toolbox, reminders,
    gate: { ask: () => Promise.resolve({ kind: 'allow' }), goOn: () => Promise.resolve(false), ...more.gate },
    world: { now: () => new Date(), blobs, head: () => ({ type: 'head', system: systemBlocks(), tools: toolbox.definitions(), model: DEMO_MODEL }) },
  };
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const valid = (): void => {
    const faults = requests.flatMap((request) => checkRequest(request));
    if (faults.length > 0) throw new Error(faults.join('\n'));
  };
  return {
    root, session, requests, write,
    read: (name) => readFileSync(join(root, name), 'utf8'),
    remove: (name) => { rmSync(join(root, name)); },
    async pin(text) {
      const found = await pins.lookUp(text, { snapshot: false, pathOnly: false, whole: false });
      if (!found.ok) throw new Error(found.message);
      session.append(found.entry);
    },
    async turn(prompt, { signal = new AbortController().signal, on = () => undefined } = {}) {
      const from = session.log.length;
      const outcome = await drain(query(session, prompt === undefined ? undefined : { text: prompt }, ports, signal, { maxSteps: 40 }), on);
      valid();
      const blocks = session.log.slice(from).flatMap((entry) => (entry.type === 'assistant' ? [entry.content] : []));
      const said = blocks.map((content) => content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'));
      return { outcome, said, answer: said.at(-1) ?? '', tools: blocks.flat().flatMap((block) => (block.type === 'tool_use' ? [block.name] : [])) };
    },
    async compact(keep = '') {
      const outcome = await drain(compact(session, ports, new AbortController().signal, { trigger: 'manual', keep }), () => undefined);
      valid();
      return outcome;
    },
  };
}

async function drain(events: AsyncGenerator<Event, Outcome>, on: (event: Event) => void): Promise<Outcome> {
  for (;;) {
    const next = await events.next();
    if (next.done === true) return next.value;
    on(next.value);
  }
}
