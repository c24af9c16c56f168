// What happens in a turn, as it happens, and what it cost.
import { createAgent, type Event } from 'pinion';

function lineOf(event: Event): string | undefined {
  switch (event.type) {
    case 'toolStarted': return `tool: ${event.card.title}`;
    case 'waiting': return `waiting: ${event.reason}`;
    case 'fault': return `fault: ${event.message}`;
    case 'entry': return event.entry.type === 'assistant' ? `reply: ${event.entry.usage.output} tokens from ${event.entry.model}` : undefined;
    default: return undefined;
  }
}

const agent = await createAgent({ persist: false });
for await (const event of agent.prompt('Read package.json and tell me its name')) {
  const line = lineOf(event);
  if (line !== undefined) console.log(line);
}
const { usd, input, cacheRead, cacheWrite, output } = agent.cost();
console.log(`cost: $${usd ?? '?'}, ${input + cacheRead + cacheWrite} tokens in, ${output} out`);
await agent.close();
