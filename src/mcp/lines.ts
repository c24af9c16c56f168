/** Takes whole lines, without their ends. */
export interface LineSink {
  line(text: string): void;
  /** A line of so many bytes was thrown away: what it began and ended with. */
  tooLong(head: string, tail: string, bytes: number): void;
  /** An empty line. */
  blank?(): void;
}

const KEPT_OF_LONG = 2048;

/** Cuts a stream of bytes into lines. Of a line longer than `most` bytes only both ends are ever held. */
export function createLines(most: number, sink: LineSink): { push(chunk: Buffer): void; end(): void } {
  let parts: Buffer[] = [];
  let bytes = 0;
  let tail = Buffer.alloc(0);
  const add = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes <= most) {
      parts.push(piece);
      return;
    }
    // From here on the line is given up: its beginning stays, its end is held up to date.
    if (bytes - piece.length <= most) parts = [Buffer.concat([...parts, piece]).subarray(0, KEPT_OF_LONG)];
    tail = Buffer.concat([tail, piece.subarray(-KEPT_OF_LONG)]).subarray(-KEPT_OF_LONG);
  };
  const finish = (): void => {
    if (bytes > most) sink.tooLong(Buffer.concat(parts).toString('utf8'), tail.toString('utf8'), bytes);
    else {
      const text = Buffer.concat(parts).toString('utf8').replace(/\r$/, '');
      if (text === '') sink.blank?.();
      else sink.line(text);
    }
    parts = [];
    bytes = 0;
    tail = Buffer.alloc(0);
  };
  return {
    push(chunk) {
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, end));
        finish();
        from = end + 1;
      }
      if (from < chunk.length) add(chunk.subarray(from));
    },
    end() { if (bytes > 0) finish(); },
  };
}
