import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '#domain/request.ts';
import { cacheMarks } from '#accounting/marks.ts';
import { entry, memoryBlobs, oddLogs } from '../support/logs.ts';
import { project } from '#loop/project.ts';

const blobs = memoryBlobs();
const text = (value: string) => ({ type: 'text' as const, text: value });

function request(sizes: readonly number[], more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'm', system: [text('s')], tools: [], headEnd: 0, answered: 0, origins: [],
    messages: sizes.map((size, at) => ({ role: at % 2 === 0 ? 'user' as const : 'assistant' as const, content: Array.from({ length: size }, (_, n) => text(`${at}.${n}`)) })),
    ...more,
  };
}

describe('cache marks', () => {
  it('stand at the end of the system text and on the last block', () => {
    expect(cacheMarks(request([2]))).toEqual({ system: true, blocks: [{ message: 0, block: 1 }] });
    expect(cacheMarks(request([1, 1, 3], { system: [] }))).toEqual({ system: false, blocks: [{ message: 2, block: 2 }] });
  });
  it('stand at the end of the head part', () => {
    expect(cacheMarks(request([2, 1, 1], { headEnd: 1 })).blocks).toEqual([{ message: 0, block: 1 }, { message: 2, block: 0 }]);
  });
  it('stand where the last answered request ended, when more than fifteen blocks were added', () => {
    expect(cacheMarks(request([2, 1, 14], { answered: 2 })).blocks).toEqual([{ message: 2, block: 13 }]);
    expect(cacheMarks(request([2, 1, 15], { answered: 2 })).blocks).toEqual([{ message: 0, block: 1 }, { message: 2, block: 14 }]);
    expect(cacheMarks(request([2, 1, 1, 1, 20], { answered: 4, headEnd: 1 })).blocks).toEqual([{ message: 0, block: 1 }, { message: 2, block: 0 }, { message: 4, block: 19 }]);
  });
  it('never stand on thinking or blank text', () => {
    const paused = request([1]);
    const messages: ModelRequest['messages'] = [...paused.messages, { role: 'assistant', content: [text('a'), { type: 'thinking', thinking: 't', signature: 's' }] }];
    expect(cacheMarks({ ...paused, messages }).blocks).toEqual([{ message: 1, block: 0 }]);
  });
  it('are at most four, on blocks that take them, whatever the log', () => {
    fc.assert(fc.property(oddLogs(blobs, 60), (log) => {
      const made = project([entry({ type: 'head', system: [text('s')], tools: [], model: 'm' }), ...log], blobs);
      const { system, blocks } = cacheMarks(made);
      expect(Number(system) + blocks.length).toBeLessThanOrEqual(4);
      expect(new Set(blocks.map(({ message, block }) => `${message}.${block}`)).size).toBe(blocks.length);
      for (const { message, block } of blocks) {
        const content = made.messages[message]?.content;
        const marked = typeof content === 'string' ? undefined : content?.[block];
        expect(['text', 'image', 'document', 'tool_use', 'tool_result']).toContain(marked?.type);
      }
    }), { numRuns: 300 });
  });
});
