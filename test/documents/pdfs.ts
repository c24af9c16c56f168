import { deflateSync } from 'node:zlib';

/** How a page looks in a {@link madePdf}. */
interface Page {
  readonly text: string;
  /** Number (from 1) of a page that a link on this one leads to. */
  readonly link?: number;
  /** Bytes of noise that the page draws, so that its size can be told. */
  readonly noise?: number;
}

/** A real PDF of these pages, one line of text on each. `damage`: the table of objects is wrong, as after an edit by hand. */
export function madePdf(pages: readonly (string | Page)[], { damage = false, encrypted = false } = {}): Buffer {
  const objects: Buffer[] = Array.from({ length: 4 + pages.length * 3 }, () => Buffer.alloc(0));
  const put = (at: number, body: string | Buffer): void => { objects[at] = Buffer.concat([Buffer.from(`${at} 0 obj\n`), typeof body === 'string' ? Buffer.from(body) : body, Buffer.from('\nendobj\n')]); };
  const pageAt = (index: number): number => 4 + index * 3;
  put(1, '<< /Type /Catalog /Pages 2 0 R >>');
  put(2, `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${pageAt(at)} 0 R`).join(' ')}] >>`);
  put(3, '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  pages.forEach((given, at) => {
    const { text, link, noise = 0 } = typeof given === 'string' ? { text: given } : given;
    const drawn = deflateSync(`BT /F1 24 Tf 72 700 Td (${text}) Tj ET\n% ${noiseOf(noise)}`);
    put(pageAt(at), `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${pageAt(at) + 1} 0 R /Resources << /Font << /F1 3 0 R >> >>${link === undefined ? '' : ` /Annots [${pageAt(at) + 2} 0 R]`} >>`);
    put(pageAt(at) + 1, Buffer.concat([Buffer.from(`<< /Length ${drawn.length} /Filter /FlateDecode >>\nstream\n`), drawn, Buffer.from('\nendstream')]));
    put(pageAt(at) + 2, `<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /Dest [${pageAt((link ?? 1) - 1)} 0 R /Fit] >>`);
  });
  const header = Buffer.from('%PDF-1.5\n');
  const offsets: number[] = [];
  let at = header.length;
  const body = objects.map((object, number) => {
    offsets[number] = at;
    at += object.length;
    return object;
  });
  const table = offsets.map((offset, number) => (number === 0 ? '0000000000 65535 f \n' : `${String(damage ? offset + 7 : offset).padStart(10, '0')} 00000 n \n`)).join('');
  const trailer = `xref\n0 ${objects.length}\n${table}trailer\n<< /Size ${objects.length} /Root 1 0 R${encrypted ? ' /Encrypt << /Filter /Standard /V 1 /R 2 /O (01234567890123456789012345678901) /U (01234567890123456789012345678901) /P -4 >> /ID [(a) (a)]' : ''} >>\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.concat([header, ...body, Buffer.from(trailer)]);
}

/** Letters that do not compress well, the same each time. */
function noiseOf(length: number): string {
  let state = 12345;
  let noise = '';
  while (noise.length < length) {
    state = (state * 1103515245 + 12345) % 2147483648;
    noise += state.toString(36);
  }
  return noise.slice(0, length);
}

export const numberedPages = (count: number): string[] => Array.from({ length: count }, (_, at) => `This is page ${at + 1}`);
