import { putMail } from '#agents/mailbox.ts';

/** Writes so many messages into a mailbox: file, name, number. */
const [file = '', from = '', count = '0'] = process.argv.slice(2);
for (let n = 0; n < Number(count); n += 1) {
  const put = await putMail(file, { from, to: 'bob', text: `${from} ${n}` }, '');
  if ('problem' in put) process.exit(1);
}
