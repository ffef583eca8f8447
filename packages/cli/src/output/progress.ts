const BAR_WIDTH = 24;
const FRAME_MS = 100;

/** A progress line on stderr. Without a terminal nothing is shown. */
export interface Progress {
  /** Shows how much is done. */
  update(done: number): void;
  /** Removes the line. */
  end(): void;
}

/** The look of a progress line. */
export interface ProgressOptions {
  /** The name of the activity, such as `Importing`. */
  label: string;
  /** The total amount; null when it is unknown. */
  total: number | null;
  /** Formats an amount for people; the plain number by default. */
  format?: (amount: number) => string;
}

/** Starts a progress line. */
export function startProgress({ label, total, format = String }: ProgressOptions): Progress {
  const { isTTY } = process.stderr;
  if (!isTTY || process.env["TERM"] === "dumb") return { update: () => {}, end: () => {} };
  let drawnAt = 0;
  const draw = (done: number): void => {
    const line =
      total === null
        ? `${label} ${format(done)}`
        : `${label} ${bar(total === 0 ? 1 : done / total)} ${format(done)} of ${format(total)}`;
    // A wrapped line would remain when the next one is drawn.
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
