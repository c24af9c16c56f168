/** A question to a model about an event: the event's JSON stands where the prompt says `$ARGUMENTS`, or behind it. `\$` is a plain `$`. */
export function questionOf(prompt: string, input: string): string {
  let placed = false;
  const text = prompt.replaceAll(/\\\$|\$ARGUMENTS\b/g, (found) => {
    if (found === String.raw`\$`) return '$';
    placed = true;
    return input;
  });
  return placed ? text : `${text}\n\n${input}`;
}
