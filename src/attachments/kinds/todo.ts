import { TODO_LIST_ID, type Attachment, type StoredAttachment, type TodoItem as ListedItem } from '#domain/attachment.ts';
import { todoLine } from '../words.ts';

/** One thing to do, open or done. */
export class TodoItem {
  readonly text: string;
  readonly completed: boolean;

  constructor(text: string, completed: boolean) {
    this.text = text;
    this.completed = completed;
  }
}

/**
 * The todo list of a session. Items are numbered from 1 in their order; those given as {@link TodoItem} count as the user's,
 * items of a stored list keep their numbers, states and makers.
 */
export class TodoAttachment implements Attachment {
  readonly kind = 'todo';
  readonly id = TODO_LIST_ID;
  readonly items: readonly ListedItem[];

  constructor(items: readonly (TodoItem | ListedItem)[]) {
    const free = Math.max(0, ...items.map((item) => ('id' in item ? item.id : 0)));
    let made = 0;
    this.items = items.map((item) => ('id' in item ? item : { id: free + (made += 1), text: item.text, state: item.completed ? 'done' : 'open', by: 'user' }));
  }

  render(): string {
    return ['Todo list:', ...this.items.map((item) => todoLine(item))].join('\n');
  }

  stored(): StoredAttachment {
    return { kind: 'todo', id: this.id, items: this.items };
  }
}
