const QUOTE = 34;
const BACKSLASH = 92;

/** Deeper than anything that people or models write, and shallow enough for every function that calls itself. */
export const DEEPEST_JSON = 512;

/** Whether arrays and objects stand within one another deeper than that in JSON text. Once parsed, such a value cannot even be written again. */
export function isTooDeep(json: string): boolean {
  if (json.length <= 2 * DEEPEST_JSON) return false;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const unit = json.charCodeAt(at);
    if (quoted) {
      if (unit === BACKSLASH) at += 1;
      else if (unit === QUOTE) quoted = false;
    } else if (unit === QUOTE) quoted = true;
    else if (unit === 91 || unit === 123) depth += 1;
    else if (unit === 93 || unit === 125) depth -= 1;
    if (depth > DEEPEST_JSON) return true;
  }
  return false;
}
