import type { Effort } from '#domain/content.ts';
import { DEMO_MODEL, type ModelFacts } from '#domain/model.ts';

const ALL_EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];
const FOUR_EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'max'];
const MILLION = 1_000_000;

type Known = Omit<ModelFacts, 'id' | 'known'>;

const plain: Known = { label: '', window: 200_000, maxOutput: 64_000, images: true, pdf: true, efforts: [], thinking: 'none', minimumCacheable: 512 };
const five: Known = { ...plain, window: MILLION, maxOutput: 128_000, efforts: ALL_EFFORTS, defaultEffort: 'high', thinking: 'adaptive' };

/** As of 2026-11-29. The Models API, where it answers, is laid over this. */
const MODELS: Readonly<Record<string, Known>> = {
  'claude-fable-5-2': { ...five, label: 'Fable 5.2' },
  'claude-mythos-5-2': { ...five, label: 'Mythos 5.2' },
  'claude-opus-5-5': { ...five, label: 'Opus 5.5', defaultEffort: 'medium' },
  'claude-sonnet-5-5': { ...five, label: 'Sonnet 5.5' },
  'claude-haiku-5-5': { ...five, label: 'Haiku 5.5', defaultEffort: 'medium' },
  'claude-fable-5-1': { ...five, label: 'Fable 5.1' },
  'claude-mythos-5-1': { ...five, label: 'Mythos 5.1' },
  'claude-opus-5': { ...five, label: 'Opus 5' },
  'claude-sonnet-5': { ...five, label: 'Sonnet 5', minimumCacheable: 1024 },
  'claude-fable-5': { ...five, label: 'Fable 5' },
  'claude-mythos-5': { ...five, label: 'Mythos 5' },
  'claude-opus-4-8': { ...five, label: 'Opus 4.8', minimumCacheable: 1024 },
  'claude-opus-4-7': { ...five, label: 'Opus 4.7', minimumCacheable: 2048 },
  'claude-opus-4-6': { ...five, label: 'Opus 4.6', efforts: FOUR_EFFORTS, minimumCacheable: 4096 },
  'claude-sonnet-4-6': { ...five, label: 'Sonnet 4.6', efforts: FOUR_EFFORTS, minimumCacheable: 1024 },
  'claude-haiku-4-5': { ...plain, label: 'Haiku 4.5', thinking: 'budget', minimumCacheable: 4096 },
  [DEMO_MODEL]: { ...plain, label: 'Demo (offline, no AI)', maxOutput: 8192 },
};

/** What is assumed of a model that nobody knows: little room, text only, nothing special. */
const UNKNOWN: Known = { ...plain, window: 128_000, maxOutput: 8192, images: false, pdf: false, minimumCacheable: 1024 };

/** Models that can be chosen, the current ones first. */
export function knownModels(): readonly ModelFacts[] {
  return Object.keys(MODELS).map((id) => factsOf(id));
}

/** What is known of a model id. `overrides` is what the server itself says, or the user's settings. */
export function factsOf(id: string, overrides: Partial<ModelFacts> = {}): ModelFacts {
  const base = baseId(id);
  const known = base === undefined ? undefined : MODELS[base];
  return { ...(known ?? { ...UNKNOWN, label: id }), known: known !== undefined, ...overrides, id };
}

/**
 * The id in our tables that an id stands for: itself, with a date behind it (`claude-haiku-4-5-20251001`), or inside a
 * name that a cloud gives it (`eu.anthropic.claude-opus-5-5-v1:0`). Undefined for a stranger.
 */
export function baseId(id: string): string | undefined {
  if (Object.hasOwn(MODELS, id)) return id;
  const name = /(?:^|[./])(claude-[a-z]+-\d+(?:-\d)?)(?:[-@]\d{8})?(?:-v\d+(?::\d+)?)?$/.exec(id)?.[1];
  return name !== undefined && Object.hasOwn(MODELS, name) ? name : undefined;
}

/** How many tokens of a model one token of the tokenizer that we count with stands for, before anything was measured. */
export function scaleOf(id: string): number {
  if (id === DEMO_MODEL) return 1;
  const base = baseId(id);
  if (base === undefined) return 1.25;
  return isOlder(base) ? 1.15 : 1.45;
}

/** The longest edge (pixels) and the most tokens of a picture; larger ones are made smaller by the API. */
export function pictureTier(id: string): { readonly edge: number; readonly tokens: number } {
  const base = baseId(id);
  return base !== undefined && !isOlder(base) ? { edge: 2576, tokens: 4784 } : { edge: 1568, tokens: 1568 };
}

/** Models up to 4.6 have the older tokenizer and see smaller pictures. */
function isOlder(base: string): boolean {
  return /-4-[0-6]$/.test(base);
}
