// Preloaded into the program: kills it, as `kill -9` does, at the write to its session log that DIE_AT_WRITE names. The prompt is
// number 0; `3` is before the third record after it, `3.5` in the middle of that record.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const at = Number(process.env['DIE_AT_WRITE']);
const logs = new Set();
const { openSync, writeSync } = fs;
let number;

fs.openSync = (path, ...rest) => {
  const fd = openSync(path, ...rest);
  if (String(path).endsWith('.jsonl')) logs.add(fd);
  return fd;
};

fs.writeSync = (fd, bytes, ...rest) => {
  if (!logs.has(fd)) return writeSync(fd, bytes, ...rest);
  if (number !== undefined) number += 1;
  else if (Buffer.from(bytes).includes('"type":"prompt"')) number = 0;
  if (number === Math.floor(at)) {
    if (at % 1 !== 0) writeSync(fd, bytes.subarray(0, Math.ceil(bytes.length / 2)));
    process.kill(process.pid, 'SIGKILL');
  }
  return writeSync(fd, bytes, ...rest);
};

syncBuiltinESMExports();
