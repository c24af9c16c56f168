import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry } from '#domain/entry.ts';
import { project } from '#loop/project.ts';
import { checkRequest, flatten } from '../support/checker.ts';
import { BREAKS, entry, memoryBlobs, oddLogs, prompt } from '../support/logs.ts';

const blobs = memoryBlobs();
const runs = { numRuns: 600 };

/** The lengths of the log at which a request was made: each answer stands for one. */
function requestPoints(log: readonly Entry[]): number[] {
  return log.flatMap(({ type }, at) => (type === 'assistant' ? [at] : []));
}

describe('any log whatever', () => {
  it('gives a valid request', () => {
    fc.assert(fc.property(oddLogs(blobs), (log) => {
      expect(checkRequest(project(log, blobs), { answerLast: true })).toEqual([]);
      expect(checkRequest(project([...log, entry(prompt('go on'))], blobs))).toEqual([]);
    }), runs);
  });

  it('gives a request that the next one begins with, unless an exception lies between', () => {
    fc.assert(fc.property(oddLogs(blobs), (log) => {
      const points = requestPoints(log);
      points.forEach((point, at) => {
        const next = points[at + 1] ?? log.length;
        if (log.slice(point, next).some(({ type }) => BREAKS.has(type))) return;
        const [first, second] = [project(log.slice(0, point), blobs), project(log.slice(0, next), blobs)];
        const before = flatten(first);
        if (hasPaused(before.at(-1))) return;
        expect(flatten(second).slice(0, before.length)).toEqual(before);
        const plain = ({ tools }: typeof first) => tools.filter((tool) => tool.defer_loading !== true);
        expect([second.system, plain(second)]).toEqual([first.system, plain(first)]);
        expect(second.tools.slice(0, first.tools.length)).toEqual(first.tools);
      });
    }), runs);
  });

  it('gives the same request when it is read back', () => {
    fc.assert(fc.property(oddLogs(blobs), (log) => {
      const stored = log.map((one) => JSON.parse(JSON.stringify(one)) as Entry);
      expect(project(stored, blobs)).toEqual(project(log, blobs));
    }), { numRuns: 300 });
  });

  it('says of every block where it comes from, and counts what was answered', () => {
    fc.assert(fc.property(oddLogs(blobs), (log) => {
      const request = project(log, blobs);
      expect(request.origins.map((origins) => origins.length)).toEqual(request.messages.map(({ content }) => content.length));
      const ids = new Set(log.map(({ id }) => id));
      for (const origin of request.origins.flat()) for (const id of origin.entries) expect(ids.has(id)).toBe(true);
      expect(request.answered).toBeLessThanOrEqual(flatten(request).length);
      expect(request.headEnd).toBe(log.some(({ type }) => type === 'compaction') ? 1 : 0);
    }), { numRuns: 500 });
  });

  it('lets thinking through byte for byte or not at all', () => {
    fc.assert(fc.property(oddLogs(blobs), (log) => {
      const stored = new Set(log.flatMap((one) => (one.type === 'assistant' ? one.content.map((block) => JSON.stringify(block)) : [])));
      for (const { content } of project(log, blobs).messages) {
        for (const block of content) if (typeof block !== 'string' && block.type === 'thinking') expect(stored.has(JSON.stringify(block))).toBe(true);
      }
    }), { numRuns: 300 });
  });
});

/** A paused server-side call is sent back as it is, and taken out when the user speaks instead. */
function hasPaused(block: string | undefined): boolean {
  return block !== undefined && block.startsWith('["assistant"');
}
