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
    expect(cacheMarks(request([2]))).toEqual({ system: '5m', blocks: [{ message: 0, block: 1 }] });
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
  describe('for an hour', () => {
    const spoken = (sizes: readonly number[], prompts: readonly number[], more: Partial<ModelRequest> = {}): ModelRequest => {
      const made = request(sizes, { answered: 1, ...more });
      return { ...made, origins: made.messages.map((_, at) => (prompts.includes(at) ? [{ what: 'prompt' as const, entries: [] }] : [])) };
    };
    const auto = (made: ModelRequest, sinceReplyMs: number | undefined = 1_000) => cacheMarks(made, { life: 'auto', sinceReplyMs });
    const minutes = (count: number): number => count * 60_000;

    it('are those of the second request and of each that brings a prompt, when most of it is read', () => {
      expect(auto(spoken([2], [0], { answered: 0 }), undefined).hourUpTo).toBeUndefined();
      expect(auto(spoken([2, 2, 1], [0])).hourUpTo).toEqual({ message: 2, block: 0 });
      expect(auto(spoken([2, 2, 1, 2, 1], [0])).hourUpTo).toEqual({ message: 2, block: 0 });
      expect(auto(spoken([2, 2, 1, 1, 2], [0, 4])).hourUpTo).toEqual({ message: 4, block: 1 });
      expect(auto(spoken([2, 2, 1, 1, 2, 2, 1], [0, 4])).hourUpTo).toEqual({ message: 4, block: 1 });
    });
    it('are not set on what is written anew after the cache has gone', () => {
      expect(auto(spoken([2, 1, 2], [0, 2]), minutes(3)).hourUpTo).toEqual({ message: 2, block: 1 });
      expect(auto(spoken([2, 1, 2], [0, 2]), minutes(6)).hourUpTo).toBeUndefined();
      expect(auto(spoken([2, 2, 1, 1, 2], [0, 4]), minutes(40)).hourUpTo).toEqual({ message: 4, block: 1 });
      expect(auto(spoken([2, 2, 1, 1, 2], [0, 4]), minutes(61)).hourUpTo).toBeUndefined();
    });
    it('are looked for again where they were set, however many blocks ago', () => {
      const long = spoken([2, 2, 1, 20, 2], [0, 4], { answered: 25 });
      expect(auto(long).blocks).toContainEqual({ message: 2, block: 0 });
      expect(auto(long, minutes(61)).blocks).not.toContainEqual({ message: 2, block: 0 });
    });
    it('take the system text in, unless the settings say otherwise', () => {
      expect(auto(spoken([2], [0], { answered: 0 }), undefined).system).toBe('1h');
      expect(cacheMarks(spoken([2, 1, 2], [0, 2]), { life: '5m', sinceReplyMs: 1 })).toEqual({ system: '5m', blocks: [{ message: 2, block: 1 }] });
      expect(cacheMarks(spoken([2, 2, 1], [0]), { life: '1h', sinceReplyMs: undefined })).toMatchObject({ system: '1h', hourUpTo: { message: 2, block: 0 } });
    });
    it('leave out the system text where four other places are needed', () => {
      const made = spoken([2, 2, 1, 20, 2, 20, 20], [0, 4], { answered: 47, headEnd: 1 });
      const marks = auto(made);
      expect(marks.blocks).toHaveLength(4);
      expect(marks.system).toBe(false);
    });
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
      expect(Number(system !== false) + blocks.length).toBeLessThanOrEqual(4);
      expect(new Set(blocks.map(({ message, block }) => `${message}.${block}`)).size).toBe(blocks.length);
      for (const { message, block } of blocks) {
        const content = made.messages[message]?.content;
        const marked = typeof content === 'string' ? undefined : content?.[block];
        expect(['text', 'image', 'document', 'tool_use', 'tool_result']).toContain(marked?.type);
      }
    }), { numRuns: 300 });
  });
});
