/** What the strict server knows of a model: figures and habits as the API documents them. */
export interface ModelRules {
  readonly window: number;
  readonly maxOutput: number;
  readonly minimumCacheable: number;
  readonly efforts: readonly string[];
  /** Values of `thinking.type` that are taken. */
  readonly thinking: readonly string[];
  readonly forcedToolChoice: boolean;
  readonly prefill: boolean;
  readonly systemMessages: boolean;
  /** Thinking is bound to everything that stands before it. */
  readonly bound: boolean;
  /** What an absent `display` means. */
  readonly display: 'omitted' | 'summarized';
}

const FIVE = ['low', 'medium', 'high', 'xhigh', 'max'];
const FOUR = ['low', 'medium', 'high', 'max'];

const newest: ModelRules = {
  window: 1_000_000, maxOutput: 128_000, minimumCacheable: 512, efforts: FIVE, thinking: ['adaptive'],
  forcedToolChoice: false, prefill: false, systemMessages: true, bound: true, display: 'omitted',
};
const older: ModelRules = { ...newest, forcedToolChoice: true, bound: false, minimumCacheable: 1_024 };

export const MODELS: Readonly<Record<string, ModelRules>> = {
  'claude-fable-5-2': newest,
  'claude-fable-5-1': newest,
  'claude-opus-5-5': newest,
  'claude-sonnet-5-5': { ...newest, thinking: ['adaptive', 'between_tools'] },
  'claude-haiku-5-5': { ...newest, thinking: ['adaptive', 'disabled'], forcedToolChoice: true },
  'claude-opus-5': { ...older, thinking: ['adaptive', 'disabled'], minimumCacheable: 512 },
  'claude-sonnet-5': { ...older, thinking: ['adaptive', 'disabled'], systemMessages: false },
  'claude-opus-4-8': { ...older, thinking: ['adaptive', 'disabled'] },
  'claude-opus-4-6': { ...older, thinking: ['adaptive', 'disabled', 'enabled'], efforts: FOUR, systemMessages: false, minimumCacheable: 4_096, display: 'summarized' },
  'claude-sonnet-4-6': { ...older, thinking: ['adaptive', 'disabled', 'enabled'], efforts: FOUR, systemMessages: false, display: 'summarized' },
  'claude-haiku-4-5': {
    ...older, window: 200_000, maxOutput: 64_000, thinking: ['disabled', 'enabled'], efforts: [], systemMessages: false,
    prefill: true, minimumCacheable: 4_096, display: 'summarized',
  },
};

/** Values of `anthropic-beta` that are taken; any other is a 400. */
export const BETAS: readonly string[] = [
  'thinking-display-updates-2026-08-18', 'thinking-token-count-2026-05-13', 'thinking-binding-controls-2026-08-01',
  'context-management-2025-06-27', 'compact-2026-01-12', 'compact-2026-09-04', 'mid-conversation-output-config-2026-07-01',
  'mid-conversation-tool-changes-2026-07-01', 'inline-tools-2026-09-15', 'mid-conversation-system-clear-at-2026-08-21',
  'server-side-fallback-2026-07-01', 'interleaved-thinking-2025-05-14', 'prompt-caching-2024-07-31', 'extended-cache-ttl-2025-04-11',
];

export const VERSIONS: readonly string[] = ['2026-10-21', '2023-06-01'];
