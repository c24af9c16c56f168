import * as fc from 'fast-check';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { createCollector } from '#attachments/collect.ts';
import { createMemory } from '#attachments/memory-files.ts';
import changedFiles from '#attachments/sources/changed-files.ts';
import memory from '#attachments/sources/memory.ts';
import nestedMemory from '#attachments/sources/nested-memory.ts';
import recentFiles from '#attachments/sources/recent-files.ts';
import relevantMemories from '#attachments/sources/relevant-memories.ts';
import { createDocuments } from '#documents/load.ts';
import { sha256 } from '#lib/hash.ts';
import { type BlobHash, NO_USAGE } from '#domain/content.ts';
import type { Entry } from '#domain/entry.ts';
import type { CallId, FileTouch } from '#domain/tool.ts';
import { createWatch } from '#watch/watch.ts';
import { answer, memoryBlobs, memorySession, prompt } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';
import { pathsOf, world } from './world.ts';

const FILES = ['AGENTS.md', 'a/AGENTS.md', 'a/b/CLAUDE.md', '.claude/rules/ts.md', 'a/x.ts', 'a/b/y.ts', 'z.ts', 'notes/deploy.md', 'notes/tulips.md'] as const;
const RULE = '---\npaths: ["**/*.ts"]\n---\n';

type Step =
  | { readonly do: 'write'; readonly file: number; readonly by: 'user' | 'model' }
  | { readonly do: 'delete' | 'read'; readonly file: number }
  | { readonly do: 'prompt'; readonly text: string }
  | { readonly do: 'step' | 'compact' | 'resume' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), file: fc.nat(FILES.length - 1), by: fc.constantFrom('user' as const, 'model' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), file: fc.nat(FILES.length - 1) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('read' as const), file: fc.nat(FILES.length - 1) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('prompt' as const), text: fc.constantFrom('deploy to the staging server', 'plant tulips in the garden', 'hello') }) },
  { weight: 4, arbitrary: fc.constant({ do: 'step' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'compact' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'resume' } as const) },
);

/** A place in which each state of each file is told apart by a word of its own: `S17E`. */
function stage() {
  const root = tempFolder();
  const blobs = memoryBlobs();
  const paths = pathsOf(root, [], root);
  const documents = createDocuments({ blobs, capabilities: () => ({ images: true, pdf: true }) });
  const port = createMemory({
    cwd: root, repository: root, home: root, roots: [], excludes: [], paths, userFiles: [], userRules: [], trusted: () => true, approved: () => undefined,
    kept: { folder: join(root, 'notes'), others: [] },
  });
  const watch = createWatch({ blobs, onNotice: () => undefined, label: (path) => path });
  const collector = createCollector({
    sources: [memory, nestedMemory, recentFiles, relevantMemories, changedFiles],
    world: (moment, session) => world(session, {
      moment, blobs, memory: port, changes: watch, prompt: moment === 'prompt' ? session.log.findLast((entry) => entry.type === 'prompt') : undefined,
      files: { load: (path, limitBytes, signal) => documents.load(path, path, { limitBytes }, signal) },
    }),
  });
  return { root, blobs, watch, collector };
}

it('through whole histories no state of a file is told twice, and the standing ones are all told', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
    const { root, blobs, watch, collector } = stage();
    let session = memorySession([prompt('begin')]);
    const texts = new Map<string, string>();
    let told: string[] = [];
    let states = 0;
    const put = (file: string): string => {
      states += 1;
      const text = `${file === '.claude/rules/ts.md' ? RULE : ''}${file.startsWith('notes/') ? `# ${file.includes('deploy') ? 'Deploying to the staging server' : 'Planting tulips in the garden'}\n` : ''}S${states}E\n`;
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
      texts.set(file, text);
      return text;
    };
    const touch = (file: string, text: string, how: FileTouch['how']): void => {
      blobs.put(Buffer.from(text));
      session.append({ type: 'toolResult', callId: 'c' as CallId, tool: how === 'write' ? 'Write' : 'Read', result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: [{ path: join(root, file), hash: sha256(text) as BlobHash, how, kept: true }] } });
      told.push(...statesIn(text));
    };
    const collect = async (moment: 'prompt' | 'step'): Promise<void> => {
      const { reminders, faults } = await collector.collect(moment, session, new AbortController().signal);
      expect(faults.filter(({ message }) => !message.includes('cannot be'))).toEqual([]);
      for (const reminder of reminders) {
        session.append(reminder);
        const text = reminder.parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
        // What a diff takes away was told before.
        const now = statesIn(text.split('\n').filter((line) => !line.startsWith('-S')).join('\n'));
        for (const state of now) expect(told, `${state} by ${reminder.source}`).not.toContain(state);
        told.push(...now);
      }
    };
    try {
      for (const one of steps) {
        const file = 'file' in one ? FILES[one.file] ?? '' : '';
        if (one.do === 'write') {
          const text = put(file);
          if (one.by === 'model') touch(file, text, 'write');
        } else if (one.do === 'delete') {
          rmSync(join(root, file), { force: true });
          texts.delete(file);
        } else if (one.do === 'read') {
          const text = texts.get(file);
          // Who reads on purpose may be shown again what they know.
          if (text !== undefined && !statesIn(text).some((state) => told.includes(state))) touch(file, text, 'read');
        } else if (one.do === 'prompt') {
          session.append(prompt(one.text));
          await collect('prompt');
          session.append(answer('ok'));
        } else if (one.do === 'step') await collect('step');
        else if (one.do === 'resume') session = memorySession(JSON.parse(JSON.stringify(session.log)) as Entry[]);
        else {
          session.append({ type: 'compaction', summary: 's', trigger: 'auto', usage: NO_USAGE, model: 'm', tokensBefore: 1 });
          told = [];
        }
      }
      await collect('step');
      const root0 = texts.get('AGENTS.md');
      if (root0 !== undefined) expect(told).toEqual(expect.arrayContaining([...statesIn(root0)]));
    } finally {
      watch.close();
    }
  }), { numRuns: 40 });
});

function statesIn(text: string): readonly string[] {
  return text.match(/S\d+E/g) ?? [];
}
