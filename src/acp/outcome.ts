import type { StopReason } from '@agentclientprotocol/sdk';
import type { Entry } from '#domain/entry.ts';
import type { Outcome } from '#domain/ports.ts';

/** Why a turn ended, in the protocol's words; `entries` are those of the turn. A failed one has no such word: it is an error. */
export function stopReasonOf(outcome: Exclude<Outcome, { readonly kind: 'failed' }>, entries: readonly Entry[]): StopReason {
  const last = entries.findLast((entry) => entry.type === 'assistant');
  const stop = last?.type === 'assistant' ? last.stop : undefined;
  switch (outcome.kind) {
    case 'interrupted': return 'cancelled';
    case 'outOfSteps': return 'max_turn_requests';
    case 'stopped': return stop === 'refusal' ? 'refusal' : 'end_turn';
    case 'answered': return stop === 'max_tokens' ? 'max_tokens' : 'end_turn';
    case 'outOfBudget': return 'end_turn';
  }
}
