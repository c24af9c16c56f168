// A tool of one's own, and a function that is asked before it runs.
import { createAgent, defineTool } from 'pinion';
import * as z from 'zod';

const lamps = new Map([['kitchen', false]]);

const lamp = defineTool({
  id: 'Lamp', effect: 'executes',
  description: 'Switches a lamp on or off.',
  input: z.strictObject({ room: z.string(), on: z.boolean() }),
  title: ({ room, on }) => `Lamp ${room} ${on ? 'on' : 'off'}`,
  async *run({ room, on }) {
    yield `switching ${room}`;
    lamps.set(room, on);
    return { result: { kind: 'ok', content: [{ type: 'text', text: `The lamp in the ${room} is ${on ? 'on' : 'off'}.` }], card: { title: `Lamp ${room}`, body: [] } } };
  },
});

const agent = await createAgent({
  tools: [lamp], ownTools: 'none', persist: false,
  // Without an answer the call is refused, and the model is told so.
  ask(question) {
    if (question.kind !== 'permission') return undefined;
    console.log(`asked: ${question.card.title}`);
    return { kind: 'yes' };
  },
});
const { text } = await agent.answer('Switch the lamp in the kitchen on');
console.log(text);
console.log(`kitchen: ${lamps.get('kitchen') === true ? 'on' : 'off'}`);
await agent.close();
