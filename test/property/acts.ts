import fc from 'fast-check';

/** Files that the model works on. Some are instruction files or kept notes as well. */
export const NAMES = ['a.txt', 'b.txt', 'src/c.md', 'sub/d.txt', 'sub/deep/e.ts', 'AGENTS.md', 'sub/AGENTS.md', 'notes/deploy.md'] as const;
export type Name = (typeof NAMES)[number];

/** Something that happens to a file, by whoever. */
export interface Change {
  readonly name: Name;
  readonly how: 'line' | 'append' | 'cut' | 'delete' | 'touch' | 'same' | 'rewrite';
  readonly seed: number;
}

/** Files of skills, types of sub-agents, rules and styles, which come, change and go. */
export const DEFINITIONS = ['skill', 'nestedSkill', 'command', 'agent', 'rule', 'style', 'note'] as const;
export interface Redefinition {
  readonly define: (typeof DEFINITIONS)[number];
  /** 0 takes it away. */
  readonly seed: number;
}

export type Act =
  | { readonly act: 'read' | 'edit' | 'write' | 'shell'; readonly name: Name; readonly seed: number }
  | { readonly act: 'todo' | 'look' | 'fail' | 'load' | 'later' | 'skill' | 'background' | 'output' | 'stop' | 'agent' | 'teammate' | 'mail' | 'plan' | 'notebook'; readonly seed: number };

export type Before =
  | { readonly what: 'pin' | 'pinRange' | 'unpin' | 'repin'; readonly name: Name }
  | { readonly what: 'todo' | 'done' | 'remove' | 'mode' | 'style' | 'budget' | 'compact' | 'resume' | 'fork' | 'midnight' | 'exclude' | 'restore' | 'rewind' | 'again' | 'slash' | 'ran' | 'note' | 'nothing'; readonly seed: number };

export interface Reply {
  readonly acts: readonly Act[];
  readonly thinks: boolean;
  /** What changes on disk while the model writes it. */
  readonly meanwhile: readonly (Change | Redefinition)[];
  /** The model refuses to answer: what led to it is taken back. */
  readonly refuses: boolean;
}

export interface Turn {
  readonly before: readonly Before[];
  readonly outside: readonly (Change | Redefinition)[];
  readonly mention: readonly (Name | 'agent-helper' | 'agent-mate')[];
  /** Further words of the prompt. */
  readonly words: string;
  readonly replies: readonly Reply[];
  readonly queue: boolean;
  /** Number of the event at which the user interrupts. */
  readonly interrupt: number;
  /** What came meanwhile is delivered without a prompt. */
  readonly deliver: boolean;
}

export const QUIET: Turn = { before: [], outside: [], mention: [], words: '', replies: [], queue: false, interrupt: 9999, deliver: false };

const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...NAMES.slice(0, 3)) }, { weight: 2, arbitrary: fc.constantFrom(...NAMES.slice(3)) });
const seed = fc.nat(9999);
const change: fc.Arbitrary<Change> = fc.record({ name, seed, how: fc.constantFrom('line', 'line', 'append', 'cut', 'delete', 'touch', 'same', 'rewrite') });
const redefinition: fc.Arbitrary<Redefinition> = fc.record({ define: fc.constantFrom(...DEFINITIONS), seed: fc.oneof(fc.constant(0), seed, seed) });
const happening: fc.Arbitrary<Change | Redefinition> = fc.oneof<fc.MaybeWeightedArbitrary<Change | Redefinition>[]>({ weight: 2, arbitrary: change }, { weight: 1, arbitrary: redefinition });

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ act: fc.constantFrom('read', 'read', 'edit', 'write', 'shell'), name, seed }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('todo', 'todo', 'look', 'fail', 'load', 'load', 'later'), seed }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('skill', 'background', 'output', 'stop', 'agent', 'teammate', 'mail', 'plan', 'notebook'), seed }) },
);
const before: fc.Arbitrary<Before> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ what: fc.constantFrom('pin', 'pin', 'pinRange', 'unpin', 'repin'), name }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constantFrom('todo', 'todo', 'done', 'remove', 'mode', 'mode', 'style', 'budget', 'compact', 'resume', 'fork', 'midnight', 'exclude', 'restore', 'rewind', 'rewind', 'again', 'slash', 'ran', 'note', 'nothing'), seed }) },
);

export const turn: fc.Arbitrary<Turn> = fc.record({
  before: fc.array(before, { maxLength: 2 }), outside: fc.array(happening, { maxLength: 2 }), queue: fc.boolean(), deliver: fc.boolean(),
  mention: fc.array(fc.oneof({ weight: 4, arbitrary: name }, { weight: 1, arbitrary: fc.constantFrom('agent-helper' as const, 'agent-mate' as const) }), { maxLength: 1 }),
  words: fc.constantFrom('', '', 'ultrathink', 'deploy to the staging server', 'tune the old xylophone'),
  replies: fc.array(fc.record({ acts: fc.array(act, { maxLength: 3 }), thinks: fc.boolean(), meanwhile: fc.array(happening, { maxLength: 1 }), refuses: fc.nat(15).map((n) => n === 0) }), { maxLength: 3 }),
  interrupt: fc.oneof({ weight: 3, arbitrary: fc.constant(9999) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 }) }),
});

/** In how many lives a property is tried; more by `FC_RUNS` in the environment. */
export const runs = (usual: number): { readonly numRuns: number; readonly seed?: number; readonly path?: string } => ({
  numRuns: Number(process.env['FC_RUNS'] ?? usual), ...(process.env['FC_SEED'] !== undefined && { seed: Number(process.env['FC_SEED']) }), ...(process.env['FC_PATH'] !== undefined && { path: process.env['FC_PATH'] }),
});
