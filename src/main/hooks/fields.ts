import { isAbsolute, join } from 'node:path';
import type { Json } from '#lib/brand.ts';
import type { Session } from '#domain/session.ts';
import type { Call, ToolResult } from '#domain/tool.ts';
import { type Fields, fieldsOf, textOf } from '#hooks/answer.ts';
import type { HookDesk } from './desk.ts';

const FILE_TOOLS: ReadonlySet<string> = new Set(['Read', 'Write', 'Edit', 'NotebookEdit']);

/** A call's fields as hooks are told of them: files by their absolute paths. */
export function toolFields({ options }: HookDesk, call: Call, session: Session): Fields {
  return { tool_name: call.tool, tool_input: absolute(call, options.tools().cwd(session), options.place.userHome), tool_use_id: call.id };
}

function absolute({ tool, input }: Call, cwd: string, home: string): Json {
  const fields = fieldsOf(input);
  if (fields === undefined || !FILE_TOOLS.has(tool)) return input;
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => {
    if ((key !== 'file_path' && key !== 'notebook_path') || typeof value !== 'string' || isAbsolute(value)) return [key, value];
    return [key, value.startsWith('~/') ? join(home, value.slice(2)) : join(cwd, value)];
  }));
}

function wordsOf({ content }: ToolResult): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [`[${part.name}]`])).join('\n');
}

const LONGEST_ERROR = 10_000;

export function errorText(result: ToolResult): string {
  const text = wordsOf(result);
  if (text.length <= LONGEST_ERROR) return text;
  const half = LONGEST_ERROR / 2;
  return `${text.slice(0, half)}\n... [${text.length - LONGEST_ERROR} characters truncated] ...\n${text.slice(-half)}`;
}

/** A result in the shape in which other shells tell it to hooks. */
export function responseOf(call: Call, result: ToolResult): Json {
  const text = wordsOf(result);
  const path = textOf(fieldsOf(call.input)?.['file_path'] ?? fieldsOf(call.input)?.['notebook_path']);
  switch (call.tool) {
    case 'Bash': return { stdout: text, stderr: '', interrupted: result.kind === 'interrupted', isImage: result.content.some(({ type }) => type === 'media') };
    case 'Write': case 'Edit': case 'NotebookEdit': return { filePath: path ?? '', success: result.kind === 'ok' };
    case 'Read': return { type: 'text', file: { filePath: path ?? '', content: text } };
    case 'Task': return { status: 'completed', content: [{ type: 'text', text }] };
    default: return call.tool.startsWith('mcp__') ? [{ type: 'text', text }] : text;
  }
}
