import { isUtf8 } from "node:buffer";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { CsvError, parse } from "csv-parse/sync";
import type { InfoRecord } from "csv-parse/sync";
import { PROBLEMS_MAX, ROWS_MAX } from "./import-plan.ts";

/** A parsed CSV file. */
export interface CsvFile {
  header: readonly string[];
  /** The values of each line below the header, joined by NUL, which no value contains. */
  records: string[];
  /** The line on which each record begins; the header begins on the first. */
  lines: Uint32Array;
}

/** The callbacks of the parser. */
interface CsvReaders {
  problems: LineProblems;
  onHeader: (names: readonly string[]) => void;
  /** Receives the values of each line that fits the header. */
  onRecord: (line: number, values: readonly string[]) => void;
}

/** The problems of a file's lines. */
export interface LineProblems {
  readonly violations: readonly Violation[];
  /** Notes a problem, and ends the reading when there are many. */
  add(line: number, message: string): void;
}

export const VALUE_SEPARATOR = "\0";

/** A row may have 1 MiB as JSON; a longer quoted value is a quote that was never closed. */
const RECORD_BYTES_MAX = 1024 * 1024;
const DETECTED_DELIMITERS = [",", ";", "\t"];
const QUOTE = '"';

/**
 * Parses a CSV file (RFC 4180): UTF-8, with or without a byte order mark, lines ending in CRLF, LF
 * or CR. Empty lines are skipped. Lines that do not fit the header and broken quotes go to
 * `problems`; a broken quote ends the reading.
 *
 * @param delimiter undefined: the most frequent of comma, semicolon and tab in the header
 */
export function readCsv(
  bytes: Uint8Array,
  delimiter: string | undefined,
  { problems, onHeader, onRecord }: CsvReaders,
): CsvFile {
  if (!isUtf8(bytes)) throw new AppError("BAD_REQUEST", "The request body is not valid UTF-8.");
  const lineOf = createLineCounter();
  const records: string[] = [];
  const lines = new Uint32Array(ROWS_MAX);
  let header: readonly string[] | undefined;
  const take = (values: readonly string[], info: InfoRecord): null => {
    const line = lineOf.begin(info.empty_lines);
    lineOf.end(values);
    if (header === undefined) {
      header = values;
      onHeader(header);
    } else if (values.length !== header.length) {
      const { length } = values;
      const has = `has ${length} ${length === 1 ? "value" : "values"}`;
      problems.add(line, `${has}, but the header ${header.length}`);
    } else if (values.some((value) => value.includes(VALUE_SEPARATOR))) {
      problems.add(line, "must not contain NUL characters");
    } else {
      requireRoom(records.length, line);
      onRecord(line, values);
      lines[records.length] = line;
      records.push(values.join(VALUE_SEPARATOR));
    }
    return null;
  };
  try {
    parse(bytes, {
      bom: true,
      delimiter: delimiter ?? detectDelimiter(bytes),
      record_delimiter: ["\r\n", "\n", "\r"],
      skip_empty_lines: true,
      relax_column_count: true,
      max_record_size: RECORD_BYTES_MAX,
      on_record: take,
    });
  } catch (error) {
    const explanation = error instanceof CsvError ? EXPLANATIONS[error.code] : undefined;
    if (explanation === undefined) throw error;
    problems.add(lineOf.begin(emptyLinesOf(error)), explanation);
  }
  return { header: header ?? [], records, lines: lines.slice(0, records.length) };
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  CSV_INVALID_CLOSING_QUOTE:
    "has text behind a closing quote; a quote within quotes is written twice",
  CSV_QUOTE_NOT_CLOSED: "opens a quote that is never closed",
  INVALID_OPENING_QUOTE: "has a quote within a value that does not begin with one",
  CSV_MAX_RECORD_SIZE: `is over ${RECORD_BYTES_MAX} bytes long, or opens a quote that is not closed`,
};

/** Collects the problems of lines; the fiftieth is thrown and ends the reading. */
export function createLineProblems(): LineProblems {
  const violations: Violation[] = [];
  return {
    violations,
    add(line, message) {
      violations.push({ path: ["lines", String(line)], message });
      if (violations.length === PROBLEMS_MAX) throw invalidFile(violations);
    },
  };
}

/** The BAD_REQUEST that names the bad lines. */
export function invalidFile(violations: readonly Violation[]): AppError {
  const [first] = violations;
  const text = first === undefined ? "" : `: line ${first.path[1]} ${first.message}`;
  return new AppError("BAD_REQUEST", `The file is not valid${text}.`, { violations });
}

function requireRoom(count: number, line: number): void {
  if (count < ROWS_MAX) return;
  const message = `is one more than the ${ROWS_MAX} rows that a table can have`;
  throw invalidFile([{ path: ["lines", String(line)], message }]);
}

/**
 * Counts lines as an editor shows them. csv-parse counts too, but takes a CRLF within quotes for
 * two.
 */
function createLineCounter() {
  let next = 1;
  let emptyLines = 0;
  return {
    /** The line on which a record begins, given the number of empty lines before it. */
    begin(emptyLinesBefore: number): number {
      next += emptyLinesBefore - emptyLines;
      emptyLines = emptyLinesBefore;
      return next;
    },
    end(values: readonly string[]): void {
      next += 1;
      for (const value of values) {
        if (/[\r\n]/.test(value)) next += value.match(/\r\n|\n|\r/g)?.length ?? 0;
      }
    },
  };
}

function emptyLinesOf(error: unknown): number {
  const isTold = error instanceof CsvError && typeof error["empty_lines"] === "number";
  return isTold ? Number(error["empty_lines"]) : 0;
}

/** The most frequent delimiter of the first line; a comma when it has none. */
function detectDelimiter(bytes: Uint8Array): string {
  const start = new TextDecoder().decode(bytes.subarray(0, RECORD_BYTES_MAX));
  const counts = new Map(DETECTED_DELIMITERS.map((delimiter) => [delimiter, 0]));
  let isQuoted = false;
  for (const character of start.replace(/^[\r\n]+/, "")) {
    if (character === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === "\n" || character === "\r") break;
    else {
      const count = counts.get(character);
      if (count !== undefined) counts.set(character, count + 1);
    }
  }
  return [...counts].reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}
