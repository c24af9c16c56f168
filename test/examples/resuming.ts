// A session that is left and gone on with later, here in the same process.
import { createAgent } from 'pinion';

const first = await createAgent();
first.session.append({ type: 'attach', by: 'user', attachment: { kind: 'memory', id: 'memory:name', slug: 'name', text: 'The user is called Ann.' } });
await first.answer('Count to 2');
const { file } = first;
await first.close();

const second = await createAgent({ resume: file });
console.log(second.session.id === first.session.id, second.session.attachmentIds().join(' '));
const { text } = await second.answer('What did I ask before?');
console.log(text.includes('Count to 2'));

// Whoever has had enough leaves the loop: the turn is interrupted, and the session is whole enough to go on with.
for await (const event of second.prompt('Count to 400')) if (event.type === 'textDelta') break;
console.log(second.session.log.findLast((entry) => entry.type === 'assistant')?.stop);
await second.close();
