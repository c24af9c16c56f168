import type Anthropic from '@anthropic-ai/sdk';
import type { Brand } from '#lib/brand.ts';

/** Content blocks as the Messages API sent them, kept verbatim: thinking is bound to its bytes. */
export type ContentBlock = Anthropic.ContentBlockParam;
export type MessageParam = Anthropic.MessageParam;
export type TextBlock = Anthropic.TextBlockParam;
export type ToolDefinition = Anthropic.Tool;
/** A tool that the model's server runs by itself. */
export type ServerTool = Anthropic.WebSearchTool20250305;

/** SHA-256 (hex) of bytes that the blob store keeps. */
export type BlobHash = Brand<'BlobHash'>;

/** Bytes that are too large for a line of the log: kept by content in the blob store. */
export interface BlobRef {
  readonly hash: BlobHash;
  readonly bytes: number;
}

export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

/** A picture or a PDF on its way to the model. Sizes in pixels; they decide what a picture costs. */
export interface MediaPart {
  readonly type: 'media';
  readonly mime: ImageType | 'application/pdf';
  readonly blob: BlobRef;
  readonly name: string;
  readonly width?: number;
  readonly height?: number;
  readonly pages?: number;
}

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** What a tool result or a reminder is made of. */
export type Part = TextPart | MediaPart;

/**
 * Tokens of one reply as the API measured them. The prompt's total is `input + cacheRead + cacheWrite`;
 * `cacheWrite1h` is the part of `cacheWrite` that was written with the one-hour lifetime.
 */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  /** Searches of the web that the server made, each at a price of its own. */
  readonly searches?: number;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };

export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** Why a reply ended. `interrupted` is ours; the API may add names that we do not know, which end the turn and are shown. */
export type StopReason =
  | 'end_turn' | 'tool_use' | 'max_tokens' | 'stop_sequence' | 'pause_turn' | 'refusal'
  | 'model_context_window_exceeded' | 'interrupted' | (string & {});
