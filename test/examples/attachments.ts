// The attachment store alone: what is kept in view, by kind, as one message that is made anew for each request.
import { AttachmentStore, FileAttachment, MemoryAttachment, TodoAttachment, TodoItem } from 'pinion';

const store = new AttachmentStore();
console.log(store.consolidatedMessage() === undefined); // true: an empty store leaves no trace

store.insert(new TodoAttachment([new TodoItem('write tests', false), new TodoItem('read the seed', true)]));
store.insert(FileAttachment.inline('notes.txt', 'alpha\n'.repeat(3000), { truncate: true }));
store.insert(FileAttachment.pathOnly('src/index.ts'));
store.insert(new MemoryAttachment('tone', 'Answer briefly.'));
console.log(store.attachments().map(({ id }) => id).join(' ')); // memory, then files, then todos

// The same id replaces in place: that is how an attachment is brought up to date.
store.insert(new MemoryAttachment('tone', 'Answer in French.'));
console.log(store.renderAll()[0]);

const message = store.consolidatedMessage();
const [block] = typeof message?.content === 'object' ? message.content : [];
const text = block?.type === 'text' ? block.text : '';
console.log(text.startsWith('<system-reminder>'), text.length < 20_000, text.includes('write tests'));
console.log(store.remove('todo:list'), store.contains('todo:list'));
