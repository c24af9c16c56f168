import type { Effort, ToolDefinition } from '#domain/content.ts';
import type { HeadBody } from '#domain/entry.ts';
import type { ModelFacts } from '#domain/model.ts';
import type { Person } from './agent.ts';
import frame from './frame.md';
import team from './team.md';

/** What the requests of a sub-agent begin with: what every sub-agent is told, then the instructions of its type. */
export function headOfThread({ type, name }: Person, tools: readonly ToolDefinition[], model: ModelFacts, effort: Effort | undefined): HeadBody {
  const wanted = type.effort ?? effort;
  const used = wanted !== undefined && model.efforts.includes(wanted) ? wanted : model.defaultEffort;
  const first = name === undefined ? frame.trim() : `${frame.trim()}\n\n${team.trim()}`;
  return {
    type: 'head', model: model.id, tools,
    system: [{ type: 'text', text: first }, { type: 'text', text: type.prompt.trim() }],
    ...(used !== undefined && { effort: used }),
  };
}
