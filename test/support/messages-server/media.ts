import { invalid, type Obj, type Refusal, text } from './shape.ts';

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const MAX_IMAGE_BYTES = 10 * 1024 * 1024;

export interface Picture {
  /** Where it stands, such as `messages.3.content.1`. */
  readonly path: string;
  readonly width: number;
  readonly height: number;
}

/** Looks an image block over; gives its size in pixels, or why it is refused. */
export function checkImage(source: Obj, path: string): Picture | Refusal {
  const unknownSize = { path, width: 1, height: 1 };
  if (source['type'] === 'url' || source['type'] === 'file') return unknownSize;
  if (source['type'] !== 'base64') return invalid(`${path}.image.source: Input tag '${text(source['type'])}' found using 'type' does not match any of the expected tags: 'base64', 'url', 'file'`);
  const declared = text(source['media_type']);
  const data = text(source['data']);
  if (!IMAGE_TYPES.includes(declared)) return invalid(`${path}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`);
  if (data.length > MAX_IMAGE_BYTES) return invalid(`${path}.image.source.base64: image exceeds 10 MB maximum: ${data.length} bytes > ${MAX_IMAGE_BYTES} bytes`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return invalid(`${path}.image.source.base64.data: The image data is not valid base64`);
  const bytes = Buffer.from(data, 'base64');
  const found = lookAt(bytes);
  if (found === undefined) return invalid(`${path}.image.source.base64.data: Could not process image`);
  if (found.type !== declared) return invalid(`${path}.image.source.base64.data: Image does not match the provided media type ${declared}`);
  return { path, width: found.width, height: found.height };
}

/** The rules over all images of a request together. */
export function checkPictures(pictures: readonly Picture[], window: number): Refusal | undefined {
  const most = window < 1_000_000 ? 100 : 600;
  if (pictures.length > most) return invalid(`messages: too many images and documents: ${pictures.length} + 0 > ${most}`);
  const side = pictures.length > 20 ? 2_000 : 8_000;
  const over = pictures.filter(({ width, height }) => Math.max(width, height) > side);
  const [first] = over;
  if (first === undefined) return undefined;
  const many = side === 2_000 ? ' for many-image requests' : '';
  return invalid(`${first.path}.image.source.base64.data: At least one of the image dimensions exceed max allowed size${many}: ${side} pixels`, {
    error_code: 'image_dimensions_too_large', max_side_length_pixels: side, paths: over.map(({ path }) => path),
  });
}

export function checkDocument(source: Obj, path: string): Refusal | undefined {
  if (source['type'] !== 'base64') return undefined;
  if (source['media_type'] !== 'application/pdf') return invalid(`${path}.document.source.base64.media_type: Input should be 'application/pdf'`);
  const data = text(source['data']);
  if (!Buffer.from(data, 'base64').subarray(0, 1024).includes('%PDF-')) return invalid(`${path}.document.source.base64.data: The PDF specified was not valid.`);
  return undefined;
}

function lookAt(bytes: Buffer): { readonly type: string; readonly width: number; readonly height: number } | undefined {
  if (bytes.length >= 24 && bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))) {
    return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  if (bytes.length >= 10 && /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6))) {
    return { type: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  }
  if (bytes.length >= 30 && bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP') return webp(bytes);
  return bytes.length >= 4 && bytes[0] === 0xff && bytes[1] === 0xd8 ? jpeg(bytes) : undefined;
}

function webp(bytes: Buffer): { type: string; width: number; height: number } | undefined {
  const type = 'image/webp';
  const form = bytes.toString('latin1', 12, 16);
  if (form === 'VP8X') return { type, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (form === 'VP8 ') return { type, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  if (form !== 'VP8L') return undefined;
  const bits = bytes.readUInt32LE(21);
  return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

function jpeg(bytes: Buffer): { type: string; width: number; height: number } | undefined {
  let at = 2;
  while (at + 9 < bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    const frame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (frame) return { type: 'image/jpeg', width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
