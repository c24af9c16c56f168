import { putMail } from '#agents/mailbox.ts';

/** Writes so many messages into a mailbox: file, name, number. */
const [file = '', from = '', count = '0'] = process.argv.slice(2);
for (let n = 0; n < Number(count); n += 1) {
  const write = () => putMail(file, { from, to: 'bob', text: `${from} ${n}` }, '');
  let put = await write();
  // On a busy machine one of several may not get its turn in time, and is told to try again.
  for (let tries = 0; 'problem' in put && put.problem.endsWith('try again') && tries < 20; tries += 1) put = await write();
  if ('problem' in put) process.exit(1);
}
