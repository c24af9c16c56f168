// One question, with a file kept in view. Run: node one-question.ts
import { createAgent } from 'pinion';

const agent = await createAgent({ persist: false });
await agent.pin('package.json');
const { text, outcome } = await agent.answer('What is the version?');
console.log(outcome.kind === 'answered' ? text : `no answer: ${outcome.kind}`);
await agent.close();
