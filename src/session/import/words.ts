import { existsSync } from 'node:fs';
import { oneLine } from '#lib/names.ts';
import type { Finding } from './found.ts';

/** A model that can answer here; another provider's is said. */
export function addModel(name: string | undefined, from: string, into: Finding): void {
  if (name === undefined) return;
  const own = claudeModel(name);
  if (own === undefined) into.left.push(`the model ${oneLine(name, 60)}: it is no model of the Messages API (${from})`);
  else into.settings.push({ key: 'model', value: own, from });
}

/** `anthropic/claude-…` without the provider's name; undefined for others. */
export function claudeModel(name: string): string | undefined {
  return /^(?:anthropic[/:])?(claude-[\w.-]+|opus|sonnet|haiku)$/.exec(name)?.[1];
}

/** A file of instructions that is not read: where its text can go. */
export function instructions(file: string, memory: string, into: Finding): void {
  if (existsSync(file)) into.left.push(`instructions: ${file} is not read; a line @${file} in ${memory} brings it in`);
}
