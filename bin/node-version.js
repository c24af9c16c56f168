// Imports nothing and uses no new syntax, so that an old Node gets as far as saying what is wrong.
const OLDEST = [20, 19];

/** One clear line when this Node cannot run the program, else undefined. */
export function nodeTooOld(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return `Node ${OLDEST.join('.')} or newer is needed, this is ${version}. Install a newer one from https://nodejs.org and start again.`;
}
