import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { InputEvent } from '#ui/contract.ts';
import { createReader } from '#ui/input.ts';

function listen() {
  const heard: string[] = [];
  const reader = createReader((event: InputEvent) => {
    heard.push(event.type === 'key' ? event.text || event.name : event.type === 'paste' ? `paste(${event.text})` : event.type);
  });
  return { heard, reader };
}

describe('the reader', () => {
  it('takes an ESC alone as Escape after a moment, and one with a late rest as its key', async () => {
    const { heard, reader } = listen();
    reader.push('\x1b');
    expect(heard).toEqual([]);
    await expect.poll(() => heard).toEqual(['escape']);
    reader.push('\x1b');
    reader.push('[A');
    expect(heard).toEqual(['escape', 'up']);
    reader.close();
  });
  it('reads what lies ready before it gives an ESC up', async () => {
    const { heard, reader } = listen();
    reader.push('\x1b');
    setImmediate(() => { reader.push('[A'); });
    const busy = Date.now() + 60;
    while (Date.now() < busy);
    await sleep(80);
    expect(heard).toEqual(['up']);
    reader.close();
  });
  it('sends typed keys on at once, and an Enter at the end of a burst as Enter', async () => {
    const { heard, reader } = listen();
    reader.push('ls');
    expect(heard).toEqual(['l', 's']);
    reader.push(' -l\r');
    await expect.poll(() => heard).toEqual(['l', 's', ' ', '-', 'l', 'enter']);
    reader.push('\r');
    expect(heard.at(-1)).toBe('enter');
    reader.close();
  });
  it('makes one paste of a burst of lines without markers, over several reads', async () => {
    const { heard, reader } = listen();
    reader.push('one\rtwo\r');
    reader.push('three');
    reader.push('\rfour\r');
    await expect.poll(() => heard).toEqual(['paste(one\ntwo\nthree\nfour)', 'enter']);
    reader.close();
  });
  it('joins a burst whose first read ended with its line', async () => {
    const { heard, reader } = listen();
    reader.push('one\r');
    reader.push('two');
    await expect.poll(() => heard).toEqual(['o', 'n', 'e', 'paste(\ntwo)']);
    reader.close();
  });
  it('makes one event of very much text, and lets a command key after it through in order', () => {
    const { heard, reader } = listen();
    reader.push(`${'x'.repeat(100)}\x03`);
    expect(heard).toEqual([`paste(${'x'.repeat(100)})`, 'c']);
    reader.close();
  });
  it('keeps completion by Tab in a fast typist\'s read', () => {
    const { heard, reader } = listen();
    reader.push('@sr\t');
    expect(heard).toEqual(['@', 's', 'r', 'tab']);
    reader.close();
  });
});
