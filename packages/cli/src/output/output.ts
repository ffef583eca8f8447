import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** The output of a command: for people, or as JSON. */
export class Output {
  readonly isJson: boolean;
  readonly #isColoured: boolean;

  constructor(options: { json: boolean; colour: boolean }) {
    this.isJson = options.json;
    this.#isColoured = options.colour;
  }

  /** Writes a line of the result. */
  line(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** Writes the result as JSON, for programs. */
  json(value: unknown): void {
    process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** Writes one line of a JSON stream. */
  jsonLine(value: unknown): void {
    process.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** Writes a remark beside the result, to stderr. */
  note(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  /** Writes a value for programs, or lines for people. */
  show(value: unknown, lines: readonly string[]): void {
    if (this.isJson) this.json(value);
    else for (const line of lines) this.line(line);
  }

  /** Colours a text where colours are wanted. */
  paint(style: Style, text: string): string {
    // The decision about colours was made already.
    return this.#isColoured ? styleText(style, text, { validateStream: false }) : text;
  }

  /** A status of a run, step or anything else, in the colour of its meaning. */
  status(status: string): string {
    return this.paint(styleOf(status), status);
  }
}

/** Whether stdout is coloured: on a terminal, unless NO_COLOR or `--no-color` is set. */
export function wantsColour(colourOption: boolean): boolean {
  const forbidden = process.env["NO_COLOR"] ?? "";
  return colourOption && forbidden === "" && process.env["TERM"] !== "dumb" && process.stdout.isTTY;
}

const GOOD = new Set(["completed", "success", "active", "succeeded", "approved", "processed"]);
const BAD = new Set(["failed", "error", "timeout", "expired", "rejected", "disabled"]);
const QUIET = new Set(["skipped", "cancelled", "archived", "draft", "ignored", "deprecated"]);

function styleOf(status: string): Style {
  if (GOOD.has(status)) return "green";
  if (BAD.has(status)) return "red";
  return QUIET.has(status) ? "gray" : "yellow";
}

/** Foreign text on one line. Characters that control a terminal become question marks. */
export function plain(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "?");
}

/** The lines of a JSON value. JSON escapes C0; this escapes C1 and characters that reverse text. */
export function jsonLines(value: unknown): string {
  return (JSON.stringify(value, null, 2) ?? "null").replaceAll(
    /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A duration such as `340 ms`, `1.2 s` or `3 min 5 s`; a dash for none. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "-";
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A timestamp for people, in UTC, to the second; a dash for none. */
export function time(timestamp: string | null | undefined): string {
  return timestamp?.replace("T", " ").replace(/\.\d+Z$/, "Z") ?? "-";
}

/** A size such as `3.4 MB`. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
