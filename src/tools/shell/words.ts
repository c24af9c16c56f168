/** What the model is told of a command that goes on in the background. */
export function startedAs(id: string): string {
  return `TaskOutput with the id ${id} reads its output, TaskStop ends it; its end is reported. It is ended with the program.`;
}
