import type { Decoded } from '#lib/decode.ts';

/** What the endings of text files say of them; everything else that is text is `text/plain`. */
const TEXT_ENDINGS: ReadonlyMap<string, string> = new Map(Object.entries({
  md: 'markdown', markdown: 'markdown', mdx: 'markdown', html: 'html', htm: 'html', css: 'css', csv: 'csv', tsv: 'tab-separated-values',
  xml: 'xml', svg: 'svg', json: 'json', jsonl: 'json', yaml: 'yaml', yml: 'yaml', toml: 'toml',
  js: 'javascript', mjs: 'javascript', cjs: 'javascript', jsx: 'javascript', ts: 'typescript', mts: 'typescript', cts: 'typescript', tsx: 'typescript',
  py: 'x-python', rb: 'x-ruby', go: 'x-go', rs: 'x-rust', java: 'x-java', kt: 'x-kotlin', swift: 'x-swift', cs: 'x-csharp', php: 'x-php',
  c: 'x-c', h: 'x-c', cc: 'x-c++', cpp: 'x-c++', hpp: 'x-c++', sh: 'x-shellscript', bash: 'x-shellscript', sql: 'x-sql', diff: 'x-diff', patch: 'x-diff',
}));

const BINARY_ENDINGS: ReadonlyMap<string, string> = new Map(Object.entries({
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  zip: 'application/zip', gz: 'application/gzip', tar: 'application/x-tar', wasm: 'application/wasm', sqlite: 'application/vnd.sqlite3',
  mp3: 'audio/mpeg', wav: 'audio/wav', ogg: 'audio/ogg', mp4: 'video/mp4', mov: 'video/quicktime', webm: 'video/webm',
  bmp: 'image/bmp', ico: 'image/vnd.microsoft.icon', tif: 'image/tiff', tiff: 'image/tiff', avif: 'image/avif', heic: 'image/heic',
  ttf: 'font/ttf', otf: 'font/otf', woff: 'font/woff', woff2: 'font/woff2',
}));

/** The type of a picture or PDF by its first bytes, whatever its name; a dozen bytes (PDF: 1 kB) are enough. */
export function mediaTypeOf(bytes: Uint8Array): 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'application/pdf' | undefined {
  const start = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(start)) return 'image/gif';
  if (/^RIFF[^]{4}WEBP/.test(start)) return 'image/webp';
  return start.startsWith('%PDF-') ? 'application/pdf' : undefined;
}

/** MIME type by content first: what decodes as text is `text/*` whatever its ending; the ending only refines. */
export function mimeOf(name: string, decoded: Decoded): string {
  const ending = /\.([a-z0-9+]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return decoded.kind === 'text' ? `text/${TEXT_ENDINGS.get(ending) ?? 'plain'}` : BINARY_ENDINGS.get(ending) ?? 'application/octet-stream';
}
