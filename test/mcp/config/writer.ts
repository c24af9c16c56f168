import { addServer } from '#mcp/config/write.ts';

/** Writes so many servers down, one after the other: `writer <file> <name> <count>`. */
const [, , file = '', name = '', count = '0'] = process.argv;
for (let i = 0; i < Number(count); i += 1) await addServer({ file, mode: 0o600 }, `${name}${i}`, { command: 'x' });
