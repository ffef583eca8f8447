const BAR_WIDTH = 24;
const FRAME_MS = 100;

/** A line on stderr that tells how far something is. Without a terminal there is none. */
export interface Progress {
  /** How much is done. */
  update(done: number): void;
  /** Takes the line away. */
  end(): void;
}

/** How a progress line looks. */
export interface ProgressOptions {
  /** What is done, such as `Importing`. */
  label: string;
  /** How much there is; null when nobody knows. */
  total: number | null;
  /** An amount for people; the plain number by default. */
  format?: (amount: number) => string;
}

/** Begins a progress line. */
export function startProgress({ label, total, format = String }: ProgressOptions): Progress {
  const { isTTY } = process.stderr;
  if (!isTTY || process.env["TERM"] === "dumb") return { update: () => {}, end: () => {} };
  let drawnAt = 0;
  const draw = (done: number): void => {
    const line =
      total === null
        ? `${label} ${format(done)}`
        : `${label} ${bar(total === 0 ? 1 : done / total)} ${format(done)} of ${format(total)}`;
    // A line that is broken in two would stay when the next one is drawn.
    process.stderr.write(`\r\u001b[K${line.slice(0, (process.stderr.columns || 80) - 1)}`);
    drawnAt = Date.now();
  };
  draw(0);
  return {
    update: (done) => {
      if (Date.now() - drawnAt >= FRAME_MS || done === total) draw(done);
    },
    end: () => {
      process.stderr.write("\r\u001b[K");
    },
  };
}

function bar(part: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, part)) * BAR_WIDTH);
  return `[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}] ${Math.floor(Math.min(1, part) * 100)} %`;
}
