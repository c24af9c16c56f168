import { clip } from './lines.ts';

/**
 * Short names for lines that are laid out already. ink measures and takes apart every sign of a frame each time that anything
 * in it changes; of a named line it sees a few letters, and whoever writes to the terminal puts the line in their place.
 */
export interface LineNames {
  /** The name of a line: the same line has the same name, another line never has it. */
  of(line: string): string;
  /** A frame with lines in place of their names, cut to so many columns: a window may have become narrower than they are. What is no name stays. */
  read(frame: string, columns: number): string;
  /** Forgets what is no longer drawn once there is much of it; names that are asked for from now on are new ones. */
  tidy(): void;
}

interface Named {
  readonly line: string;
  /** The line as it was cut last, and to how many columns. */
  columns: number;
  cut: string;
}

function cutTo(named: Named, columns: number): string {
  if (named.columns !== columns) {
    named.cut = clip(named.line, columns);
    named.columns = columns;
  }
  return named.cut;
}

/** More names than this are not kept. */
const MOST = 2000;
const MARK = '@';

export function createLineNames(): LineNames {
  let names = new Map<string, string>();
  let lines = new Map<string, Named>();
  let count = 0;
  return {
    of(line) {
      const known = names.get(line);
      if (known !== undefined) return known;
      const name = MARK + (count += 1).toString(36);
      names.set(line, name);
      lines.set(name, { line, columns: 0, cut: '' });
      return name;
    },
    read: (frame, columns) => frame.split('\n').map((name) => {
      const named = name.startsWith(MARK) ? lines.get(name) : undefined;
      return named === undefined ? name : cutTo(named, columns);
    }).join('\n'),
    tidy() {
      if (names.size <= MOST) return;
      names = new Map();
      lines = new Map();
    },
  };
}
