// Preloaded into the program: kills it, as `kill -9` does, in the middle of writing a file of the project. DIE_IN_WRITE says where:
// `temporary` after the temporary file was written, `half` in the middle of overwriting in place, `untrimmed` before the rest is cut off.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const where = process.env['DIE_IN_WRITE'];
const die = () => process.kill(process.pid, 'SIGKILL');
const { renameSync } = fs;

fs.renameSync = (from, to) => {
  if (where === 'temporary' && String(from).endsWith('.tmp')) die();
  return renameSync(from, to);
};

const some = await fs.promises.open(process.execPath);
const prototype = Object.getPrototypeOf(some);
await some.close();
const { write, truncate } = prototype;
prototype.write = async function half(bytes, offset, length, at) {
  if (where === 'half') {
    await write.call(this, bytes, offset, Math.floor(length / 2), at);
    die();
  }
  return await write.call(this, bytes, offset, length, at);
};
prototype.truncate = async function untrimmed(length) {
  if (where === 'untrimmed') die();
  return await truncate.call(this, length);
};

syncBuiltinESMExports();
