import type { ImageType } from '#domain/content.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Picture extends Size {
  readonly mime: ImageType;
  readonly bytes: Uint8Array;
}

/** Longest side in pixels that the API takes however many pictures a request holds. */
export const LONGEST_SIDE = 2000;
/** Bytes before base64; the strictest of the platforms takes 5 MB of base64. */
export const MOST_BYTES = 3_750_000;

/** Makes a picture fit {@link LONGEST_SIDE} and {@link MOST_BYTES}; undefined when it cannot. */
export type Scale = (picture: Picture) => Promise<Picture | undefined>;

/** Width and height in pixels out of the file's own header; undefined when there are none to be found. */
export function sizeOf(bytes: Uint8Array, mime: ImageType): Size | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = HEADERS[mime](buffer);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

const HEADERS: Readonly<Record<ImageType, (buffer: Buffer) => Size | undefined>> = {
  'image/png': (buffer) => (buffer.length < 24 ? undefined : { width: buffer.readUInt32BE(16), height: buffer.readUInt32BE(20) }),
  'image/gif': (buffer) => (buffer.length < 10 ? undefined : { width: buffer.readUInt16LE(6), height: buffer.readUInt16LE(8) }),
  'image/jpeg': sizeOfJpeg,
  'image/webp': sizeOfWebp,
};

/** Walks the segments up to the first start of frame. */
function sizeOfJpeg(buffer: Buffer): Size | undefined {
  for (let at = 2; at + 9 <= buffer.length;) {
    if (buffer[at] !== 0xff) return undefined;
    const marker = buffer[at + 1] ?? 0;
    if (marker === 0xff) { at += 1; continue; }
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { height: buffer.readUInt16BE(at + 5), width: buffer.readUInt16BE(at + 7) };
    }
    at += marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8) ? 2 : 2 + buffer.readUInt16BE(at + 2);
  }
  return undefined;
}

function sizeOfWebp(buffer: Buffer): Size | undefined {
  if (buffer.length < 30) return undefined;
  switch (buffer.toString('latin1', 12, 16)) {
    case 'VP8 ': return { width: buffer.readUInt16LE(26) & 0x3fff, height: buffer.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = buffer.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X': return { width: buffer.readUIntLE(24, 3) + 1, height: buffer.readUIntLE(27, 3) + 1 };
    default: return undefined;
  }
}

export function fits(picture: Picture): boolean {
  return Math.max(picture.width, picture.height) <= LONGEST_SIDE && picture.bytes.length <= MOST_BYTES;
}

/** Scales with the optional package `sharp`; undefined when it is not installed or cannot read the picture. */
export const scaleWithSharp: Scale = async (picture) => {
  try {
    const { default: sharp } = await import('sharp');
    const scaled = sharp(picture.bytes).rotate().resize({ width: LONGEST_SIDE, height: LONGEST_SIDE, fit: 'inside', withoutEnlargement: true });
    const first = await (picture.mime === 'image/jpeg' ? scaled.jpeg({ quality: 85 }) : scaled.png()).toBuffer({ resolveWithObject: true });
    const { data, info } = first.data.length <= MOST_BYTES ? first : await scaled.flatten({ background: '#fff' }).jpeg({ quality: 80 }).toBuffer({ resolveWithObject: true });
    const made: Picture = { bytes: data, mime: info.format === 'jpeg' ? 'image/jpeg' : 'image/png', width: info.width, height: info.height };
    return fits(made) ? made : undefined;
  } catch {
    return undefined;
  }
};
