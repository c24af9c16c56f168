export function defuse(text: string, tag: string): string { return tag === '' ? text : text; }
