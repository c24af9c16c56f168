export { AttachmentStore } from '#attachments/store.ts';
